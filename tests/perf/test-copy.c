// SPDX-License-Identifier: GPL-3.0-or-later

/* Samples with registers and a copy of the stack, built by hand as perf_event_open(2) and the
 * kernel's <asm/perf_regs.h> define them. Each is in memory of exactly its size, so that the
 * address sanitizer detects reads beyond it. */

#include "perf/copy.h"
#include "perf/decode.h"

#include <asm/perf_regs.h>
#include <fcntl.h>
#include <glib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TIME       1000000007
#define N_ASKED    17 /* registers */
#define KERNEL_IP  UINT64_C (0xffffffff81000010)
#define STACK_SIZE 256

typedef struct
{
  PerfDecoder decoder;
  ProcessLog log;
  int fd;
  GByteArray *record;

  /* Of the last sample that was taken over. */
  unsigned n_taken;
  WalkedSample taken;
  WalkRest rest;
  uint8_t stack[65536];
} Fixture;

static bool
take_over (const WalkedSample *sample, void *data)
{
  Fixture *self = data;

  self->n_taken++;
  self->taken = *sample;
  self->rest = *sample->rest;
  memcpy (self->stack, sample->stack, sample->rest->size);
  return true;
}

static void
set_up (Fixture *self, gconstpointer data)
{
  self->fd = memfd_create ("copy", MFD_CLOEXEC);
  g_assert_cmpint (self->fd, >=, 0);
  self->decoder = (PerfDecoder){
    .writer = sysprof_capture_writer_new_from_fd (fcntl (self->fd, F_DUPFD_CLOEXEC, 3), 0),
    .log = &self->log,
    .has_chains = true,
    .has_copies = true,
    .take_unfinished = take_over,
    .take_data = self,
  };
  self->record = g_byte_array_new ();
}

static void
tear_down (Fixture *self, gconstpointer data)
{
  sysprof_capture_writer_unref (self->decoder.writer);
  sysprof_process_log_clear (&self->log);
  g_byte_array_unref (self->record);
  (void) close (self->fd);
}

static void
put_u64 (Fixture *self, uint64_t value)
{
  g_byte_array_append (self->record, (const uint8_t *) &value, sizeof value);
}

static void
begin (Fixture *self, uint16_t misc)
{
  const struct perf_event_header header = { PERF_RECORD_SAMPLE, misc, 0 };

  g_byte_array_set_size (self->record, 0);
  g_byte_array_append (self->record, (const uint8_t *) &header, sizeof header);
  put_u64 (self, misc == PERF_RECORD_MISC_KERNEL ? KERNEL_IP : 0x401000);
  put_u64 (self, (uint64_t) 346 << 32 | 345);
  put_u64 (self, TIME);
  if (misc == PERF_RECORD_MISC_KERNEL)
    {
      put_u64 (self, 2);
      put_u64 (self, (uint64_t) PERF_CONTEXT_KERNEL);
      put_u64 (self, KERNEL_IP);
    }
  else
    put_u64 (self, 0);
}

/* Register number N of the kernel has the value 1000 + N. */
static void
put_registers (Fixture *self, uint64_t abi)
{
  put_u64 (self, abi);
  for (unsigned i = 0; i < 64 && abi != PERF_SAMPLE_REGS_ABI_NONE; i++)
    if ((PERF_COPY_REGISTERS >> i & 1) != 0)
      put_u64 (self, 1000 + i);
}

static void
put_stack (Fixture *self, uint64_t size, uint64_t copied)
{
  put_u64 (self, size);
  for (uint64_t i = 0; i < size; i += 8)
    put_u64 (self, i);
  if (size > 0)
    put_u64 (self, copied);
}

/* The first `size` bytes of the data. */
static void
decode (Fixture *self, size_t size)
{
  g_autofree uint8_t *bytes = g_memdup2 (self->record->data, size);
  struct perf_event_header header;

  memcpy (&header, bytes, sizeof header);
  header.size = (uint16_t) size;
  memcpy (bytes, &header, sizeof header);
  sysprof_perf_decode ((const void *) bytes, &self->decoder);
}

