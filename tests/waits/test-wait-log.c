// SPDX-License-Identifier: GPL-3.0-or-later

/* The embedded file of waits from made-up records. */

#include "waits/kernel-code.h"
#include "waits/wait-log.h"
#include "waits/wait-rings.h"

#include <glib.h>
#include <string.h>

static void
append (const uint8_t *bytes, size_t size, bool is_last, void *data)
{
  g_byte_array_append (data, bytes, (guint) size);
}

static uint64_t
no_marker (WalkReason reason, void *data)
{
  return 0;
}

/* Bytes as LEB128 has them, by hand. */
static void
test_writes_entries_as_the_format_says (void)
{
  static const uint8_t expected[] = {
    'w', 'a',  'i',  't', 's',  0,    1,   0, /* version 1 */
    1,   0xac, 2,    7,   2,    'm',  'e',    /* thread 300 of process 7 */
    2,   3,    1,    1,   0x20, 4,    3,      /* 16, 18, 16 */
    3,   0x80, 1,    5,   1,    0,    4,   0xcb, 1, 2, 1, 0,
    0,   0x7f, 9,    2,                                      /* begin 64, call 202 */
    3,   1,    2,    0,   0,    7,    0,   0,    0, 0, 0, 0, /* begin 63 */
    5,   3,    0x0a, 6,   0,    0x80, 1,
  };
  static const uint64_t addresses[] = { 16, 18, 16 };
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autofree WaitStream *stream = g_new0 (WaitStream, 1);

  sysprof_wait_stream_init (stream, append, bytes);
  sysprof_wait_stream_add_thread (stream, 300, 7, "me");
  sysprof_wait_stream_add_stack (stream, 1, 1, addresses, G_N_ELEMENTS (addresses));
  sysprof_wait_stream_add_wait (stream, &(StreamedWait){ .begin = 64,
                                                         .duration = 5,
                                                         .runnable = 1,
                                                         .reason = WAIT_FUTEX,
                                                         .flags = WAIT_HAS_LOCK,
                                                         .call = 202,
                                                         .stack = 1,
                                                         .lock = 127,
                                                         .holder = 9,
                                                         .cpu = 1 });
  sysprof_wait_stream_add_wait (
      stream, &(StreamedWait){ .begin = 63, .duration = 2, .reason = WAIT_OTHER, .call = -1 });
  sysprof_wait_stream_add_lost (stream, 3, 5);
  sysprof_wait_stream_add_run (stream, 0, 128);
  sysprof_wait_stream_flush (stream, true);
  g_assert_cmpmem (bytes->data, bytes->len, expected, sizeof expected);
}

static void
put (WaitRings *rings, unsigned i, const void *record, uint16_t size)
{
  WaitsRing *ring = sysprof_wait_rings_get_ring (rings, i);

  memcpy (ring->data + (ring->head & 4095), record, size);
  ring->head += size;
}

typedef struct
{
  unsigned n_threads;
  unsigned n_waits;
  bool wait_came_first;
} Seen;

static void
see (const WaitsHead *record, void *data)
{
  Seen *seen = data;

  if (record->kind == WAITS_THREAD)
    {
      seen->n_threads++;
      seen->wait_came_first |= seen->n_waits > 0;
    }
  if (record->kind == WAITS_WAIT)
    seen->n_waits++;
}

/* The ring that is read first has the wait, the other one says who that is. */
static void
test_names_come_before_waits (void)
{
  const WaitsThread thread = { .head = { WAITS_THREAD, sizeof thread, 5 }, .pid = 5 };
  const WaitsWait wait = { .head = { WAITS_WAIT, sizeof wait, 5 }, .begin = 1, .end = 2 };
  WaitRings *rings = sysprof_wait_rings_new_in_memory (2, 4096);
  Seen seen = { 0 };

  put (rings, 0, &wait, sizeof wait);
  put (rings, 1, &thread, sizeof thread);
  g_assert_true (sysprof_wait_rings_drain (rings, see, &seen));
  g_assert_cmpfloat (sysprof_wait_rings_get_fill (rings), ==, sizeof wait / 4096.);
  g_assert_true (sysprof_wait_rings_drain (rings, see, &seen));
  g_assert_cmpfloat (sysprof_wait_rings_get_fill (rings), ==, 0);
  g_assert_cmpuint (seen.n_threads, ==, 1);
  g_assert_cmpuint (seen.n_waits, ==, 1);
  g_assert_false (seen.wait_came_first);
  sysprof_wait_rings_free (rings);
}

