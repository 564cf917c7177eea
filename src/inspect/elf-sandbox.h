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
 * Files come in envelopes (util/children/envelope.h), which are borrowed; `info` is the fstat()
 * result of the file. ELF_GIVEN_UP means that there is no child any more: it died, violated the protocol,
 * exceeded the timeout for files of that size, or could not be started. The next open() starts
 * a new one. Of the facts of a debug file only those about its supplement are used. */
ElfStatus sysprof_elf_sandbox_open (ElfSandbox *self,
                                    int envelope,
                                    const struct stat *info,
                                    bool is_for_lines,
                                    ElfFacts *facts);
ElfStatus sysprof_elf_sandbox_add_part (ElfSandbox *self,
                                        const ElfPart *part,
                                        int envelope,
                                        const struct stat *info,
                                        ElfFacts *facts);
ElfStatus
sysprof_elf_sandbox_resolve (ElfSandbox *self, const ElfQuery *query, ElfAnswers *answers);
