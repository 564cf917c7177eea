// SPDX-License-Identifier: GPL-3.0-or-later

/* The interface between the symbolizer that notes which files are missing names (elf.c) and the
 * one that fetches these files (debuginfod.c). */

#pragma once

#include "inspect/inspect.h"
#include "symbolize/batch.h"

/* A file with unnamed functions, because its debug file or the file itself is missing. */
typedef struct
{
  const char *path; /* these three as in its FileBatch */
  const char *recorded_id;
  uint64_t inode;
  bool is_missing;                   /* the recorded file is not on this machine */
  char build_id[BUILD_ID_TEXT_SIZE]; /* lower-case hex, at least two bytes */
} WantedFile;

/* A kernel module with functions that have no name or no lines, because its file is missing. */
typedef struct
{
  char build_id[BUILD_ID_TEXT_SIZE]; /* lower-case hex, at least two bytes */
  GArray *addresses;                 /* of AddressId: of these functions */
} WantedModule;

/* A fetched file for the kernel or one of its modules; untrusted. */
typedef struct
{
  const char *build_id;
  const char *path; /* on this machine */
  bool is_fit;      /* set by the reader: the file has the right build ID */
} FetchedKernelFile;

/* Fetched files for one batch; untrusted. */
typedef struct
{
  const char *build_id; /* of the batch; files with another build ID are rejected */
  /* path on this machine of a replacement for the recorded file; NULL = read the file itself */
  const char *executable;
  const char *debug; /* path of its debug file, or NULL */
  /* set by the callee: one of them has the wrong build ID, and was not used */
  bool is_unfit;
  /* set by the callee: the build ID of their dwz supplement; "" = none */
  char supplement[BUILD_ID_TEXT_SIZE];
} FetchedFile;

/* Resolves the remaining addresses of `batches` with `fetched` [batches->n]. All files are
 * parsed without privileges, independent of the user. A file is skipped if both paths are
 * NULL. */
void sysprof_elf_resolve_fetched (Symbolization *self,
                                  const FileBatches *batches,
                                  FetchedFile *fetched);

/* Queries all files of this machine. The added answers refer to the returned batches. */
FileBatches *sysprof_elf_find_lines (Symbolization *self);