static void
test_leaves_out_what_no_program_writes (void)
{
  const WaitsThread thread = { .head = { WAITS_THREAD, sizeof thread, 5 }, .pid = 5 };
  const WaitsHead heads[] = {
    { WAITS_WAIT, 8, 0 },     { WAITS_THREAD, 0, 0 }, { WAITS_THREAD, 65528, 0 },
    { 99, sizeof thread, 0 }, { WAITS_STACK, 16, 0 }, { WAITS_RAN, 12, 0 },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (heads); i++)
    {
      WaitRings *rings = sysprof_wait_rings_new_in_memory (1, 4096);
      Seen seen = { 0 };

      put (rings, 0, &thread, sizeof thread);
      put (rings, 0, &heads[i], sizeof heads[i]);
      g_assert_false (sysprof_wait_rings_drain (rings, see, &seen));
      g_assert_cmpuint (seen.n_threads, ==, 1);
      sysprof_wait_rings_free (rings);
    }
}

static void
test_finds_code_of_the_kernel (void)
{
  static const char lines[] = "ffffffff81000100 t before\n"
                              "ffffffff81000200 T asm_exc_page_fault\n"
                              "ffffffff81000240 T asm_common_interrupt\n"
                              "ffffffff81000260 T asm_sysvec_one\n"
                              "ffffffff81000280 T asm_sysvec_two\n"
                              "ffffffff810002a0 T behind\n"
                              "ffffffff81100000 t irqentry_exit_to_user_mode\n"
                              "ffffffff81100040 t irqentry_exit\n"
                              "ffffffff81100080 t exit_to_user_mode_loop\n"
                              "ffffffff811000c0 t next\n"
                              "ffffffff81200000 t fred_extint\n"
                              "ffffffff81200040 t last\n"
                              "what is this\n";
  g_autofree WaitsControl *control = g_new0 (WaitsControl, 1);

  sysprof_kernel_code_find (control, sysprof_text_from_string (lines));
  g_assert_cmphex (control->faults.start, ==, 0xffffffff81000200);
  g_assert_cmphex (control->faults.end, ==, 0xffffffff81000240);
  g_assert_cmphex (control->interrupts[0].start, ==, 0xffffffff81000240);
  g_assert_cmphex (control->interrupts[0].end, ==, 0xffffffff810002a0);
  g_assert_cmphex (control->interrupts[1].start, ==, 0xffffffff81200000);
  g_assert_cmphex (control->interrupts[1].end, ==, 0xffffffff81200040);
  g_assert_cmphex (control->interrupts[2].end, ==, 0);
  g_assert_cmphex (control->exits[0].start, ==, 0xffffffff81100000);
  g_assert_cmphex (control->exits[0].end, ==, 0xffffffff81100040);
  g_assert_cmphex (control->exits[1].start, ==, 0xffffffff81100080);
  g_assert_cmphex (control->exits[1].end, ==, 0xffffffff811000c0);
  g_assert_cmphex (control->tracing.end, ==, 0);
}

static void
take_name (WaitLog *log, uint32_t pid, const char *comm, uint64_t time)
{
  WaitsThread thread = { .head = { WAITS_THREAD, sizeof thread, 5 }, .pid = pid, .time = time };

  memcpy (thread.comm, comm, strlen (comm));
  sysprof_wait_log_take (log, &thread.head);
}

static void
take_wait (WaitLog *log, uint64_t begin, uint64_t end)
{
  const WaitsWait wait = { .head = { WAITS_WAIT, sizeof wait, 5 },
                           .begin = begin,
                           .end = end,
                           .ran = 1,
                           .waker = 5,
                           .woken = begin + 1,
                           .call = -1,
                           .reason = WAIT_OTHER };

  sysprof_wait_log_take (log, &wait.head);
}

/* Names of all rings come before waits of any, and not in order: each wait is of who had the id then. */
static void
test_names_are_those_of_the_time (void)
{
  static const uint8_t expected[] = {
    'w', 'a',  'i', 't', 's', 0, 1, 0,                /* version 1 */
    1,   5,    5,   1,   'b',                         /* 0: from 100 */
    1,   5,    5,   1,   'a',                         /* 1: from 10 */
    1,   5,    9,   1,   'c',                         /* 2: from 200 */
    3,   40,   5,   4,   1,   7, 0, 0, 0, 2, 0, 0,    /* begins at 20 */
    3,   0x80, 1,   20,  19,  0, 7, 0, 0, 0, 2, 0, 0, /* at 84 */
    3,   48,   30,  29,  0,   7, 0, 0, 0, 1, 0, 0,    /* at 108 */
    6,   0,    6,                                     /* ended: 1, 1 and 4 */
    3,   0xd8, 1,   10,  9,   2, 7, 0, 0, 0, 3, 0, 0, /* at 216 */
    6,   1,    1,                                     /* forgotten */
    3,   0xa8, 1,   1,   0,   2, 7, 0, 0, 0, 3, 0, 0, /* at 300: still c */
    6,   2,    2,
  };
  const WaitsRan ran = { { WAITS_RAN, sizeof ran, 5 }, .time = 150, .ran = 4 };
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  WaitLog *log = sysprof_wait_log_new (append, no_marker, bytes);

  take_name (log, 5, "b", 100);
  take_name (log, 5, "a", 10);
  take_name (log, 9, "c", 200);
  take_wait (log, 20, 25);
  take_wait (log, 84, 104);
  take_wait (log, 108, 138);
  sysprof_wait_log_take (log, &ran.head);
  take_wait (log, 216, 226);
  for (int i = 0; i < 5; i++)
    sysprof_wait_log_flush (log);
  take_wait (log, 300, 301);
  sysprof_wait_log_finish (log);
  sysprof_wait_log_free (log);
  g_assert_cmpmem (bytes->data, bytes->len, expected, sizeof expected);
}

