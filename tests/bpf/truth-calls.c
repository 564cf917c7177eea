// SPDX-License-Identifier: GPL-3.0-or-later

/* Calls that are not a plain call and return: tail calls, the stub that resolves a function of
 * a library on its first call, calls and closures of libffi, assembly without call-frame
 * information, switched stacks, threads that start and end, and a process that borrows the
 * stack. */

#include "truth-list.h"

#include <ffi.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>

static volatile unsigned sink;
static volatile int is_over;

KEEP static unsigned
listed1_leaf (unsigned x)
{
  TRUTH_ENTER (1);
  for (unsigned i = 0; i < 60; i++)
    sink += x * 7 + i;
  LEAVE ();
  return sink;
}

/* --- calls in the tail --- */

KEEP static unsigned
listed2_last (unsigned x, unsigned y)
{
  unsigned result;

  TRUTH_ENTER (2);
  result = listed1_leaf (x) + y;
  LEAVE ();
  return result;
}

KEEP static unsigned
listed3_jumps_to_last (unsigned x)
{
  unsigned result;

  TRUTH_ENTER (3);
  result = listed1_leaf (x) + listed1_leaf (x + 1);
  LEAVE ();
  return listed2_last (result, x);
}

KEEP static unsigned
listed4_tails (unsigned x)
{
  unsigned result;

  TRUTH_ENTER (4);
  result = listed3_jumps_to_last (x) + 1;
  LEAVE ();
  return result;
}

/* --- the stub that looks for a function --- */

extern ElfW (Dyn) _DYNAMIC[];

#define FIRST_STUB 3
#define MOST_STUBS 128

static uintptr_t stubs[MOST_STUBS];
static uintptr_t *offset_table;
static size_t n_stubs;

static void
keep_stubs (void)
{
  __asm__("lea _GLOBAL_OFFSET_TABLE_(%%rip), %0" : "=r"(offset_table));
  for (const ElfW (Dyn) *entry = _DYNAMIC; entry->d_tag != DT_NULL; entry++)
    if (entry->d_tag == DT_PLTRELSZ)
      n_stubs = entry->d_un.d_val / sizeof (ElfW (Rela));
  if (n_stubs == 0 || n_stubs > MOST_STUBS)
    abort ();
  memcpy (stubs, offset_table + FIRST_STUB, n_stubs * sizeof *stubs);
}

/* Everything is as it was before the first call. */
static void
forget_functions (void)
{
  for (size_t i = 0; i < n_stubs; i++)
    __atomic_store_n (&offset_table[FIRST_STUB + i], stubs[i], __ATOMIC_RELAXED);
}

KEEP static unsigned
listed5_find_functions (unsigned x)
{
  unsigned result = 0;

  TRUTH_ENTER (5);
  for (unsigned i = 0; i < 10; i++)
    {
      forget_functions ();
      result += (unsigned) getppid () + (unsigned) abs ((int) x) + (unsigned) ffs ((int) x);
    }
  LEAVE ();
  return result;
}

/* --- libffi --- */

KEEP static void
listed6_called_back (ffi_cif *cif, void *result, void **arguments, void *data)
{
  TRUTH_ENTER (6);
  *(ffi_arg *) result = listed1_leaf (**(unsigned **) arguments) & 15;
  LEAVE ();
}

KEEP static unsigned
listed7_call_through_ffi (unsigned x)
{
  static ffi_cif cif;
  static ffi_type *types[] = { &ffi_type_uint };
  static ffi_closure *closure;
  static void *code;
  void *arguments[] = { &x };
  ffi_arg result = 0;

  TRUTH_ENTER (7);
  if (closure == NULL &&
      (ffi_prep_cif (&cif, FFI_DEFAULT_ABI, 1, &ffi_type_uint, types) != FFI_OK ||
       (closure = ffi_closure_alloc (sizeof *closure, &code)) == NULL ||
       ffi_prep_closure_loc (closure, &cif, listed6_called_back, NULL, code) != FFI_OK))
    abort ();
  ffi_call (&cif, FFI_FN (listed1_leaf), &result, arguments);
  ffi_call (&cif, (void (*) (void)) code, &result, arguments);
  result += ((unsigned (*) (unsigned)) code) (x);
  LEAVE ();
  return (unsigned) result;
}

