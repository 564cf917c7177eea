// SPDX-License-Identifier: GPL-3.0-or-later

/* A child process that parses ELF files. It gives up its privileges, unless `keeps_rights` is
 * set before it starts; then it still can only access the descriptors that it is passed. The
 * parent can end it at any time. *Owned* by one thread. */

#pragma once

#include "inspect/elf-worker.h"
#include "util/util.h"

typedef ConfinedChild ElfSandbox;

#define ELF_SANDBOX_INIT CONFINED_CHILD_INIT

/* Parts of a reply. */
typedef enum
{
  ELF_REPLY_FACTS, /* ElfFacts, of a file that was opened or added */
  ELF_REPLY_ROW,   /* ElfAnswer, ElfLineRow or ElfInstruction */
  ELF_REPLY_FRAME, /* ElfLineFrame */
  ELF_REPLY_SPLIT, /* ElfSplit */
  ELF_REPLY_TEXT,
} ElfReplyPart;

extern const ChildService sysprof_elf_service;

/* These functions make the calls of ElfWorker in the child, and start it if it does not run.
 * Files come in envelopes (util/children/opener.h), which are borrowed; `info` is the fstat() result of
 * the file. ELF_GIVEN_UP means that there is no child any more: it died, violated the protocol,
 * exceeded the timeout for files of that size, or could not be started. The next open() starts
 * a new one. Of the facts of a debug file only those about its supplement are used. */
ElfStatus sysprof_elf_sandbox_open (ElfSandbox *self,
                                    int envelope,
                                    const struct stat *info,
                                    bool is_for_lines,
                                    ElfFacts *facts);
ElfStatus sysprof_elf_sandbox_add_debug (ElfSandbox *self,
                                         int envelope,
                                         const struct stat *info,
                                         ElfFacts *facts);
ElfStatus
sysprof_elf_sandbox_add_supplement (ElfSandbox *self, int envelope, const struct stat *info);
ElfStatus
sysprof_elf_sandbox_add_package (ElfSandbox *self, int envelope, const struct stat *info);
ElfStatus sysprof_elf_sandbox_add_split (ElfSandbox *self,
                                         int envelope,
                                         const struct stat *info,
                                         uint32_t i);
/* `are_addresses`: the values are link-time addresses instead of file offsets. */
ElfStatus sysprof_elf_sandbox_resolve (ElfSandbox *self,
                                       bool are_addresses,
                                       const uint64_t *offsets,
                                       size_t n,
                                       ElfAnswers *answers);
ElfStatus sysprof_elf_sandbox_resolve_lines (ElfSandbox *self,
                                             bool are_addresses,
                                             const uint64_t *offsets,
                                             size_t n,
                                             ElfLines *lines);
ElfStatus sysprof_elf_sandbox_disassemble (ElfSandbox *self,
                                           const ElfCodeRange *ranges,
                                           size_t n,
                                           ElfInstructions *instructions);
/* The ranges are addresses where the code ran, which is link-time addresses plus `shift`
 * (modulo 2^64). No end may be 0. The offsets of the instructions are such addresses, too. */
ElfStatus sysprof_elf_sandbox_disassemble_shifted (ElfSandbox *self,
                                                   uint64_t shift,
                                                   const ElfCodeRange *ranges,
                                                   size_t n,
                                                   ElfInstructions *instructions);
/* Whether an answer from any source is well-formed: sizes within limits, offsets inside the
 * text. */
bool sysprof_elf_facts_are_sound (const ElfFacts *facts);
bool sysprof_elf_answers_are_sound (const ElfAnswers *answers);
bool sysprof_elf_lines_are_sound (const ElfLines *lines);
bool sysprof_elf_instructions_are_sound (const ElfInstructions *code,
                                         const ElfCodeRange *ranges,
                                         size_t n_ranges);
