// SPDX-License-Identifier: GPL-3.0-or-later

/* Recognizes code by its bytes: the entry point of a process, the return from a signal handler,
 * the start of a context, and stubs that jump to an address in memory. */

#include "unwind/code-patterns.h"

#include "bpf/bpf.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* mov $15, %rax (rt_sigreturn); syscall. The kernel, debuggers and unwinders know signal frames
 * by these bytes. */
static const uint8_t sigreturn[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
/* mov x8, #139; svc #0 */
static const uint8_t sigreturn_arm64[] = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 };

/* The entry code is short. If other code without rules follows it, only this much belongs to
 * it. */
#define MOST_ENTRY 24  /* bytes */
#define MOST_GAP   128 /* a gap of at most this many bytes belongs to the entry completely */

#define CHUNK (UINT64_C (1) << 20) /* bytes searched at once */

static bool
find_entry (ElfImage *image, uint64_t start, uint64_t end, CodeMatch *found)
{
  uint64_t entry = sysprof_elf_image_entry (image);

  if (entry < start || entry >= end || entry == 0)
    return false;

  *found = (CodeMatch){ entry, end - entry <= MOST_GAP ? end : entry + MOST_ENTRY, RULE_END };
  return true;
}

static const uint8_t *
sigreturn_of (ElfImage *image, size_t *size)
{
  bool is_arm64 = sysprof_elf_image_machine (image) == EM_AARCH64;

  *size = is_arm64 ? sizeof sigreturn_arm64 : sizeof sigreturn;
  return is_arm64 ? sigreturn_arm64 : sigreturn;
}

/* The first one in [start, end). */
static bool
find_sigreturn (ElfImage *image,
                uint64_t start,
                uint64_t end,
                uint64_t *address,
                size_t *pattern_size)
{
  const uint8_t *pattern = sigreturn_of (image, pattern_size);

  while (end - start >= *pattern_size)
    {
      uint64_t size = end - start < CHUNK ? end - start : CHUNK;
      uint8_t *bytes, *at;

      if (sysprof_elf_image_read_code (image, start, start + size, &bytes) != ELF_OK)
        return false;
      at = memmem (bytes, size, pattern, *pattern_size);
      if (at != NULL)
        *address = start + (uint64_t) (at - bytes);
      free (bytes);
      if (at != NULL)
        return true;
      if (size == end - start)
        return false;
      start += size - *pattern_size + 1;
    }
  return false;
}

/* [endbr64;] [bnd] jmp *offset(%rip), every 8 or 16 bytes: a static program calls functions
 * with several implementations (ifunc) through these. They change neither the stack nor any
 * register. */
#define MOST_STUB_BYTES 4096
#define BR_X17          0xd61f0220u
#define PUSH_X16_X30    0xa9bf7bf0u /* stp x16, x30, [sp, #-16]! */

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

/* arm64: [bti c;] adrp x16; ldr x17; add x16; br x17, with nops. They do not change the stack,
 * and the return address is in X30. */
static bool
is_stub_instruction (uint32_t instruction)
{
  return instruction == 0xd503245f /* bti c */ || instruction == 0xd503201f /* nop */ ||
         instruction == 0xd503219f /* autia1716 */ ||
         (instruction & 0x9f00001f) == 0x90000010 /* adrp x16 */ ||
         (instruction & 0xffc003ff) == 0xf9400211 /* ldr x17, [x16, #n] */ ||
         (instruction & 0xffc003ff) == 0x91000210 /* add x16, x16, #n */ ||
         instruction == BR_X17;
}

static uint32_t
instruction_at (const uint8_t *bytes)
{
  return (uint32_t) bytes[0] | (uint32_t) bytes[1] << 8 | (uint32_t) bytes[2] << 16 |
         (uint32_t) bytes[3] << 24;
}

/* Finds the stubs at the start of [start, end), up to the last jump. The first stub of a file
 * goes to the dynamic loader, and pushes two words: X16 and X30. Returns the number of pieces
 * `found`, at most three. */
static size_t
find_stubs_arm64 (ElfImage *image, uint64_t start, uint64_t end, CodeMatch *found)
{
  size_t size = (size_t) (end - start < MOST_STUB_BYTES ? end - start : MOST_STUB_BYTES) & ~3u;
  size_t pushed = 0, first_end = 0, last_end = 0, n = 0;
  uint8_t *bytes;

  if (sysprof_elf_image_read_code (image, start, start + size, &bytes) != ELF_OK)
    return 0;
  for (size_t at = 0; at < size; at += 4)
    {
      uint32_t instruction = instruction_at (bytes + at);

      if (instruction == PUSH_X16_X30 && pushed == 0 && last_end == 0)
        pushed = at + 4;
      else if (!is_stub_instruction (instruction))
        break;
      if (instruction != BR_X17)
        continue;
      last_end = at + 4;
      if (pushed > 0 && first_end == 0)
        first_end = last_end;
    }
  free (bytes);
  if (last_end == 0)
    return 0;

  found[n++] = (CodeMatch){ start, start + (pushed > 0 ? pushed : last_end),
                            RULE_MAKE (RULE_LR, 0, SLOT_UNCHANGED) };
  if (pushed == 0)
    return n;
  found[n++] =
      (CodeMatch){ start + pushed, start + first_end, RULE_MAKE (RULE_SP_LINK, 16, 1) };
  if (last_end > first_end)
    found[n++] = (CodeMatch){ start + first_end, start + last_end,
                              RULE_MAKE (RULE_LR, 0, SLOT_UNCHANGED) };
  return n;
}