static void
forget_bytes (const uint8_t *bytes, size_t size, bool is_last, void *data)
{
}

static void
test_counts_stacks_that_are_too_many (void)
{
  const uint64_t most = 4u << 20;
  WaitLog *log = sysprof_wait_log_new (forget_bytes, no_marker, NULL);
  WaitLogStatus status;

  for (uint64_t i = 1; i <= most + 3; i++)
    {
      const WaitsStack stack = { .head = { WAITS_STACK, sizeof stack, 5 },
                                 .hash = i * UINT64_C (0x9e3779b97f4a7c15),
                                 .reason = WALK_KERNEL_THREAD };

      sysprof_wait_log_take (log, &stack.head);
    }
  status = sysprof_wait_log_get_status (log);
  g_assert_cmpuint (status.n_stacks, ==, most);
  g_assert_cmpuint (status.n_refused, ==, 3);
  sysprof_wait_log_free (log);
}

/* As many waits as have such a stack, and none of those whose stack is truncated for good. */
static void
test_counts_stacks_without_tables (void)
{
  static const WalkReason reasons[] = { WALK_END, WALK_NO_TABLE, WALK_FAULT, WALK_NO_PROCESS,
                                        WALK_NO_MAPPING };
  WaitLog *log = sysprof_wait_log_new (forget_bytes, no_marker, NULL);

  for (size_t i = 0; i < G_N_ELEMENTS (reasons); i++)
    {
      const WaitsStack stack = { .head = { WAITS_STACK, sizeof stack, 5 },
                                 .hash = i + 1,
                                 .reason = reasons[i] };
      const WaitsWait wait = {
        .head = { WAITS_WAIT, sizeof wait, 5 }, .begin = 1, .end = 2, .stack = i + 1
      };

      sysprof_wait_log_take (log, &stack.head);
      sysprof_wait_log_take (log, &wait.head);
      sysprof_wait_log_take (log, &wait.head);
    }
  g_assert_cmpuint (sysprof_wait_log_get_status (log).n_unfinished, ==, 4);
  sysprof_wait_log_free (log);
}

static void
test_counts_what_is_lost_once (void)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  WaitLog *log = sysprof_wait_log_new (append, no_marker, bytes);

  g_assert_cmpuint (sysprof_wait_log_set_lost (log, 3, 1), ==, 3);
  g_assert_cmpuint (sysprof_wait_log_set_lost (log, 3, 2), ==, 0);
  g_assert_cmpuint (sysprof_wait_log_set_lost (log, 7, 3), ==, 4);
  sysprof_wait_log_finish (log);
  g_assert_cmpuint (bytes->len, ==, 8 + 3 + 3);
  sysprof_wait_log_free (log);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/wait-log/writes-entries-as-the-format-says",
                   test_writes_entries_as_the_format_says);
  g_test_add_func ("/wait-log/names-come-before-waits", test_names_come_before_waits);
  g_test_add_func ("/wait-log/leaves-out-what-no-program-writes",
                   test_leaves_out_what_no_program_writes);
  g_test_add_func ("/wait-log/finds-code-of-the-kernel", test_finds_code_of_the_kernel);
  g_test_add_func ("/wait-log/counts-what-is-lost-once", test_counts_what_is_lost_once);
  g_test_add_func ("/wait-log/names-are-those-of-the-time", test_names_are_those_of_the_time);
  g_test_add_func ("/wait-log/counts-stacks-that-are-too-many",
                   test_counts_stacks_that_are_too_many);
  g_test_add_func ("/wait-log/counts-stacks-without-tables", test_counts_stacks_without_tables);
  return g_test_run ();
}
