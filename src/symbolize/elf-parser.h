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
  uint32_t reader; /* of what it names */
  /* Where that was found whose debug information is read: the file, or its debug file. */
  int root; /* borrowed */
  char *path;
  bool has_supplement_status;
  ElfStatus supplement_status; /* of its supplement; ELF_OK: it is open, too */
  char *supplement_path;
  struct stat debug_file;
  struct stat split_file; /* with split units, or a package of them: the one that came last */
  char *split_path;       /* NULL = none came */
  /* Of these, those that could not be read, or over which the child died, took too long or ran out of memory: not asked again. */
  GArray *failed;     /* of struct stat; NULL = none yet */
  GPtrArray *blamed;  /* of char *: their paths, for the caller to take; NULL = none yet */
  GPtrArray *skipped; /* of char *: paths of files over the budget, as `blamed` */
  unsigned n_failed_of_file; /* of what is open */
  bool has_started_again;    /* it has forgotten the split units; for who asks to reset */
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

/* The reader for what is named by what is open and is looked for below `root`. */
uint32_t sysprof_elf_parser_reader (const ElfParser *self, int root);

/* The same for the debug file of what is open. */
ElfStatus sysprof_elf_parser_add_debug (ElfParser *self,
                                        int envelope,
                                        const struct stat *info,
                                        int root,
                                        const char *path);

/* The same for what else belongs to its debug information. */
ElfStatus sysprof_elf_parser_add_supplement (ElfParser *self,
                                             int envelope,
                                             const struct stat *info,
                                             const char *path);
ElfStatus sysprof_elf_parser_add_package (ElfParser *self,
                                          int envelope,
                                          const struct stat *info,
                                          const char *path);
ElfStatus sysprof_elf_parser_add_split (ElfParser *self,
                                        int envelope,
                                        const struct stat *info,
                                        const char *path,
                                        uint32_t i);

/* Where one of these could not be opened: what comes of that, by errno. Where a place does not answer, one file there is blamed for all that
 * may be there. */
ElfStatus sysprof_elf_parser_note_unopened (ElfParser *self, const char *path);

/* Where an answer failed with `status`: whether what is open can be asked again, without the debug file or the supplement over which that
 * happened; it is blamed. */
bool sysprof_elf_parser_do_without (ElfParser *self, ElfStatus status);
/* The same for a package or a file with split units, the last one that came. */
bool sysprof_elf_parser_do_without_split (ElfParser *self, ElfStatus status);
/* How many are blamed; and none but the first `n` are: the file itself was at fault. */
guint sysprof_elf_parser_n_blamed (const ElfParser *self);
void sysprof_elf_parser_forgive (ElfParser *self, guint n);
/* Whether a status tells of a file that cannot be read, and not of what is in it. */
bool sysprof_elf_status_is_failure (ElfStatus status);

/* In lower-case hex, as file names have it. */
void sysprof_elf_write_build_id (const uint8_t *id,
                                 uint32_t size,
                                 char text[2 * ELF_MAX_BUILD_ID + 1]);

/* What is open is open no more, and the children end. */
void sysprof_elf_parser_close (ElfParser *self);