/* The user's part of the only sample, and the reason behind it, or "". */
static void
assert_written (Fixture *self, const uint64_t *addresses, unsigned n, const char *marker)
{
  SysprofCaptureReader *reader;
  const SysprofCaptureSample *sample;
  SysprofCaptureFrameType type;

  g_assert_true (sysprof_capture_writer_flush (self->decoder.writer));
  reader = sysprof_capture_reader_new_from_fd (fcntl (self->fd, F_DUPFD_CLOEXEC, 3));
  g_assert_true (sysprof_capture_reader_peek_type (reader, &type));
  if (*marker != '\0')
    {
      const SysprofCaptureJitmap *names;

      g_assert_cmpint (type, ==, SYSPROF_CAPTURE_FRAME_JITMAP);
      names = sysprof_capture_reader_read_jitmap (reader);
      g_assert_nonnull (names);
      g_assert_cmpstr ((const char *) names->data + sizeof (uint64_t), ==, marker);
    }
  sample = sysprof_capture_reader_read_sample (reader);
  g_assert_nonnull (sample);
  g_assert_cmpint (sample->frame.time, ==, TIME);
  g_assert_cmpint (sample->n_addrs, ==, n + (*marker != '\0'));
  g_assert_cmpmem (sample->addrs, n * sizeof *addresses, addresses, n * sizeof *addresses);
  sysprof_capture_reader_unref (reader);
}

static void
test_registers_and_copy_are_taken_over (Fixture *self, gconstpointer data)
{
  static const unsigned by_dwarf[16] = {
    PERF_REG_X86_AX,  PERF_REG_X86_DX,  PERF_REG_X86_CX,  PERF_REG_X86_BX,
    PERF_REG_X86_SI,  PERF_REG_X86_DI,  PERF_REG_X86_BP,  PERF_REG_X86_SP,
    PERF_REG_X86_R8,  PERF_REG_X86_R9,  PERF_REG_X86_R10, PERF_REG_X86_R11,
    PERF_REG_X86_R12, PERF_REG_X86_R13, PERF_REG_X86_R14, PERF_REG_X86_R15,
  };

  g_assert_cmpint (__builtin_popcountll (PERF_COPY_REGISTERS), ==, N_ASKED);
  begin (self, PERF_RECORD_MISC_KERNEL);
  put_registers (self, PERF_SAMPLE_REGS_ABI_64);
  put_stack (self, STACK_SIZE, 200);
  decode (self, self->record->len);

  g_assert_cmpuint (self->n_taken, ==, 1);
  g_assert_cmpint (self->taken.pid, ==, 345);
  g_assert_cmpint (self->taken.tid, ==, 346);
  g_assert_cmpuint (self->taken.n_kernel, ==, 2);
  g_assert_cmpuint (self->taken.n_user, ==, 1);
  g_assert_cmpuint (self->rest.ip, ==, 1000 + PERF_REG_X86_IP);
  g_assert_cmpuint (self->rest.sp, ==, 1000 + PERF_REG_X86_SP);
  g_assert_cmpuint (self->rest.fp, ==, 1000 + PERF_REG_X86_BP);
  g_assert_cmpuint (self->rest.flags, ==, WALK_REST_IS_EXACT | WALK_REST_HAS_REGISTERS);
  for (unsigned i = 0; i < 16; i++)
    g_assert_cmpuint (self->rest.registers[i], ==, 1000 + by_dwarf[i]);
  g_assert_cmpuint (self->rest.size, ==, 200);
  g_assert_false (self->taken.is_cut);
  for (uint64_t i = 0; i < 200; i += 8)
    g_assert_cmpmem (self->stack + i, 8, &i, 8);

  begin (self, PERF_RECORD_MISC_USER);
  put_registers (self, PERF_SAMPLE_REGS_ABI_64);
  put_stack (self, STACK_SIZE, STACK_SIZE);
  decode (self, self->record->len);
  g_assert_cmpuint (self->n_taken, ==, 2);
  g_assert_true (self->taken.is_cut);
  g_assert_cmpuint (self->decoder.n_dropped_samples, ==, 0);
}

static void
test_what_nobody_takes_is_cut_behind_its_first_address (Fixture *self, gconstpointer data)
{
  const uint64_t expected[] = { (uint64_t) PERF_CONTEXT_USER, 1000 + PERF_REG_X86_IP };

  self->decoder.take_unfinished = NULL;
  begin (self, PERF_RECORD_MISC_USER);
  put_registers (self, PERF_SAMPLE_REGS_ABI_64);
  put_stack (self, STACK_SIZE, STACK_SIZE);
  decode (self, self->record->len);
  g_assert_cmpuint (self->decoder.n_walks[WALK_OVERLOAD], ==, 1);
  assert_written (self, expected, G_N_ELEMENTS (expected), "[stack truncated: overload]");
}

static void
test_a_32_bit_program_is_cut (Fixture *self, gconstpointer data)
{
  const uint64_t expected[] = { (uint64_t) PERF_CONTEXT_USER, 1000 + PERF_REG_X86_IP };

  begin (self, PERF_RECORD_MISC_USER);
  put_registers (self, PERF_SAMPLE_REGS_ABI_32);
  put_stack (self, STACK_SIZE, STACK_SIZE);
  decode (self, self->record->len);
  g_assert_cmpuint (self->n_taken, ==, 0);
  assert_written (self, expected, G_N_ELEMENTS (expected), "[stack truncated: compat]");
}

