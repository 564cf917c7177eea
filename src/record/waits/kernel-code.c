// SPDX-License-Identifier: GPL-3.0-or-later

#include "record/waits/kernel-code.h"

/* x86-64: all entries for interrupts stand side by side, and with FRED there is one for all; arm64: there is one for each level that is
 * interrupted. */
static const char *const interrupt_names[] = { "asm_common_interrupt", "asm_sysvec_",
                                               "fred_extint",          "el1h_64_irq",
                                               "el0t_64_irq",          NULL };
/* Their names differ between kernels, as compilers put one into the other. */
static const char *const exit_names[] = { "irqentry_exit_to_user_mode", "exit_to_user_mode_",
                                          "do_notify_resume", NULL };
/* The tracepoints that are watched; the linker may put others between them. */
static const char *const tracing_names[] = { "__traceiter_sched_", NULL };
static const char *const fault_names[] = { "asm_exc_page_fault", "do_mem_abort", NULL };

static bool
is_one_of (Text name, const char *const *prefixes)
{
  for (; *prefixes != NULL; prefixes++)
    {
      Text rest = name;

      if (sysprof_text_skip (&rest, *prefixes))
        return true;
    }
  return false;
}

/* `next` is where the function behind it begins. Further ones widen the range that is near; else they get the second. */
static void
add_range (WaitsRange *ranges, unsigned n, uint64_t start, uint64_t next)
{
  const uint64_t near = 4096;

  for (unsigned i = 0; i < n; i++)
    {
      if (ranges[i].end == 0)
        {
          ranges[i] = (WaitsRange){ start, next };
          return;
        }
      if (start <= ranges[i].end + near && start >= ranges[i].start)
        {
          ranges[i].end = MAX (ranges[i].end, next);
          return;
        }
    }
}

/* Each by itself: what stands between them is not meant. */
static void
add_single (WaitsRange *ranges, unsigned n, uint64_t start, uint64_t next)
{
  for (unsigned i = 0; i < n; i++)
    if (ranges[i].end == 0)
      {
        ranges[i] = (WaitsRange){ start, next };
        return;
      }
}

/* The lines of the kernel itself are in the order of addresses. */
void
sysprof_kernel_code_find (WaitsControl *control, Text text)
{
  enum
  {
    NOTHING,
    INTERRUPT,
    EXIT,
    FAULT,
    TRACING
  } last = NOTHING;
  uint64_t start = 0;
  Text line;

  while (sysprof_text_next_line (&text, &line))
    {
      uint64_t address;
      Text type, name;

      if (!sysprof_text_hex (&line, &address) || !sysprof_text_next_word (&line, &type) ||
          !sysprof_text_next_word (&line, &name))
        continue;
      if (last != NOTHING && address == start)
        continue;
      if (last == INTERRUPT && address > start)
        add_range (control->interrupts, G_N_ELEMENTS (control->interrupts), start, address);
      else if (last == EXIT && address > start)
        add_single (control->exits, G_N_ELEMENTS (control->exits), start, address);
      else if (last == FAULT && address > start)
        add_range (&control->faults, 1, start, address);
      else if (last == TRACING && address > start)
        add_range (&control->tracing, 1, start, address);
      last = is_one_of (name, interrupt_names) ? INTERRUPT
             : is_one_of (name, exit_names)    ? EXIT
             : is_one_of (name, fault_names)   ? FAULT
             : is_one_of (name, tracing_names) ? TRACING
                                               : NOTHING;
      start = address;
    }
}
