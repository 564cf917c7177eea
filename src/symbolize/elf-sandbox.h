// SPDX-License-Identifier: GPL-3.0-or-later

/* A child that parses ELF files, without rights unless `keeps_rights` is set before it is started: then it has the descriptors
 * it is handed, and can reach nothing else. In either case it can be given up. *Owned* by one thread. */

#pragma once

#include "symbolize/elf-worker.h"
#include "util/util.h"

typedef ConfinedChild ElfSandbox;

#define ELF_SANDBOX_INIT CONFINED_CHILD_INIT

/* The calls of ElfWorker, made in the child, which is started when there is none. Files come in envelopes (util/opener.h), which
 * are borrowed; `info` is the file's. ELF_GIVEN_UP: the child died, answered nonsense, or took longer than files of that size take,
 * or there is none; the next open() starts a new one. Of a debug file's facts only those of its supplement are taken. */
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
/* `are_addresses`: what is given are not offsets in the file, but link-time addresses. */
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
/* Of ranges of addresses where the code ran, `shift` above those where it was linked (negative as a number below 2^64); none of their
 * ends is 0. Offsets of instructions are addresses likewise. */
ElfStatus sysprof_elf_sandbox_disassemble_shifted (ElfSandbox *self,
                                                   uint64_t shift,
                                                   const ElfCodeRange *ranges,
                                                   size_t n,
                                                   ElfInstructions *instructions);
/* Ends the child. What the caller has set (`stop_fd`, `budget`, …) stays. */
void sysprof_elf_sandbox_clear (ElfSandbox *self);

/* Whether what was answered keeps to the rules, whoever gave it: sizes within limits, offsets inside the text. */
bool sysprof_elf_facts_are_sound (const ElfFacts *facts);
bool sysprof_elf_answers_are_sound (const ElfAnswers *answers);
bool sysprof_elf_lines_are_sound (const ElfLines *lines);
bool sysprof_elf_instructions_are_sound (const ElfInstructions *code,
                                         const ElfCodeRange *ranges,
                                         size_t n_ranges);
