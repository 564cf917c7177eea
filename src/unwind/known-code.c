// SPDX-License-Identifier: GPL-3.0-or-later

/* Three kinds of code are known by themselves: what a process begins with, what a signal handler returns to, and what the
 * function of a context returns to. */

#include "unwind/known-code.h"

#include "bpf/bpf.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* mov $15, %rax (rt_sigreturn); syscall. The kernel, debuggers and unwinders know signal frames by these bytes. */
static const uint8_t sigreturn[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };

/* What begins a process is short. Where other code without rules follows it, so much of it is believed. */
#define MOST_ENTRY 16  /* bytes */
#define MOST_GAP   128 /* bytes of code without rules that all belong to the entry */

static bool
add_entry (ElfImage *image, uint64_t start, uint64_t end, CfiRow row, void *data)
{
  uint64_t entry = sysprof_elf_image_entry (image);

  if (entry < start || entry >= end || entry == 0)
    return false;

  row (data, entry, RULE_END);
  row (data, end - entry <= MOST_GAP ? end : entry + MOST_ENTRY, RULE_NONE);
  return true;
}

static bool
add_sigreturns (ElfImage *image, uint64_t start, uint64_t end, CfiRow row, void *data)
{
  uint64_t size = end - start;
  uint8_t *bytes, *at;
  bool has_found = false;

  if (size < sizeof sigreturn ||
      sysprof_elf_image_read_code (image, start, end, &bytes) != ELF_OK)
    return false;

  at = bytes;
  while ((at = memmem (at, size - (uint64_t) (at - bytes), sigreturn, sizeof sigreturn)) !=
         NULL)
    {
      uint64_t address = start + (uint64_t) (at - bytes);

      /* From the byte before, as a handler's return address is looked up. */
      row (data, address > start ? address - 1 : address, RULE_SIGNAL);
      at += sizeof sigreturn;
      row (data, start + (uint64_t) (at - bytes), RULE_NONE);
      has_found = true;
    }

  free (bytes);
  return has_found;
}

bool
sysprof_known_code_in_gap (ElfImage *image,
                           uint64_t start,
                           uint64_t end,
                           CfiRow row,
                           void *data)
{
  if (sysprof_elf_image_machine (image) != EM_X86_64)
    return false;
  return add_entry (image, start, end, row, data) ||
         add_sigreturns (image, start, end, row, data);
}

bool
sysprof_known_code_is_sigreturn (ElfImage *image, uint64_t start)
{
  uint8_t code[sizeof sigreturn];

  return sysprof_elf_image_peek_code (image, start, code, sizeof code) == ELF_OK &&
         memcmp (code, sigreturn, sizeof code) == 0;
}

/* glibc's __start_context: [endbr64;] mov %rbx, %rsp; …; mov (%rsp), %rdi; test %rdi, %rdi. In between it may ask for a shadow
 * stack. It is aligned, small, and has no instructions of its own for unwinding. Reading a few bytes of each such function
 * costs 3 % of the time that a table takes. */
#define LEAST_CONTEXT_START 20
#define MOST_CONTEXT_START  96

static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
static const uint8_t take_stack[] = { 0x48, 0x89, 0xdc };
static const uint8_t take_next[] = { 0x48, 0x8b, 0x3c, 0x24, 0x48, 0x85, 0xff };

static bool
has_instructions (const Cfi *cfi, const CfiFunction *function)
{
  for (uint32_t i = 0; i < function->program_size; i++)
    if (cfi->bytes[function->program + i] != 0)
      return true;
  return false;
}

bool
sysprof_known_code_is_context_start (ElfImage *image,
                                     const Cfi *cfi,
                                     const CfiFunction *function)
{
  uint64_t size = function->end - function->start;
  uint8_t code[MOST_CONTEXT_START];
  const uint8_t *at = code;

  if (cfi->is_arm64 || (function->start & 15) != 0 || size < LEAST_CONTEXT_START ||
      size > MOST_CONTEXT_START || has_instructions (cfi, function) ||
      sysprof_elf_image_peek_code (image, function->start, code, (size_t) size) != ELF_OK)
    return false;

  if (memcmp (at, endbr64, sizeof endbr64) == 0)
    at += sizeof endbr64;
  return memcmp (at, take_stack, sizeof take_stack) == 0 &&
         memmem (at, size - (uint64_t) (at - code), take_next, sizeof take_next) != NULL;
}
