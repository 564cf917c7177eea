// SPDX-License-Identifier: GPL-3.0-or-later

/* Unwind rules of the few functions of Go's runtime that switch stacks: systemstack(), mcall(),
 * morestack(), and those between Go and C. The table of a Go program does not describe them.
 * Their instructions show where the other stack's pointer is. */

#include "unwind/go-switch.h"

#include "bpf/bpf.h"
#include "unwind/code-reader.h"

#include <stddef.h>
#include <string.h>

#define MOST_SWITCH 1024 /* maximum size of a function that switches stacks */
#define MOST_WORDS  16

static uint32_t
u32_at (const uint8_t *bytes)
{
  return (uint32_t) bytes[0] | (uint32_t) bytes[1] << 8 | (uint32_t) bytes[2] << 16 |
         (uint32_t) bytes[3] << 24;
}

/* Whether the code is mov word(%rip), %rcx; mov %fs:(%rcx), %…, or ends like that. */
static bool
is_by_word (const uint8_t *code)
{
  static const uint8_t take_word[] = { 0x48, 0x8b, 0x0d };

  return memcmp (code, take_word, sizeof take_word) == 0;
}

/* The distance below the thread base: mov %fs:number, %…, or mov $number, %rcx; mov %fs:(%rcx),
 * %…. 0: not found. */
static uint32_t
find_below (const uint8_t *code, size_t size)
{
  static const uint8_t by_number[] = { 0x64, 0x48, 0x8b };
  static const uint8_t number[] = { 0x48, 0xc7, 0xc1 };

  for (size_t i = 0; i + 9 <= size; i++)
    {
      if (memcmp (code + i, by_number, sizeof by_number) == 0 && (code[i + 3] & 0xc7) == 0x04 &&
          code[i + 4] == 0x25)
        return -u32_at (code + i + 5);
      if (memcmp (code + i, number, sizeof number) == 0 && code[i + 7] == 0x64)
        return -u32_at (code + i + 3);
      if (is_by_word (code + i) && code[i + 7] == 0x64)
        return RULE_GO_BY_WORD;
    }
  return 0;
}

/* systemstack() changes back to the goroutine: mov offset(%rbx), %rax; …; mov 0x38(%rax), %rsp.
 * The members of a goroutine are the same since 2012. If they differ in another version,
 * nothing is found. */
static uint32_t
find_goroutine_offset (const uint8_t *code, size_t size)
{
  static const uint8_t thread[] = { 0x48, 0x8b, 0x58, 0x30 };
  static const uint8_t offset[] = { 0x48, 0x8b, 0x83 };
  static const uint8_t take_stack[] = { 0x48, 0x8b, 0x60, 0x38 };
  const uint8_t *end = memmem (code, size, take_stack, sizeof take_stack);

  if (end == NULL || memmem (code, size, thread, sizeof thread) == NULL)
    return 0;
  for (const uint8_t *at = end - 7; at >= code; at--)
    if (memcmp (at, offset, sizeof offset) == 0)
      return u32_at (at + 3);
  return 0;
}

uint32_t
sysprof_go_find_switch_rule (ElfImage *image, const GoFunction *systemstack)
{
  uint64_t size = systemstack->end - systemstack->start;
  uint8_t code[MOST_SWITCH];
  uint32_t below, offset;

  if (size > sizeof code ||
      sysprof_elf_image_peek_code (image, systemstack->start, code, (size_t) size) != ELF_OK)
    return 0;
  below = find_below (code, (size_t) size);
  offset = find_goroutine_offset (code, (size_t) size);
  if (below == 0 || below % 8 != 0 ||
      (below > RULE_GO_MOST_BELOW && below != RULE_GO_BY_WORD) || offset == 0 ||
      offset % 8 != 0 || offset > RULE_GO_MOST_OFFSET)
    return 0;
  return RULE_MAKE_GO (GO_CALL, below, 0, offset);
}

/* The rule for code on another stack. */
static uint32_t
rule_behind_switch (const GoTable *self, const GoFunction *function)
{
  if (sysprof_go_has_name (self, function, "runtime.mcall") ||
      sysprof_go_has_name (self, function, "runtime.clone"))
    return RULE_END; /* its callee, which runs on a new thread, never returns */
  if (self->switch_rule != 0 && sysprof_go_has_name (self, function, GO_SYSTEMSTACK))
    return self->switch_rule;
  if (self->switch_rule != 0 && sysprof_go_has_name (self, function, "runtime.morestack"))
    return self->switch_rule | RULE_MAKE_GO (GO_GROWTH, 0, 0, 0);
  return RULE_ESCAPE;
}

