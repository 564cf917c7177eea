// SPDX-License-Identifier: GPL-3.0-or-later

/* A program that is interrupted again and again. Its signal handler unwinds the stack of the
 * interrupted thread, and the result must equal the program's own list of active functions. It
 * is linked with the workload, which is compiled in several ways, and runs on the machine that
 * it was built for, or under an emulator.
 *
 *     walk-self [--signed] [--dump FILE]
 *
 * --signed: fails unless some return addresses carry a signature. --dump: writes the first
 * stacks in the format of walk-dump, with an `expect` line for each, so that another machine
 * can unwind them. */

#include "truth-compare.h"

#include "make-elf.h"
#include "unwind/unwind.h"
#include "util/util.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define N_SAMPLES      800u
#define MOST_ADDRESSES 8000u
#define MOST_WORDS     (16u << 20) /* of all stacks together */
#define MOST_MAPPINGS  512u
#define N_DUMPED       500u
#define DUMP_SIZE      16384u /* bytes of a stack */
#define SIGNAL         SIGRTMIN

int workload_main (void);

typedef struct
{
  WalkReason reason;
  uint32_t used;
  size_t n;
  uint64_t *address;
  TruthCopy truth;
  uint64_t registers[33]; /* by DWARF number; the last is the address of the instruction */
  size_t dumped;          /* bytes of the stack */
  uint8_t stack[DUMP_SIZE];
} Sample;

typedef struct
{
  uint64_t start;
  uint64_t end;
  uint64_t offset;
  char path[256];
  bool is_executable;
} Mapping;

static Mapping mapping[MOST_MAPPINGS];
static size_t n_mappings;
static const UnwindMemory *memory;
static uint64_t code_mask;
static Sample *sample; /* [N_SAMPLES] */
static size_t n_samples;
static uint64_t *words; /* [MOST_WORDS] */
static size_t n_words;
static uint64_t n_signed;
static size_t n_crashes;
static sem_t is_taken;
static sigjmp_buf crashed;
static volatile sig_atomic_t is_walking;
static int to_workload; /* its standard input ends when this is closed */

/* --- in the handler --- */

#ifdef __aarch64__
#  define IP 32
#  define SP 31
#  define FP 29
#else
#  define IP 16
#  define SP 7
#  define FP 6
#endif

static void
take_registers (const ucontext_t *context, uint64_t *registers)
{
#ifdef __aarch64__
  for (unsigned i = 0; i < 31; i++)
    registers[i] = context->uc_mcontext.regs[i];
  registers[SP] = context->uc_mcontext.sp;
  registers[IP] = context->uc_mcontext.pc;
#else
  static const uint8_t place[17] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                     REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                     REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP };

  for (unsigned i = 0; i < 17; i++)
    registers[i] = (uint64_t) context->uc_mcontext.gregs[place[i]];
#endif
}

static const Mapping *
find_mapping (uint64_t address)
{
  for (size_t i = 0; i < n_mappings; i++)
    if (address >= mapping[i].start && address < mapping[i].end)
      return &mapping[i];
  return NULL;
}

static void
copy_stack (Sample *self)
{
  const Mapping *stack = find_mapping (self->registers[SP]);
  uint64_t left = stack != NULL ? stack->end - self->registers[SP] : 0;

  self->dumped = left < DUMP_SIZE ? left : DUMP_SIZE;
  memcpy (self->stack, (const void *) self->registers[SP], self->dumped);
  for (size_t i = 0; i + 8 <= self->dumped; i += 8)
    {
      uint64_t word;
      const Mapping *code;

      memcpy (&word, self->stack + i, sizeof word);
      code = word == (word & code_mask) ? NULL : find_mapping (word & code_mask);
      n_signed += code != NULL && code->is_executable;
    }
}

