// SPDX-License-Identifier: GPL-3.0-or-later

/* The ELF file that is open in the child that parses it, with its debug file and the further
 * parts of its debug information. */

#pragma once

#include "inspect/elf-cache.h"

/* *Owned* by the thread that symbolizes. */
typedef struct
{
  bool use_sandbox;  /* the parsing child gives up its privileges */
  bool is_for_lines; /* instead of symbols */
  ElfCache elf;
  /* The open file. Files that were mapped under several names, or recorded both with and
   * without build ID, are parsed once. */
  struct stat open_file;
  bool is_open;
  bool has_debug; /* its debug file is open, too */
  ElfFacts facts;
  int own_root; /* borrowed: root below which it was found */
  char *own_path;
  /* Where the file that provides the debug information was found: the file itself, or its debug
   * file. */
  int root; /* borrowed */
  char *path;
  bool has_supplement_status;
  ElfStatus supplement_status; /* of its supplement; ELF_OK: it is open, too */
  char *supplement_path;
  struct stat debug_file;
  struct stat split_file; /* the file or package with split units that was added last */
  char *split_path;       /* NULL = none was added */
  /* The parts that could not be read, or that made the child die, time out or run out of
   * memory: not tried again. */
  GArray *failed;     /* of struct stat; NULL = none yet */
  GPtrArray *blamed;  /* of char *: their paths, for the caller to take; NULL = none yet */
  GPtrArray *skipped; /* of char *: paths of files over the budget; like `blamed` */
  unsigned n_failed_of_file; /* number of failed parts of the open file */
  /* the child was restarted and has no split units; the caller resets this */
  bool has_started_again;
} ElfParser;

/* Opens the file in the envelope, which was found below `root` at `path`, in the parsing
 * child. */
ElfStatus sysprof_elf_parser_open (ElfParser *self,
                                   int envelope,
                                   const struct stat *info,
                                   int root,
                                   const char *path,
                                   ElfFacts *facts);

/* Whether this is the open file, which is then not parsed again. */
bool sysprof_elf_parser_has_open (const ElfParser *self, const struct stat *info);

/* Likewise, for a further part of its debug information. `root` counts for a debug file. */
ElfStatus sysprof_elf_parser_add_part (ElfParser *self,
                                       const ElfPart *part,
                                       int envelope,
                                       const struct stat *info,
                                       int root,
                                       const char *path);

/* Handles a failure to open one of these files, and returns a status for errno. If a file
 * system does not respond, one file is blamed for all that may be on it. */
ElfStatus sysprof_elf_parser_note_unopened (ElfParser *self, const char *path);

/* Call this after an answer failed with `status`. Returns whether the open file can be queried
 * again without the debug file or supplement that caused the failure, which is blamed. */
bool sysprof_elf_parser_do_without (ElfParser *self, ElfStatus status);
/* Likewise, for the package or file with split units that was added last. */
bool sysprof_elf_parser_do_without_split (ElfParser *self, ElfStatus status);
/* Returns the number of blamed paths; the second function drops all but the first `n`, because
 * the main file was at fault. */
guint sysprof_elf_parser_n_blamed (const ElfParser *self);
void sysprof_elf_parser_forgive (ElfParser *self, guint n);
/* Whether the status means that the file could not be read, in contrast to a missing
 * content. */
bool sysprof_elf_status_is_failure (ElfStatus status);
/* Combines the results of two tries: ELF_OK, ELF_TOO_LARGE, ELF_SKIPPED and ELF_GIVEN_UP of
 * either; else ELF_MISMATCH of either; else ELF_ABSENT. */
ElfStatus sysprof_elf_status_join (ElfStatus before, ElfStatus status);

/* Writes lower-case hex, as in file names. */
void sysprof_elf_write_build_id (const uint8_t *id,
                                 uint32_t size,
                                 char text[2 * ELF_MAX_BUILD_ID + 1]);

/* Closes the open file, and ends the child. */
void sysprof_elf_parser_close (ElfParser *self);