/* --- between Go and C --- */

#define MOST_SPANS 8
#define RDX        1 /* DWARF number */

/* Addresses with a known rule that the code itself does not show. */
typedef struct
{
  uint64_t start;
  uint64_t end;
  uint32_t rule;
} Span;

typedef struct
{
  Span span[MOST_SPANS]; /* [n] ascending */
  unsigned n;
} Spans;

static void
add_span (Spans *self, uint64_t start, uint64_t end, uint32_t rule)
{
  if (self->n < MOST_SPANS && start < end)
    self->span[self->n++] = (Span){ start, end, rule };
}

/* asmcgocall() keeps SP in %rdx. It switches to the thread's stack (mov 0x38(%rsi), %rsp) after
 * it has saved the goroutine's SP as systemstack() does, or stays on it. It aligns SP, and as
 * the last thing on the thread's stack saves where it was on the goroutine's stack: mov %…,
 * offset(%rsp). If it stays, it saves SP itself. It calls C, and returns with mov %rsi, %rsp;
 * mov %eax, …(%rsp); ret. */
static void
find_calls_of_c (const GoTable *self,
                 const GoFunction *function,
                 const uint8_t *code,
                 size_t size,
                 Spans *spans)
{
  static const uint8_t keep[] = { 0x48, 0x89, 0xe2 };
  static const uint8_t leave[] = { 0x48, 0x8b, 0x66, 0x38 };
  static const uint8_t align[] = { 0x48, 0x83, 0xe4, 0xf0 };
  static const uint8_t back[] = { 0x48, 0x89, 0xf4, 0x89, 0x44, 0x24 };
  bool is_kept = memmem (code, size, keep, sizeof keep) != NULL;
  size_t from = 0;

  for (size_t i = 0; i + 8 <= size; i++)
    {
      size_t store = 0, unknown = 0;
      uint32_t offset = 0, rule = 0;

      if (memcmp (code + i, back, sizeof back) != 0 || code[i + 7] != 0xc3)
        continue;
      for (size_t at = from; at + 5 <= i; at++)
        if (memcmp (code + at, leave, sizeof leave) == 0)
          {
            unknown = at + sizeof leave;
            rule = self->switch_rule;
          }
        else if (unknown == 0 && memcmp (code + at, align, sizeof align) == 0)
          {
            unknown = at + sizeof align;
            rule = is_kept ? RULE_MAKE (RULE_REG, RULE_REG_FIELD (RDX, 8), 0) : 0;
          }
        else if (code[at] == 0x48 && code[at + 1] == 0x89 && (code[at + 2] & 0xc7) == 0x44 &&
                 code[at + 3] == 0x24)
          {
            store = at + 5;
            offset = code[at + 4];
          }
        else if (code[at] == 0x48 && code[at + 1] == 0x89 && (code[at + 2] & 0xc7) == 0x04 &&
                 code[at + 3] == 0x24)
          {
            store = at + 4;
            offset = 0;
          }
      if (store > 0 && offset % 8 == 0)
        {
          if (unknown > 0 && unknown < store && rule != 0)
            add_span (spans, function->start + unknown, function->start + store, rule);
          add_span (spans, function->start + store, function->start + i + 3,
                    RULE_MAKE_GO_CALLED_C (offset));
        }
      add_span (spans, function->start + i + 3, function->start + i + 8,
                RULE_MAKE (RULE_SP, 8, SLOT_UNCHANGED));
      from = i + 8;
    }
}

/* The address after the first such bytes at or after `from`; NULL = not found. */
static const uint8_t *
find_after (const uint8_t *from, const uint8_t *end, const uint8_t *bytes, size_t size)
{
  const uint8_t *found =
      from != NULL ? memmem (from, (size_t) (end - from), bytes, size) : NULL;

  return found != NULL ? found + size : NULL;
}

/* C calls cgocallback(). It saves SP (mov %rax, (%rsp); mov %rsp, 0x38(%rsi)) and makes a frame
 * of the same size on the goroutine's stack (lea size(%rsp), %rax; sub %rsp, %rax; …; mov %rdi,
 * %rsp). It returns with mov 0x38(%rsi), %rsp; mov (%rsp), %rax; mov %rax, 0x38(%rsi); …; add
 * $…, %rsp; ret. */