static void
take_truth (TruthCopy *truth)
{
  const TruthHead *list = (const TruthHead *) TRUTH_AT ((unsigned) syscall (SYS_gettid));
  const unsigned short *ids = (const unsigned short *) (list + 1);
  unsigned first = list->n > TRUTH_COPIED ? list->n - TRUTH_COPIED : 0;

  truth->head = *list;
  memcpy (truth->id, ids + first, sizeof truth->id);
}

static void
on_crash (int number)
{
  if (!is_walking)
    abort ();
  siglongjmp (crashed, 1);
}

static void
on_sample (int number, siginfo_t *info, void *context)
{
  /* All memory; what is not there is a crash, and counted. */
  const UnwindStack stack = { .size = SIZE_MAX };
  Sample *self = &sample[n_samples];
  uint8_t code[8];
  UnwindStart start;
  UnwindWalk walk;

  take_registers (context, self->registers);
  take_truth (&self->truth);
  copy_stack (self);
  memcpy (code, (const void *) (self->registers[IP] - 1), sizeof code);
  start = (UnwindStart){
    .ip = self->registers[IP],
    .sp = self->registers[SP],
    .fp = self->registers[FP],
    .lr = self->registers[30],
    .is_exact = true,
    .is_arm64 = UNWIND_IS_ARM64,
    .code_mask = code_mask,
    .registers = self->registers,
    .code = code,
  };

  self->address = words + n_words;
  is_walking = 1;
  if (sigsetjmp (crashed, 1) == 0)
    {
      walk = sysprof_unwind_walk (memory, (uint32_t) getpid (), &start, &stack, self->address,
                                  MOST_ADDRESSES);
    }
  else
    {
      walk = (UnwindWalk){ .reason = WALK_FAULT };
      n_crashes++;
    }
  is_walking = 0;
  self->reason = walk.reason;
  self->used = walk.used;
  self->n = walk.n;
  n_words += walk.n;
  n_samples++;
  sem_post (&is_taken);
}

/* --- tables of ourselves --- */

static void
read_mappings (void)
{
  g_autofree char *maps = NULL;
  g_auto (GStrv) lines = NULL;

  g_assert_true (g_file_get_contents ("/proc/self/maps", &maps, NULL, NULL));
  lines = g_strsplit (maps, "\n", -1);
  for (char **line = lines; *line != NULL && n_mappings < MOST_MAPPINGS; line++)
    {
      Mapping *self = &mapping[n_mappings];
      char rights[5];

      self->path[0] = 0;
      if (sscanf (*line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %255s", &self->start,
                  &self->end, rights, &self->offset, self->path) < 4)
        continue;
      self->is_executable = rights[2] == 'x';
      n_mappings++;
    }
}

/* An emulator may have the code that signal handlers return to on a page that is no file's. As
 * on a real machine such code is found in the file that the vDSO is, we make a file. Handlers'
 * return addresses are looked up a byte before. */
static ElfImage *
make_image (Mapping *self)
{
  uint8_t *text = calloc (1, TEXT_SIZE);
  uint64_t size = self->end - self->start;
  uint8_t *file;
  size_t file_size;
  ElfImage *image;

  g_assert_cmpuint (size, <=, TEXT_SIZE - 4096);
  memcpy (text + 4096, (const void *) self->start, size);
  file = make_elf (text, NULL, 0, 0, UNWIND_IS_ARM64 ? EM_AARCH64 : EM_X86_64, &file_size);
  free (text);
  g_assert_cmpint (sysprof_elf_image_open_memory (file, file_size, &image), ==, ELF_OK);
  self->start -= 4096;
  self->offset = file_size - TEXT_SIZE;
  return image; /* the file stays */
}

