// SPDX-License-Identifier: GPL-3.0-or-later

/* Searches /proc/kallsyms for a few functions by their prefixes. It must accept any kernel: a
 * function that does not exist leaves its range empty. */

#include "waits/kernel-code.h"

/* On x86-64 all interrupt entries are adjacent, and with FRED there is only one. On arm64 there
 * is one for each exception level that can be interrupted. */
static const char *const interrupt_names[] = { "asm_common_interrupt", "asm_sysvec_",
                                               "fred_extint",          "el1h_64_irq",
                                               "el0t_64_irq",          NULL };
/* The names differ between kernels, because compilers inline these functions differently. */
static const char *const exit_names[] = { "irqentry_exit_to_user_mode", "exit_to_user_mode_",
                                          "do_notify_resume", NULL };
/* The traced tracepoints; the linker may place others between them. */
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

/* `next` is the start of the following function. A function near an existing range extends that
 * range; otherwise it uses the next free range. */
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

/* Adds each function as a range of its own, because other functions are between them. */
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

/* The kernel's own symbols are sorted by address. */
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
