// SPDX-License-Identifier: GPL-3.0-or-later

/* Callers that were met before, but not in the stack before, mean what they meant then only
 * where they are callers again: what calls nothing within its context keeps its address also
 * where nothing is mapped. */

#include "capture/capture.h"
#include "check-store.h"

#include <sys/mman.h>

#define PID       100
#define CODE      UINT64_C (0x400000)
#define CODE_SIZE UINT64_C (0x100000)
#define NOWHERE   UINT64_C (0x900000)
#define KERNEL    UINT64_C (0xffffffff81000000)
#define IN_KERNEL ((uint64_t) -128)
#define IN_USER   ((uint64_t) -512)
#define MOST      24 /* words */

static void
add_map (GByteArray *bytes)
{
  SysprofCaptureMap map = {
    .frame = { .len = sizeof map + 8,
               .pid = PID,
               .time = 1,
               .type = SYSPROF_CAPTURE_FRAME_MAP },
    .start = CODE,
    .end = CODE + CODE_SIZE,
  };

  g_byte_array_append (bytes, (const uint8_t *) &map, sizeof map);
  g_byte_array_append (bytes, (const uint8_t *) "/bin/x\0", 8);
}

/* `words` innermost first. */
static void
add_sample (GByteArray *bytes, int64_t time, const uint64_t *words, uint16_t n)
{
  SysprofCaptureSample sample = {
    .frame = { .len = (uint16_t) (sizeof sample + n * sizeof *words),
               .pid = PID,
               .time = time,
               .type = SYSPROF_CAPTURE_FRAME_SAMPLE },
    .n_addrs = n,
    .tid = PID,
  };

  g_byte_array_append (bytes, (const uint8_t *) &sample, sizeof sample);
  g_byte_array_append (bytes, (const uint8_t *) words, n * sizeof *words);
}

/* Seven callers and NOWHERE, within which runs `inner` [n_inner]. */
static void
add_deep_sample (GByteArray *bytes, int64_t time, const uint64_t *inner, uint16_t n_inner)
{
  uint64_t words[MOST];
  uint16_t n = n_inner;

  memcpy (words, inner, n_inner * sizeof *inner);
  words[n++] = NOWHERE;
  for (unsigned i = 0; i < 7; i++)
    words[n++] = CODE + 0x1000 * (i + 1);
  add_sample (bytes, time, words, n);
}

static void
check_entry (const Store *store, StackId stack, AddressKind kind, uint64_t value)
{
  AddressId address = store->stacks.address[stack];

  g_assert_cmpuint (store->addresses.kind[address], ==, kind);
  if (kind != ADDRESS_UNMAPPED)
    g_assert_cmphex (store->addresses.address[address], ==, value);
}

/* From what called NOWHERE outwards. */
static void
check_callers (const Store *store, StackId stack, ProcessId process)
{
  for (unsigned i = 0; i < 7; i++, stack = store->stacks.parent[stack])
    check_entry (store, stack, ADDRESS_USER, CODE + 0x1000 * (i + 1));
  g_assert_cmpuint (stack, ==, process);
}

static void
test_contexts (void)
{
  static const uint64_t calls[] = { CODE, NOWHERE + 16 },
                        calls_other[] = { CODE + 8, NOWHERE + 16 };
  static const uint64_t enters[] = { IN_KERNEL, KERNEL, IN_USER };
  static const uint64_t another[] = { CODE + 64, CODE + 128 };
  SysprofCaptureFileHeader header = {
    .magic = GUINT32_FROM_LE (0xfdca975e),
    .version = 1,
    .little_endian = G_BYTE_ORDER == G_LITTLE_ENDIAN,
    .capture_time = "2026-01-01T00:00:00Z",
    .time = 1,
    .end_time = 100,
  };
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (Store) store = NULL;
  autofd fd = memfd_create ("callers", MFD_CLOEXEC);
  const StackTree *stacks;
  ProcessId process;
  StackId at;

  g_byte_array_append (bytes, (const uint8_t *) &header, sizeof header);
  add_map (bytes);
  add_deep_sample (bytes, 10, calls, G_N_ELEMENTS (calls));
  add_sample (bytes, 20, another, G_N_ELEMENTS (another));
  add_deep_sample (bytes, 30, enters, G_N_ELEMENTS (enters));
  add_sample (bytes, 40, another + 1, 1);
  add_deep_sample (bytes, 50, calls_other, G_N_ELEMENTS (calls_other));
  g_assert_cmpint (write (fd, bytes->data, bytes->len), ==, (ssize_t) bytes->len);

  store = sysprof_store_open_fd (fd, "callers", NULL, &error);
  g_assert_no_error (error);
  check_store (store);
  g_assert_cmpuint (store->samples.n, ==, 5);
  stacks = &store->stacks;
  process = store->samples.process[0];

  /* Two callers in turn where nothing is are one. */
  for (unsigned i = 0; i < 2; i++)
    {
      at = store->samples.stack[i * 4];
      check_entry (store, at, ADDRESS_USER, i == 0 ? CODE : CODE + 8);
      at = stacks->parent[at];
      check_entry (store, at, ADDRESS_UNMAPPED, 0);
      check_callers (store, stacks->parent[at], process);
    }
  g_assert_cmpuint (stacks->parent[store->samples.stack[0]], ==,
                    stacks->parent[store->samples.stack[4]]);

  at = store->samples.stack[2];
  check_entry (store, at, ADDRESS_KERNEL, KERNEL);
  at = stacks->parent[at];
  check_entry (store, at, ADDRESS_USER, NOWHERE);
  check_callers (store, stacks->parent[at], process);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/store/callers/contexts", test_contexts);
  return g_test_run ();
}