static void
add_table (UnwindPublisher *publisher, Mapping *self, UnwindProcessMapping *to)
{
  autofd fd = self->path[0] == '/' ? open (self->path, O_RDONLY | O_CLOEXEC) : -1;
  ElfImage *image = NULL;
  UnwindTable table;

  if (fd >= 0)
    (void) sysprof_elf_image_open (fd, &image);
  else if (memcmp ((const void *) self->start, ELFMAG, SELFMAG) == 0)
    (void) sysprof_elf_image_open_memory ((const void *) self->start, self->end - self->start,
                                          &image);
  else if (self->path[0] == 0)
    image = make_image (self);

  *to = (UnwindProcessMapping){ .start = self->start, .end = self->end };
  if (image == NULL)
    return;
  if (sysprof_unwind_table_build (image, NULL, &table) == ELF_OK)
    {
      if (sysprof_unwind_table_bias (&table, self->start, self->end, self->offset, &to->bias))
        to->file = sysprof_unwind_publisher_add_table (publisher, &table, 0);
      sysprof_unwind_table_clear (&table);
    }
  sysprof_elf_image_free (image);
}

static void
publish (void)
{
  UnwindPublisher *publisher =
      sysprof_unwind_publisher_new (g_new0 (UnwindIndex, 1), NULL, NULL);
  UnwindProcessMapping executable[MOST_MAPPINGS];
  uint32_t n = 0;

  read_mappings ();
  for (size_t i = 0; i < n_mappings; i++)
    if (mapping[i].is_executable && mapping[i].start >> 63 == 0)
      add_table (publisher, &mapping[i], &executable[n++]);
  g_assert_true (
      sysprof_unwind_publisher_set_process (publisher, (uint32_t) getpid (), executable, n, 0));
  memory = sysprof_unwind_publisher_get_memory (publisher);
}

/* --- the thread that interrupts --- */

static void *
interrupt (void *data)
{
  g_autoptr (GArray) threads = NULL;
  char answer[6];
  sigset_t timer;
  guint next = 0;

  /* Its handler wants a list. */
  sigemptyset (&timer);
  sigaddset (&timer, SIGPROF);
  pthread_sigmask (SIG_BLOCK, &timer, NULL);
  /* "ready" */
  g_assert_cmpint (read (GPOINTER_TO_INT (data), answer, sizeof answer), ==, sizeof answer);
  publish ();
  threads = list_threads (getpid ());
  while (n_samples < N_SAMPLES && n_words + MOST_ADDRESSES < MOST_WORDS)
    {
      pid_t thread = g_array_index (threads, pid_t, next++ % threads->len);

      if (thread == getpid () || find_mapping (TRUTH_AT ((unsigned) thread)) == NULL)
        continue; /* an emulator's, or ours */
      g_assert_cmpint (syscall (SYS_tgkill, getpid (), thread, SIGNAL), ==, 0);
      while (sem_wait (&is_taken) != 0)
        continue;
    }
  close (to_workload);
  return NULL;
}

static void
run_workload (void)
{
  struct sigaction sampling = { .sa_sigaction = on_sample,
                                .sa_flags = SA_SIGINFO | SA_RESTART };
  struct sigaction crash = { .sa_handler = on_crash, .sa_flags = SA_NODEFER };
  pthread_t thread;
  int input[2], output[2], saved;

  g_assert_cmpint (pipe (input), ==, 0);
  g_assert_cmpint (pipe (output), ==, 0);
  saved = dup (1);
  dup2 (input[0], 0);
  dup2 (output[1], 1);
  to_workload = input[1];
  code_mask = sysprof_walk_code_mask ();
  sem_init (&is_taken, 0, 0);

  sigfillset (&sampling.sa_mask);
  sigdelset (&sampling.sa_mask, SIGSEGV);
  sigdelset (&sampling.sa_mask, SIGBUS);
  sigaction (SIGNAL, &sampling, NULL);
  sigaction (SIGSEGV, &crash, NULL);
  sigaction (SIGBUS, &crash, NULL);
  g_assert_cmpint (pthread_create (&thread, NULL, interrupt, GINT_TO_POINTER (output[0])), ==,
                   0);
  g_assert_cmpint (workload_main (), ==, 0);
  pthread_join (thread, NULL);
  dup2 (saved, 1);
}

/* --- afterwards --- */