/* --- assembly without rules --- */

unsigned truth_saves_registers (unsigned (*function) (unsigned), unsigned argument);
unsigned truth_has_frame_pointer (unsigned (*function) (unsigned), unsigned argument);
unsigned truth_aligns_stack (unsigned (*function) (unsigned), unsigned argument);
unsigned truth_loops (unsigned (*function) (unsigned), unsigned argument);

/* As people write it by hand: nothing tells how to get out of it. */
__asm__(".text\n"
        ".p2align 4\n"
        ".globl truth_saves_registers\n"
        ".type truth_saves_registers, @function\n"
        "truth_saves_registers:\n"
        "push %rbx\n"
        "push %r12\n"
        "sub $0x48, %rsp\n"
        "mov %rdi, %rbx\n"
        "mov %esi, %r12d\n"
        "mov %rsi, 8(%rsp)\n"
        "mov %r12d, %edi\n"
        "call *%rbx\n"
        "test %eax, %eax\n"
        "je 1f\n"
        "lea 1(%r12), %edi\n"
        "call *%rbx\n"
        "1: add $0x48, %rsp\n"
        "pop %r12\n"
        "pop %rbx\n"
        "ret\n"
        ".size truth_saves_registers, . - truth_saves_registers\n"

        ".p2align 4\n"
        ".globl truth_has_frame_pointer\n"
        ".type truth_has_frame_pointer, @function\n"
        "truth_has_frame_pointer:\n"
        "push %rbp\n"
        "mov %rsp, %rbp\n"
        "push %r13\n"
        "push %r13\n"
        "mov %rdi, %r13\n"
        "mov %esi, %edi\n"
        "call *%r13\n"
        "lea -8(%rbp), %rsp\n"
        "pop %r13\n"
        "pop %rbp\n"
        "ret\n"
        ".size truth_has_frame_pointer, . - truth_has_frame_pointer\n"

        ".p2align 4\n"
        ".globl truth_aligns_stack\n"
        ".type truth_aligns_stack, @function\n"
        "truth_aligns_stack:\n"
        "push %rbp\n"
        "mov %rsp, %rbp\n"
        "sub $0x200, %rsp\n"
        "and $-64, %rsp\n"
        "mov %rdi, %rax\n"
        "mov %esi, %edi\n"
        "call *%rax\n"
        "mov %rbp, %rsp\n"
        "pop %rbp\n"
        "ret\n"
        ".size truth_aligns_stack, . - truth_aligns_stack\n"

        /* With the frame pointer as a number, as where registers are short. */
        ".p2align 4\n"
        ".globl truth_loops\n"
        ".type truth_loops, @function\n"
        "truth_loops:\n"
        "push %rbp\n"
        "push %rbx\n"
        "push %r14\n"
        "mov %rdi, %rbx\n"
        "mov %esi, %r14d\n"
        "mov $3, %ebp\n"
        "1: mov %r14d, %edi\n"
        "call *%rbx\n"
        "mov $200, %ecx\n"
        "2: dec %ecx\n"
        "jne 2b\n"
        "dec %ebp\n"
        "jne 1b\n"
        "pop %r14\n"
        "pop %rbx\n"
        "pop %rbp\n"
        "ret\n"
        ".size truth_loops, . - truth_loops\n");

KEEP static unsigned
listed8_call_assembly (unsigned x)
{
  unsigned result;

  TRUTH_ENTER (8);
  result = truth_saves_registers (listed1_leaf, x);
  result += truth_has_frame_pointer (listed1_leaf, x);
  result += truth_aligns_stack (listed1_leaf, x);
  result += truth_loops (listed1_leaf, x);
  LEAVE ();
  return result;
}

/* --- stacks that are switched --- */

#define CONTEXT_STACK (256 << 10)
#define MOST_OUTER    64

