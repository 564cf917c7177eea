// SPDX-License-Identifier: GPL-3.0-or-later

#include "record/waits/kernel-code.h"
#include "record/waits/wait-log.h"
#include "record/waits/wait-rings.h"

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
    'w', 'a',  'i', 't', 's',  0,   1,   0, /* version 1 */
    1,   0xac, 2,   7,   2,    'm', 'e',    /* thread 300 of process 7 */
    2,   3,    1,   1,   0x20, 4,   3,      /* 16, 18, 16 */
    3,   0x80, 1,   5,   1,    0,   4,   0xcb, 1, 2, 1, 0,
    0,   0x7f, 9,   2,                                     /* begin 64, call 202 */
    3,   1,    2,   0,   0,    7,   0,   0,    0, 0, 0, 0, /* begin 63 */
    4,   10,   5,   3,   0x0a, 6,   0,   0x80, 1,
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
  sysprof_wait_stream_add_sampled (stream, 10);
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
  g_assert_true (sysprof_wait_rings_drain (rings, see, &seen));
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
                              "what is this\n";
  g_autofree WaitsControl *control = g_new0 (WaitsControl, 1);

  sysprof_kernel_code_find (control, sysprof_text_from_string (lines));
  g_assert_cmphex (control->faults.start, ==, 0xffffffff81000200);
  g_assert_cmphex (control->faults.end, ==, 0xffffffff81000240);
  g_assert_cmphex (control->interrupts[0].start, ==, 0xffffffff81000240);
  g_assert_cmphex (control->interrupts[0].end, ==, 0xffffffff810002a0);
  g_assert_cmphex (control->tracing.end, ==, 0);
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
  return g_test_run ();
}