static void
dump (const char *path)
{
  FILE *out = fopen (path, "we");

  g_assert_nonnull (out);
  fprintf (out, "machine %s %" PRIx64 "\n", UNWIND_IS_ARM64 ? "arm64" : "x86-64", code_mask);
  for (size_t i = 0; i < n_mappings; i++)
    if (mapping[i].is_executable && mapping[i].path[0] == '/')
      fprintf (out, "map %" PRIx64 " %" PRIx64 " %" PRIx64 " %s\n", mapping[i].start,
               mapping[i].end, mapping[i].offset, mapping[i].path);
  for (size_t i = 0; i < n_samples && i < N_DUMPED; i++)
    {
      const Sample *self = &sample[i];
      const uint8_t *code = (const uint8_t *) (self->registers[IP] - 1);

      fputs ("regs", out);
      for (unsigned j = 0; j <= IP; j++)
        fprintf (out, " %" PRIx64, self->registers[j]);
      fputs ("\ncode ", out);
      for (unsigned j = 0; j < 8; j++)
        fprintf (out, "%02x", code[j]);
      fprintf (out, "\nstack %" PRIx64 " ", self->registers[SP]);
      for (size_t j = 0; j < self->dumped; j++)
        fprintf (out, "%02x", self->stack[j]);
      fprintf (out, "\nexpect %u %u", self->reason, self->used);
      for (size_t j = 0; j < self->n; j++)
        fprintf (out, " %" PRIx64, self->address[j]);
      fputc ('\n', out);
    }
  g_assert_cmpint (fclose (out), ==, 0);
}

/* Where an incomplete walk ended: the file, and the link-time address in it. */
static void
tell_end (const Sample *self)
{
  uint64_t address = self->address[self->n - 1];
  const Mapping *code = find_mapping (address);

  g_test_message ("%s after %zu functions, at %s+%" PRIx64,
                  sysprof_walk_reason_to_string (self->reason), self->n,
                  code != NULL ? code->path : "?",
                  code != NULL ? address - code->start + code->offset : address);
}

static void
compare_all (Comparison *self)
{
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  unsigned n_told = 0;

  find_functions (self, program, getpid ());
  for (size_t i = 0; i < n_samples; i++)
    {
      TruthSample one = { .reason = sample[i].reason,
                          .n = (unsigned) sample[i].n,
                          .address = sample[i].address,
                          .truth = sample[i].truth };

      compare_sample (self, &one);
      if (!sysprof_walk_reason_is_whole (one.reason) && n_told++ < 10)
        tell_end (&sample[i]);
    }
  tell_comparison (self);
}

int
main (int argc, char **argv)
{
  Comparison *self = g_new0 (Comparison, 1);
  const char *dump_path = NULL;
  bool wants_signed = false;

  for (int i = 1; i < argc; i++)
    if (g_str_equal (argv[i], "--signed"))
      wants_signed = true;
    else if (g_str_equal (argv[i], "--dump") && i + 1 < argc)
      dump_path = argv[++i];
    else
      return 2;

  sample = g_new0 (Sample, N_SAMPLES);
  words = g_new0 (uint64_t, MOST_WORDS);
  run_workload ();
  if (dump_path != NULL)
    dump (dump_path);

  g_test_init (&argc, &argv, NULL);
  compare_all (self);
  g_test_message ("mask %" PRIx64 ", %" PRIu64 " signed addresses, %zu crashes", code_mask,
                  n_signed, n_crashes);
  g_assert_cmpuint (n_crashes, ==, 0);
  g_assert_true (!wants_signed || n_signed > 0);
  g_assert_cmpuint (n_samples, ==, N_SAMPLES);
  g_assert_cmpuint (self->n_unsettled, <, n_samples / 20);
  /* The last instructions of longjmp() stand on no stack. */
  g_assert_cmpuint (self->n_whole * 1000, >=, (n_samples - self->n_unsettled) * 995);
  return 0;
}
