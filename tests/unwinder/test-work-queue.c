// SPDX-License-Identifier: GPL-3.0-or-later

/* Stacks are unwound in the order of their arrival, and none waits for ever. */

#include "unwinder/work-queue.h"

static void
take_all (WorkQueue *queue, GString *order)
{
  const char *item;

  while ((item = sysprof_work_queue_try (queue)) != NULL)
    g_string_append (order, item);
}

static void
test_order (void)
{
  static const char *const items[] = { "a", "b", "c" };
  static const char *const soon[] = { "1", "2", "3", "4", "5", "6", "7" };
  g_autoptr (GString) order = g_string_new (NULL);
  WorkQueue queue;

  sysprof_work_queue_init (&queue);
  for (unsigned i = 0; i < G_N_ELEMENTS (items); i++)
    sysprof_work_queue_push (&queue, (void *) items[i], false);
  for (unsigned i = 0; i < G_N_ELEMENTS (soon); i++)
    sysprof_work_queue_push (&queue, (void *) soon[i], true);
  take_all (&queue, order);
  g_assert_cmpstr (order->str, ==, "123a456b7c");
  sysprof_work_queue_clear (&queue, NULL);
}

/* As many that are wanted soon as are taken. */
static void
test_stream_passes_nobody_over (void)
{
  WorkQueue queue;
  unsigned n = 0;

  sysprof_work_queue_init (&queue);
  sysprof_work_queue_push (&queue, "patient", false);
  do
    {
      sysprof_work_queue_push (&queue, "soon", true);
      g_assert_cmpuint (n++, <, 10);
    }
  while (g_str_equal (sysprof_work_queue_wait (&queue), "soon"));
  while (sysprof_work_queue_try (&queue) != NULL)
    continue;
  sysprof_work_queue_clear (&queue, NULL);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/unwinder/work-queue/order", test_order);
  g_test_add_func ("/unwinder/work-queue/stream", test_stream_passes_nobody_over);
  return g_test_run ();
}