static void
find_call_by_c (const GoTable *self,
                const GoFunction *function,
                const uint8_t *code,
                size_t size,
                Spans *spans)
{
  static const uint8_t note[] = { 0x48, 0x89, 0x04, 0x24, 0x48, 0x89, 0x66, 0x38 };
  static const uint8_t measure[] = { 0x48, 0x29, 0xe0 };
  static const uint8_t leave[] = { 0x48, 0x89, 0xfc };
  static const uint8_t come[] = { 0x48, 0x8b, 0x66, 0x38 };
  static const uint8_t forget[] = { 0x48, 0x8b, 0x04, 0x24, 0x48, 0x89, 0x46, 0x38 };
  const uint8_t *end = code + size;
  const uint8_t *noted = find_after (code, end, note, sizeof note);
  const uint8_t *measured = find_after (noted, end, measure, sizeof measure);
  const uint8_t *left = find_after (measured, end, leave, sizeof leave);
  const uint8_t *came = find_after (left, end, come, sizeof come);
  const uint8_t *forgot = find_after (came, end, forget, sizeof forget);
  uint32_t below = RULE_GO_BELOW (self->switch_rule), frame;
  uint64_t start = function->start;

  if (forgot == NULL || below == 0 ||
      memcmp (measured - sizeof measure - 5, "\x48\x8d\x44\x24", 4) != 0)
    return;
  frame = measured[-(ptrdiff_t) sizeof measure - 1];
  if (frame % 8 != 0 || frame < 16)
    return;

  add_span (spans, start + (uint64_t) (noted - code), start + (uint64_t) (left - code),
            RULE_MAKE_GO_NOTED (below, frame));
  add_span (spans, start + (uint64_t) (left - code), start + (uint64_t) (came - code),
            RULE_MAKE_GO_CALLED_BY_C (below, frame));
  add_span (spans, start + (uint64_t) (came - code), start + (uint64_t) (forgot - code),
            RULE_MAKE_GO_NOTED (below, frame));
  for (const uint8_t *at = forgot; at + 5 <= end; at++)
    if (memcmp (at, "\x48\x83\xc4", 3) == 0 && at[4] == 0xc3)
      {
        uint64_t freed = start + (uint64_t) (at - code) + 4;

        add_span (spans, start + (uint64_t) (forgot - code), freed,
                  RULE_MAKE (RULE_SP, frame, 2));
        add_span (spans, freed, freed + 1, RULE_MAKE (RULE_SP, 8, SLOT_UNCHANGED));
        return;
      }
}

static void
find_spans (const GoTable *self, const GoFunction *function, Spans *spans)
{
  uint64_t size = function->end - function->start;
  uint8_t code[MOST_SWITCH];

  if (size > sizeof code ||
      sysprof_elf_image_peek_code (self->image, function->start, code, (size_t) size) != ELF_OK)
    return;
  if (sysprof_go_has_name (self, function, "runtime.asmcgocall"))
    find_calls_of_c (self, function, code, (size_t) size, spans);
  else if (sysprof_go_has_name (self, function, "runtime.cgocallback"))
    find_call_by_c (self, function, code, (size_t) size, spans);
}

/* --- rows of functions that switch stacks --- */

typedef struct
{
  CfiRow row;
  void *data;
  uint64_t start;
  uint64_t end;
  uint32_t size;  /* of the frame, when it was last known */
  uint32_t other; /* the rule where SP is unknown */
  Spans spans;
  unsigned next_span;
  uint32_t last; /* of the code */
  /* [n_words] offsets from `start` of instructions that load the word with the goroutine's
   * offset */
  uint32_t words[MOST_WORDS];
  unsigned n_words;
  uint64_t given_at; /* the last row, and its rule */
  uint32_t given;
} SwitchRows;

static bool
is_by_word_rule (uint32_t rule)
{
  return RULE_KIND (rule) == RULE_GO && RULE_GO_BELOW (rule) == RULE_GO_BY_WORD;
}

static void
find_words (SwitchRows *self, ElfImage *image)
{
  uint64_t size = self->end - self->start;
  uint8_t code[MOST_SWITCH];

  if (size > sizeof code ||
      sysprof_elf_image_peek_code (image, self->start, code, (size_t) size) != ELF_OK)
    return;
  for (uint32_t i = 0; i + 8 <= size && self->n_words < MOST_WORDS; i++)
    if (is_by_word (code + i) && code[i + 7] == 0x64)
      self->words[self->n_words++] = i;
}

