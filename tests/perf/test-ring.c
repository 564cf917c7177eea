// SPDX-License-Identifier: GPL-3.0-or-later

/* The ring against one that is made by hand, as perf_event_open(2) describes it: what the kernel does at its end, and what
 * it would have to do to get at us. */

#include "perf/ring.h"

#include <glib.h>
#include <string.h>

#define RING_SIZE 4096

typedef struct
{
  PerfRing ring;
  struct perf_event_mmap_page page;
  uint8_t data[RING_SIZE] __attribute__ ((aligned (8)));
  uint8_t scratch[PERF_RECORD_MAX] __attribute__ ((aligned (8)));
  GArray *sizes;   /* of uint16_t: of the records that came */
  GArray *numbers; /* of uint64_t: the word that each ends with */
} Fixture;

static void
set_up (Fixture *self, gconstpointer data)
{
  self->ring = (PerfRing){ &self->page, self->data, RING_SIZE };
  self->sizes = g_array_new (FALSE, FALSE, sizeof (uint16_t));
  self->numbers = g_array_new (FALSE, FALSE, sizeof (uint64_t));
}

static void
tear_down (Fixture *self, gconstpointer data)
{
  g_array_unref (self->sizes);
  g_array_unref (self->numbers);
}

/* As the kernel does: byte by byte modulo the size, then the head. */
static void
put (Fixture *self, uint16_t size, uint64_t number)
{
  struct perf_event_header header = { PERF_RECORD_SAMPLE, 0, size };
  g_autofree uint8_t *bytes = g_malloc0 (MAX (size, sizeof header));

  memcpy (bytes, &header, sizeof header);
  if (size >= sizeof header + sizeof number)
    memcpy (bytes + size - sizeof number, &number, sizeof number);
  for (size_t i = 0; i < size; i++)
    self->data[(self->page.data_head + i) % RING_SIZE] = bytes[i];
  self->page.data_head += size;
}

static void
take (const struct perf_event_header *record, void *data)
{
  Fixture *self = data;
  uint64_t number;

  g_assert_true (((uintptr_t) record & 7) == 0);
  memcpy (&number, (const uint8_t *) record + record->size - sizeof number, sizeof number);
  g_array_append_val (self->sizes, record->size);
  g_array_append_val (self->numbers, number);
}

static bool
drain (Fixture *self)
{
  return sysprof_perf_ring_drain (&self->ring, self->scratch, take, self);
}

static void
test_gives_records_in_order (Fixture *self, gconstpointer data)
{
  put (self, 24, 1);
  put (self, 40, 2);
  put (self, 16, 3);

  g_assert_true (drain (self));
  g_assert_cmpuint (self->numbers->len, ==, 3);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpuint (g_array_index (self->numbers, uint64_t, i), ==, i + 1);
  g_assert_cmpuint (g_array_index (self->sizes, uint16_t, 1), ==, 40);
  g_assert_cmpuint (self->page.data_tail, ==, 80);

  g_assert_true (drain (self));
  g_assert_cmpuint (self->numbers->len, ==, 3);
}

/* Every record is longer than what is left of the ring now and then, and whole nevertheless. */
static void
test_makes_split_records_whole (Fixture *self, gconstpointer data)
{
  for (uint64_t i = 0; i < 1000; i++)
    {
      put (self, 1000, i);
      put (self, 24, ~i);
      g_assert_true (drain (self));
      g_assert_cmpuint (g_array_index (self->numbers, uint64_t, 2 * i), ==, i);
      g_assert_cmpuint (g_array_index (self->numbers, uint64_t, 2 * i + 1), ==, ~i);
      g_assert_cmpuint (self->page.data_tail, ==, self->page.data_head);
    }
}

/* A header in the last 8 bytes of the ring. */
static void
test_takes_header_at_the_end (Fixture *self, gconstpointer data)
{
  self->page.data_head = self->page.data_tail = RING_SIZE - 8;
  put (self, 32, 77);

  g_assert_true (drain (self));
  g_assert_cmpuint (g_array_index (self->numbers, uint64_t, 0), ==, 77);
}

