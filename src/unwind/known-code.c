// SPDX-License-Identifier: GPL-3.0-or-later

/* Four kinds of code are known by themselves: what a process begins with, what a signal handler returns to, what the
 * function of a context returns to, and stubs that jump where a word says. */

#include "unwind/known-code.h"

#include "bpf/bpf.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* mov $15, %rax (rt_sigreturn); syscall. The kernel, debuggers and unwinders know signal frames by these bytes. */
static const uint8_t sigreturn[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };

/* What begins a process is short. Where other code without rules follows it, so much of it is believed. */
#define MOST_ENTRY 24  /* bytes */
#define MOST_GAP   128 /* bytes of code without rules that all belong to the entry */

#define CHUNK (UINT64_C (1) << 20) /* bytes that are searched at once */

static bool
find_entry (ElfImage *image, uint64_t start, uint64_t end, KnownCode *found)
{
  uint64_t entry = sysprof_elf_image_entry (image);

  if (entry < start || entry >= end || entry == 0)
    return false;

  *found = (KnownCode){ entry, end - entry <= MOST_GAP ? end : entry + MOST_ENTRY, RULE_END };
  return true;
}

/* The first in [start, end). */
static bool
find_sigreturn (ElfImage *image, uint64_t start, uint64_t end, uint64_t *place)
{
  while (end - start >= sizeof sigreturn)
    {
      uint64_t size = end - start < CHUNK ? end - start : CHUNK;
      uint8_t *bytes, *at;

      if (sysprof_elf_image_read_code (image, start, start + size, &bytes) != ELF_OK)
        return false;
      at = memmem (bytes, size, sigreturn, sizeof sigreturn);
      if (at != NULL)
        *place = start + (uint64_t) (at - bytes);
      free (bytes);
      if (at != NULL)
        return true;
      if (size == end - start)
        return false;
      start += size - sizeof sigreturn + 1;
    }
  return false;
}

/* [endbr64;] [bnd] jmp *offset(%rip), one each 8 or 16 bytes: how a static program calls those functions of which its C library
 * has several. They leave all registers and the
 * stack alone. */
#define MOST_STUB_BYTES 4096

static const uint8_t stub_prefix[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0xf2 };
static const uint8_t stub_jump[] = { 0xff, 0x25 };
static const uint8_t stub_padding[] = { 0x66, 0x90 };

static bool
is_short_stub (const uint8_t *bytes)
{
  return memcmp (bytes, stub_jump, sizeof stub_jump) == 0 &&
         memcmp (bytes + 6, stub_padding, sizeof stub_padding) == 0;
}

static bool
is_long_stub (const uint8_t *bytes)
{
  if (memcmp (bytes, stub_prefix, 4) == 0)
    bytes += 4;
  if (*bytes == stub_prefix[4])
    bytes++;
  return memcmp (bytes, stub_jump, sizeof stub_jump) == 0;
}

/* Those with which [start, end) begins. */
static bool
find_stubs (ElfImage *image, uint64_t start, uint64_t end, KnownCode *found)
{
  size_t size = (size_t) (end - start < MOST_STUB_BYTES ? end - start : MOST_STUB_BYTES);
  uint8_t *bytes;
  size_t n = 0;

  if (sysprof_elf_image_read_code (image, start, start + size, &bytes) != ELF_OK)
    return false;
  while (n + 8 <= size && is_short_stub (bytes + n))
    n += 8;
  while (n + 16 <= size && is_long_stub (bytes + n))
    n += 16;
  free (bytes);

  *found = (KnownCode){ start, start + n, RULE_MAKE (RULE_SP, 8, SLOT_UNCHANGED) };
  return n > 0;
}

static int
compare_places (const void *a, const void *b)
{
  const KnownCode *left = a, *right = b;

  return left->start < right->start ? -1 : left->start > right->start;
}

size_t
sysprof_known_code_find (ElfImage *image,
                         uint64_t start,
                         uint64_t end,
                         KnownCode found[MOST_KNOWN_CODE])
{
  uint64_t at = start, place;
  size_t n = 0;

  if (sysprof_elf_image_machine (image) != EM_X86_64)
    return 0;

  n += find_stubs (image, start, end, &found[n]);
  n += find_entry (image, start, end, &found[n]);
  while (n < MOST_KNOWN_CODE && find_sigreturn (image, at, end, &place))
    {
      at = place + sizeof sigreturn;
      /* From the byte before, as a handler's return address is looked up, and with the address behind, at which the call of the
       * kernel seems to be while it is under way. */
      found[n++] = (KnownCode){ place > start ? place - 1 : place,
                                at < end && at % 16 != 0 ? at + 1 : at, RULE_SIGNAL };
    }
  qsort (found, n, sizeof *found, compare_places);
  return n;
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