/* Adds the distance to that word from the block of `address`. */
static uint32_t
with_distance (const SwitchRows *self, uint64_t address, uint32_t rule)
{
  uint64_t from = (address & ~(uint64_t) (GO_BLOCK - 1)) - GO_BEFORE_BLOCK;

  for (unsigned i = 0; i < self->n_words; i++)
    if (self->start + self->words[i] - from <= RULE_GO_MOST_DISTANCE)
      return RULE_GO_MAKE_DISTANCE (rule, self->start + self->words[i] - from);
  return RULE_ESCAPE;
}

/* Repeats the last row for each block that begins before `until`, if the rule differs there. */
static void
give_blocks (SwitchRows *self, uint64_t until)
{
  while (is_by_word_rule (self->given) && (self->given_at | (GO_BLOCK - 1)) + 1 < until)
    {
      self->given_at = (self->given_at | (GO_BLOCK - 1)) + 1;
      self->row (self->data, self->given_at, with_distance (self, self->given_at, self->given));
    }
}

static void
give_row (SwitchRows *self, uint64_t address, uint32_t rule)
{
  give_blocks (self, address);
  self->given_at = address;
  self->given = rule;
  self->row (self->data, address,
             is_by_word_rule (rule) ? with_distance (self, address, rule) : rule);
}

/* Adds the spans that begin before `until`. */
static void
add_spans (SwitchRows *self, uint64_t until)
{
  while (self->next_span < self->spans.n && self->spans.span[self->next_span].start < until)
    {
      const Span *span = &self->spans.span[self->next_span++];
      bool is_joined = self->next_span < self->spans.n &&
                       self->spans.span[self->next_span].start == span->end;

      give_row (self, span->start, span->rule);
      if (!is_joined && span->end < until && span->end < self->end)
        give_row (self, span->end, self->last);
    }
}

static bool
is_in_span (const SwitchRows *self, uint64_t address)
{
  for (unsigned i = 0; i < self->spans.n; i++)
    if (address >= self->spans.span[i].start && address < self->spans.span[i].end)
      return true;
  return false;
}

/* Adds a row of the code. If SP is unknown there, the code is on another stack. */
static void
add_switch_row (void *data, uint64_t address, uint32_t rule)
{
  SwitchRows *self = data;

  if (address < self->start || address >= self->end)
    return;
  if (RULE_KIND (rule) == RULE_SP)
    self->size = RULE_OFFSET (rule) - 8;
  if (RULE_KIND (rule) == RULE_BP)
    rule = RULE_OFFSET (rule) <= RULE_GO_MOST_SIZE
               ? RULE_MAKE_GO (GO_FRAME, 0, RULE_OFFSET (rule), 0)
               : RULE_ESCAPE;
  else if (RULE_KIND (rule) == RULE_NONE)
    rule = self->other;
  if (rule == self->other && RULE_KIND (rule) == RULE_GO && RULE_GO_MODE (rule) == GO_CALL)
    rule = self->size <= RULE_GO_MOST_SIZE ? rule | RULE_MAKE_GO (GO_CALL, 0, self->size, 0)
                                           : RULE_ESCAPE;
  add_spans (self, address);
  self->last = rule;
  if (!is_in_span (self, address))
    give_row (self, address, rule);
}

void
sysprof_go_add_switch (const GoTable *self,
                       const GoFunction *function,
                       uint64_t end,
                       CfiRow row,
                       void *data)
{
  uint64_t size = function->end - function->start;
  SwitchRows rows = { .row = row, .data = data, .start = function->start, .end = end };
  CodeReader *reader = NULL;

  if (self->code_budget == NULL || size <= *self->code_budget)
    reader = sysprof_code_reader_new (self->image, function->start, function->end);

  rows.other = rule_behind_switch (self, function);
  if (reader == NULL)
    {
      row (data, function->start, RULE_ESCAPE);
      return;
    }
  if (self->code_budget != NULL)
    *self->code_budget -= size;
  sysprof_code_reader_add_start (reader, function->start);
  find_spans (self, function, &rows.spans);
  find_words (&rows, self->image);
  rows.last = RULE_ESCAPE;
  (void) sysprof_code_reader_run (reader, add_switch_row, &rows);
  add_spans (&rows, end);
  give_blocks (&rows, end);
  sysprof_code_reader_free (reader);
}