static void
test_takes_positions_that_overflow (Fixture *self, gconstpointer data)
{
  self->page.data_head = self->page.data_tail = (uint64_t) 0 - 16;
  put (self, 32, 5);

  g_assert_true (drain (self));
  g_assert_cmpuint (g_array_index (self->numbers, uint64_t, 0), ==, 5);
  g_assert_cmpuint (self->page.data_tail, ==, 16);
}

static void
test_skips_sizes_that_lie (Fixture *self, gconstpointer data)
{
  static const uint16_t lies[] = { 0, 4, 7, 12, 20, 4000, 65528, 65535 };

  for (size_t i = 0; i < G_N_ELEMENTS (lies); i++)
    {
      struct perf_event_header header = { PERF_RECORD_SAMPLE, 0, lies[i] };
      guint before = self->numbers->len;

      put (self, 24, 1);
      memcpy (self->data + self->page.data_head % RING_SIZE, &header, sizeof header);
      self->page.data_head += 24;

      g_assert_false (drain (self));
      g_assert_cmpuint (self->numbers->len, ==, before + 1); /* the bytes before it */
      g_assert_cmpuint (self->page.data_tail, ==, self->page.data_head);

      put (self, 24, 2);
      g_assert_true (drain (self)); /* and it continues */
      g_assert_cmpuint (self->numbers->len, ==, before + 2);
      self->page.data_head = self->page.data_tail = 0;
    }
}

static void
test_skips_heads_that_lie (Fixture *self, gconstpointer data)
{
  static const uint64_t heads[] = { 3, RING_SIZE + 8, UINT64_MAX, (uint64_t) 1 << 63 };

  for (size_t i = 0; i < G_N_ELEMENTS (heads); i++)
    {
      self->page.data_tail = 0;
      self->page.data_head = heads[i];
      g_assert_false (drain (self));
      g_assert_cmpuint (self->page.data_tail, ==, heads[i]);
    }
  g_assert_cmpuint (self->numbers->len, ==, 0);
}

/* The kernel gets room while a full ring is still being read. */
static void
count_room (const struct perf_event_header *record, void *data)
{
  PerfRing *ring = data;

  if (ring->page->data_head - ring->page->data_tail < ring->size)
    ring->page->time_offset = 1; /* a member that this test does not use */
}

static void
test_gives_room_back_early (void)
{
  enum
  {
    BIG = 256 * 1024
  };
  struct perf_event_mmap_page page = { .data_head = BIG };
  g_autofree uint8_t *bytes = g_malloc0 (BIG);
  g_autofree uint8_t *scratch = g_malloc (PERF_RECORD_MAX);
  PerfRing ring = { &page, bytes, BIG };
  struct perf_event_header header = { PERF_RECORD_SAMPLE, 0, 1024 };

  for (size_t at = 0; at < BIG; at += 1024)
    memcpy (bytes + at, &header, sizeof header);

  g_assert_true (sysprof_perf_ring_drain (&ring, scratch, count_room, &ring));
  g_assert_cmpuint (page.time_offset, ==, 1);
}

#define ADD(name, func) g_test_add ("/perf/ring/" name, Fixture, NULL, set_up, func, tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD ("gives-records-in-order", test_gives_records_in_order);
  ADD ("makes-split-records-whole", test_makes_split_records_whole);
  ADD ("takes-header-at-the-end", test_takes_header_at_the_end);
  ADD ("takes-positions-that-overflow", test_takes_positions_that_overflow);
  ADD ("skips-sizes-that-lie", test_skips_sizes_that_lie);
  ADD ("skips-heads-that-lie", test_skips_heads_that_lie);
  g_test_add_func ("/perf/ring/gives-room-back-early", test_gives_room_back_early);
  return g_test_run ();
}