/* Finds the stubs at the start of [start, end). */
static size_t
find_stubs (ElfImage *image, uint64_t start, uint64_t end, CodeMatch *found)
{
  size_t size = (size_t) (end - start < MOST_STUB_BYTES ? end - start : MOST_STUB_BYTES);
  uint8_t *bytes;
  size_t n = 0;

  if (sysprof_elf_image_machine (image) == EM_AARCH64)
    return find_stubs_arm64 (image, start, end, found);
  if (sysprof_elf_image_read_code (image, start, start + size, &bytes) != ELF_OK)
    return 0;
  while (n + 8 <= size && is_short_stub (bytes + n))
    n += 8;
  while (n + 16 <= size && is_long_stub (bytes + n))
    n += 16;
  free (bytes);

  *found = (CodeMatch){ start, start + n, RULE_MAKE (RULE_SP, 8, SLOT_UNCHANGED) };
  return n > 0 ? 1 : 0;
}

static int
compare_starts (const void *a, const void *b)
{
  const CodeMatch *left = a, *right = b;

  return left->start < right->start ? -1 : left->start > right->start;
}

size_t
sysprof_code_patterns_find (ElfImage *image,
                            uint64_t start,
                            uint64_t end,
                            CodeMatch found[MOST_CODE_MATCHES])
{
  uint64_t at = start, address;
  size_t n = 0, size;

  n += find_stubs (image, start, end, &found[n]);
  n += find_entry (image, start, end, &found[n]);
  while (n < MOST_CODE_MATCHES && find_sigreturn (image, at, end, &address, &size))
    {
      at = address + size;
      /* From one byte before, where a handler's return address is looked up, to the address
       * after, which is the IP during the system call. */
      found[n++] = (CodeMatch){ address > start ? address - 1 : address,
                                at < end && at % 16 != 0 ? at + 1 : at, RULE_SIGNAL };
    }
  qsort (found, n, sizeof *found, compare_starts);
  return n;
}

bool
sysprof_code_patterns_is_sigreturn (ElfImage *image, uint64_t start)
{
  uint8_t code[sizeof sigreturn];
  size_t size;
  const uint8_t *pattern = sigreturn_of (image, &size);

  return sysprof_elf_image_peek_code (image, start, code, size) == ELF_OK &&
         memcmp (code, pattern, size) == 0;
}

/* glibc's __start_context: [endbr64;] mov %rbx, %rsp; …; mov (%rsp), %rdi; test %rdi, %rdi. In
 * between it may check for a shadow stack. It is aligned, small, and has no call-frame
 * instructions of its own. Reading a few bytes of each such function takes 3 % of the time for
 * a table. */
#define LEAST_CONTEXT_START 20
#define MOST_CONTEXT_START  96

static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
static const uint8_t take_stack[] = { 0x48, 0x89, 0xdc };
static const uint8_t take_next[] = { 0x48, 0x8b, 0x3c, 0x24, 0x48, 0x85, 0xff };

/* arm64: [nop or bti c;] mov x0, x19; cbnz x0. */
static bool
is_context_start_arm64 (const uint8_t *code)
{
  if (instruction_at (code) != 0xaa1303e0)
    code += 4;
  return instruction_at (code) == 0xaa1303e0 &&
         (instruction_at (code + 4) & 0xff00001f) == 0xb5000000;
}

#define LEAST_CONTEXT_START_ARM64 12

static bool
has_instructions (const Cfi *cfi, const CfiFunction *function)
{
  for (uint32_t i = 0; i < function->program_size; i++)
    if (cfi->bytes[function->program + i] != 0)
      return true;
  return false;
}

bool
sysprof_code_patterns_is_context_start (ElfImage *image,
                                        const Cfi *cfi,
                                        const CfiFunction *function)
{
  uint64_t size = function->end - function->start;
  uint8_t code[MOST_CONTEXT_START];
  const uint8_t *at = code;

  if ((function->start & 15) != 0 || size > MOST_CONTEXT_START ||
      size < (cfi->is_arm64 ? LEAST_CONTEXT_START_ARM64 : LEAST_CONTEXT_START) ||
      has_instructions (cfi, function) ||
      sysprof_elf_image_peek_code (image, function->start, code, (size_t) size) != ELF_OK)
    return false;
  if (cfi->is_arm64)
    return is_context_start_arm64 (code);

  if (memcmp (at, endbr64, sizeof endbr64) == 0)
    at += sizeof endbr64;
  return memcmp (at, take_stack, sizeof take_stack) == 0 &&
         memmem (at, size - (uint64_t) (at - code), take_next, sizeof take_next) != NULL;
}
