// SPDX-License-Identifier: GPL-3.0-or-later

/* Between who notes which files lack names (elf.c) and who gets them from elsewhere (debuginfod.c). */

#pragma once

#include "symbolize/batch.h"
#include "symbolize/elf-worker.h"

#define BUILD_ID_TEXT_SIZE (2 * ELF_MAX_BUILD_ID + 1)

/* One of whose functions some have no name, for want of a debug file, or of the file itself. */
typedef struct
{
  const char *path; /* these three as in its FileBatch */
  const char *recorded_id;
  uint64_t inode;
  bool is_missing;                   /* the file that was recorded is not here */
  char build_id[BUILD_ID_TEXT_SIZE]; /* lower-case hex, at least two bytes */
} WantedFile;

/* A module of the kernel, of whose functions some have no name, or no lines, for want of its file. */
typedef struct
{
  char build_id[SYMBOLIZER_BUILD_ID_SIZE]; /* lower-case hex, at least two bytes */
  GArray *addresses;                       /* of AddressId: of these functions */
} WantedModule;

/* A file that came for the kernel or for one of its modules; a stranger's. */
typedef struct
{
  const char *build_id;
  const char *path; /* on this machine */
  bool is_fit;      /* set by who reads it: it is what it should be */
} FetchedKernelFile;

/* Strangers' files. */
typedef struct
{
  const char *build_id; /* of the file and of both: another one is not read */
  const char *
      executable; /* path on this machine, to be read instead of the file; NULL = read the file itself */
  const char *debug; /* path of its debug file, or NULL */
  bool is_unfit;     /* set here: one of them is not what it should be, and was not used */
  char supplement
      [BUILD_ID_TEXT_SIZE]; /* set here: the build id of what dwz took out of them; "" = nothing */
} FetchedFile;

/* Names what is left of `batches` with `fetched` [batches->n], all of which are parsed without rights, whoever we are. Where both
 * paths are NULL the file is passed over. */
void sysprof_elf_resolve_fetched (Symbolization *self,
                                  const FileBatches *batches,
                                  FetchedFile *fetched);