static __thread ucontext_t caller_context, routine_context;
static __thread uint16_t outer[MOST_OUTER], inner[MOST_OUTER];
static __thread unsigned n_outer, n_inner;

/* Lists what is on the other stack, whose bottom is that stack's own. */
static void
swap_lists (uint16_t *mine_now, unsigned *n_now, const uint16_t *other, unsigned n_other)
{
  Truth *list = mine;

  *n_now = list->head.n;
  memcpy (mine_now, list->id, *n_now * sizeof *mine_now);
  memcpy (list->id, other, n_other * sizeof *other);
  list->head.n = n_other;
}

KEEP static void
listed9_yield (unsigned x)
{
  TRUTH_ENTER (9);
  listed1_leaf (x);
  UNSETTLE ();
  swap_lists (inner, &n_inner, outer, n_outer);
  swapcontext (&routine_context, &caller_context);
  SETTLE ();
  listed1_leaf (x);
  LEAVE ();
}

KEEP static void
listed10_routine (void)
{
  TRUTH_ENTER (10);
  SETTLE ();
  for (unsigned i = 0;; i++)
    {
      for (unsigned j = 0; j < 20; j++)
        listed1_leaf (i);
      listed9_yield (i);
    }
}

KEEP static unsigned
listed11_resume (void)
{
  TRUTH_ENTER (11);
  listed1_leaf (1);
  UNSETTLE ();
  swap_lists (outer, &n_outer, inner, n_inner);
  swapcontext (&caller_context, &routine_context);
  SETTLE ();
  listed1_leaf (2);
  LEAVE ();
  return 1;
}

static void
make_routine (void)
{
  getcontext (&routine_context);
  routine_context.uc_stack.ss_sp = malloc (CONTEXT_STACK);
  routine_context.uc_stack.ss_size = CONTEXT_STACK;
  makecontext (&routine_context, listed10_routine, 0);
}

/* --- processes and threads --- */

KEEP static unsigned
listed12_borrow_stack (void)
{
  int status = 0;
  pid_t child;

  TRUTH_ENTER (12);
  child = vfork ();
  if (child == 0)
    {
      static char *nothing[] = { NULL };

      execve ("/nonexistent", nothing, nothing);
      _exit (3);
    }
  waitpid (child, &status, 0);
  listed1_leaf (4);
  LEAVE ();
  return (unsigned) status;
}

KEEP static void *
listed13_short_thread (void *data)
{
  begin_list ();
  TRUTH_ENTER (13);
  for (unsigned i = 0; i < 200; i++)
    listed1_leaf (i);
  LEAVE ();
  end_list ();
  return NULL;
}

KEEP static unsigned
listed14_make_thread (void)
{
  pthread_t thread;

  TRUTH_ENTER (14);
  if (pthread_create (&thread, NULL, listed13_short_thread, NULL) == 0)
    pthread_join (thread, NULL);
  listed1_leaf (5);
  LEAVE ();
  return 1;
}

/* --- */

KEEP static unsigned
listed15_round (unsigned round)
{
  unsigned result = 0;

  TRUTH_ENTER (15);
  for (unsigned i = 0; i < 20; i++)
    {
      result += listed4_tails (round + i);
      result += listed7_call_through_ffi (i);
      result += listed8_call_assembly (i);
      result += listed5_find_functions (round);
    }
  result += listed11_resume ();
  if (round % 8 == 0)
    result += listed12_borrow_stack () + listed14_make_thread ();
  LEAVE ();
  return result;
}

static void *
listed16_worker (void *data)
{
  begin_list ();
  TRUTH_ENTER (16);
  make_routine ();
  for (unsigned round = 1; !is_over; round++)
    sink += listed15_round (round);
  LEAVE ();
  return NULL;
}

int
main (void)
{
  pthread_t thread;
  char byte;

  keep_stubs ();
  if (pthread_create (&thread, NULL, listed16_worker, NULL) != 0)
    abort ();
  puts ("ready");
  fflush (stdout);
  while (read (0, &byte, 1) != 0)
    continue;
  is_over = 1;
  pthread_join (thread, NULL);
  return 0;
}
