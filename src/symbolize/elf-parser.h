// SPDX-License-Identifier: GPL-3.0-or-later

/* The ELF file that is open, for the child that parses it, with its debug file and what else belongs to it; and the child that opens
 * files. */

#pragma once

#include "symbolize/capture-mounts.h"
#include "symbolize/file-locator.h"
#include "symbolize/remembered-elf.h"

/* *Owned* by the thread that symbolizes. */
typedef struct
{
  bool use_sandbox;  /* who parses has no rights */
  bool is_for_lines; /* instead of names */
  Opener opener;
  RememberedElf elf;
  /* What is open now: files that were mapped under several names, or read with and without build id, are parsed once. */
  struct stat open_file;
  bool is_open;
  bool has_debug; /* a debug file belongs to it and is open, too */
  ElfFacts facts;
  int own_root; /* borrowed: where it was found */
  char *own_path;
  /* Where that was found whose debug information is read: the file, or its debug file. */
  int root; /* borrowed */
  char *path;
  bool has_supplement_status;
  ElfStatus supplement_status; /* of its supplement; ELF_OK: it is open, too */
  ProcessRoots roots;
  char **flatpak_dirs;
  CaptureMounts *mounts; /* NULL: files are looked for below a directory */
} ElfParser;

/* Has the file open that is in the envelope, and was found below `root` at `path`. */
ElfStatus sysprof_elf_parser_open (ElfParser *self,
                                   int envelope,
                                   const struct stat *info,
                                   int root,
                                   const char *path,
                                   ElfFacts *facts);

/* The same for the debug file of what is open. */
ElfStatus sysprof_elf_parser_add_debug (ElfParser *self,
                                        int envelope,
                                        const struct stat *info,
                                        int root,
                                        const char *path);

/* In lower-case hex, as file names have it. */
void sysprof_elf_write_build_id (const uint8_t *id,
                                 uint32_t size,
                                 char text[2 * ELF_MAX_BUILD_ID + 1]);

/* What is open is open no more, and the children end. */
void sysprof_elf_parser_close (ElfParser *self);