static void
test_the_kernels_own_threads_are_whole (Fixture *self, gconstpointer data)
{
  const uint64_t expected[] = { (uint64_t) PERF_CONTEXT_KERNEL, KERNEL_IP };

  begin (self, PERF_RECORD_MISC_KERNEL);
  put_registers (self, PERF_SAMPLE_REGS_ABI_NONE);
  put_stack (self, 0, 0);
  decode (self, self->record->len);
  g_assert_cmpuint (self->n_taken, ==, 0);
  g_assert_cmpuint (self->decoder.n_walks[WALK_KERNEL_THREAD], ==, 1);
  assert_written (self, expected, G_N_ELEMENTS (expected), "");
}

/* The kernel works for a program whose stack is gone, or not there yet. In the program itself such a stack is a fault. */
static void
test_nothing_could_be_copied (Fixture *self, gconstpointer data)
{
  const uint64_t expected[] = { (uint64_t) PERF_CONTEXT_KERNEL, KERNEL_IP };

  begin (self, PERF_RECORD_MISC_USER);
  put_registers (self, PERF_SAMPLE_REGS_ABI_64);
  put_stack (self, STACK_SIZE, 0);
  decode (self, self->record->len);
  g_assert_cmpuint (self->n_taken, ==, 1);
  g_assert_cmpuint (self->rest.size, ==, 0);
  g_assert_false (self->taken.is_cut);

  begin (self, PERF_RECORD_MISC_KERNEL);
  put_registers (self, PERF_SAMPLE_REGS_ABI_64);
  put_stack (self, STACK_SIZE, 0);
  decode (self, self->record->len);
  g_assert_cmpuint (self->n_taken, ==, 1);
  g_assert_cmpuint (self->decoder.n_walks[WALK_IN_EXEC], ==, 1);
  assert_written (self, expected, G_N_ELEMENTS (expected), "");
}

static void
test_sizes_that_lie_are_refused (Fixture *self, gconstpointer data)
{
  static const uint64_t sizes[] = { STACK_SIZE + 8, STACK_SIZE + 16, 65536,
                                    UINT64_MAX,     UINT64_MAX - 7,  UINT64_C (1) << 63 };
  unsigned n_refused = 0;

  for (size_t i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      size_t at;

      begin (self, PERF_RECORD_MISC_USER);
      put_registers (self, PERF_SAMPLE_REGS_ABI_64);
      at = self->record->len;
      put_stack (self, STACK_SIZE, STACK_SIZE);
      memcpy (self->record->data + at, &sizes[i], sizeof sizes[i]);
      decode (self, self->record->len);
      g_assert_cmpuint (self->decoder.n_dropped_samples, ==, ++n_refused);

      begin (self, PERF_RECORD_MISC_USER);
      put_registers (self, PERF_SAMPLE_REGS_ABI_64);
      put_stack (self, STACK_SIZE, sizes[i]);
      decode (self, self->record->len);
      g_assert_cmpuint (self->decoder.n_dropped_samples, ==, ++n_refused);

      begin (self, PERF_RECORD_MISC_USER);
      put_registers (self, sizes[i]); /* an ABI that there is not */
      put_stack (self, STACK_SIZE, STACK_SIZE);
      decode (self, self->record->len);
      g_assert_cmpuint (self->decoder.n_dropped_samples, ==, ++n_refused);
    }
  g_assert_cmpuint (self->n_taken, ==, 0);
}

static void
test_records_that_are_too_short_are_refused (Fixture *self, gconstpointer data)
{
  unsigned n = 0;

  begin (self, PERF_RECORD_MISC_KERNEL);
  put_registers (self, PERF_SAMPLE_REGS_ABI_64);
  put_stack (self, STACK_SIZE, STACK_SIZE);
  for (size_t size = sizeof (struct perf_event_header); size < self->record->len; size += 8)
    {
      decode (self, size);
      g_assert_cmpuint (self->decoder.n_dropped_samples, ==, ++n);
    }
  g_assert_cmpuint (self->n_taken, ==, 0);
}

#define ADD(name, func) g_test_add ("/perf/copy/" name, Fixture, NULL, set_up, func, tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD ("taken-over", test_registers_and_copy_are_taken_over);
  ADD ("nobody-takes", test_what_nobody_takes_is_cut_behind_its_first_address);
  ADD ("32-bits", test_a_32_bit_program_is_cut);
  ADD ("kernel-threads", test_the_kernels_own_threads_are_whole);
  ADD ("nothing-copied", test_nothing_could_be_copied);
  ADD ("sizes-that-lie", test_sizes_that_lie_are_refused);
  ADD ("too-short", test_records_that_are_too_short_are_refused);
  return g_test_run ();
}
