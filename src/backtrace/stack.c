// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads the stack. A thread's own stack is mapped for as long as the thread runs, and is read
 * directly. For any other address (a signal stack, a coroutine's stack, or memory that a wrong
 * table refers to), the kernel copies the memory, which is safe for invalid addresses.
 *
 * Each thread finds its own stack once, in the kernel's list of mappings. The C library knows
 * it, too, but allocates memory to report it. */

#include "backtrace/inside.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define MAPS_PATH  "/proc/self/maps"
#define STACK_NAME "[stack]"
#define MOST_GROWTH \
  (UINT64_C (1) << 30)   /* bytes below the known part of the first thread's stack */
#define MOST_SEARCHES 64 /* because that stack grows */

/* The other models of thread-local storage allocate memory when a thread first uses a variable
 * of a library that was loaded later. */
#define THREAD_OWN static _Thread_local __attribute__ ((tls_model ("initial-exec")))

typedef struct
{
  uint64_t low;
  uint64_t high; /* 0 = not searched yet */
  bool is_first; /* the stack of the first thread, which grows */
  uint8_t n_searches;
} OwnStack;

THREAD_OWN OwnStack own_stack;

/* --- reads the list of mappings line by line, without the C library's streams --- */

typedef struct
{
  int fd;
  size_t at;
  size_t size;
  char bytes[4096];
} MapsReader;

static int
next_char (MapsReader *self)
{
  if (self->at == self->size)
    {
      long n = syscall (SYS_read, self->fd, self->bytes, sizeof self->bytes);

      if (n <= 0)
        return -1;
      self->at = 0;
      self->size = (size_t) n;
    }
  return (unsigned char) self->bytes[self->at++];
}

/* Reads up to the first character that is not a digit, and consumes it. */
static uint64_t
read_hex (MapsReader *self)
{
  uint64_t value = 0;

  for (;;)
    {
      int c = next_char (self);

      if (c >= '0' && c <= '9')
        value = value << 4 | (uint64_t) (c - '0');
      else if (c >= 'a' && c <= 'f')
        value = value << 4 | (uint64_t) (c - 'a' + 10);
      else
        return value;
    }
}

/* Skips the rest of the line. Returns whether it ends with the name of the first thread's
 * stack. Sets `more` to FALSE at the end of the list. */
static bool
pass_line (MapsReader *self, bool *more)
{
  const char *name = STACK_NAME;
  size_t matched = 0;
  int c;

  while ((c = next_char (self)) >= 0 && c != '\n')
    matched = c == name[matched] ? matched + 1 : c == name[0];
  *more = c >= 0;
  return name[matched] == '\0';
}

/* For threads other than the first, the C library keeps the thread descriptor at the upper end
 * of the stack. */
static void
find_own_stack (OwnStack *self)
{
  bool is_first = syscall (SYS_getpid) == syscall (SYS_gettid);
  uint64_t thread = (uint64_t) (uintptr_t) __builtin_thread_pointer ();
  MapsReader maps = { .fd = (int) syscall (SYS_openat, AT_FDCWD, MAPS_PATH,
                                           O_RDONLY | O_CLOEXEC) };
  bool more = maps.fd >= 0;

  while (more)
    {
      uint64_t low = read_hex (&maps);
      uint64_t high = read_hex (&maps);
      bool is_named = pass_line (&maps, &more);

      if (is_first ? !is_named : thread < low || thread >= high)
        continue;
      self->low = low;
      self->high = is_first ? high : thread;
      self->is_first = is_first;
      break;
    }
  if (maps.fd >= 0)
    (void) syscall (SYS_close, maps.fd);
}

static bool
is_worth_a_search (const OwnStack *self, uint64_t sp)
{
  if (self->n_searches == 0)
    return true;
  return self->is_first && self->n_searches < MOST_SEARCHES && sp < self->low &&
         self->low - sp < MOST_GROWTH;
}

void
sysprof_stack_reader_init (StackReader *self, uint64_t sp)
{
  OwnStack *own = &own_stack;

  if ((sp < own->low || sp >= own->high) && is_worth_a_search (own, sp))
    {
      own->n_searches++;
      find_own_stack (own);
    }
  self->low = own->low;
  self->high = own->high;
  self->window_size = 0;
}

/* --- reading --- */

/* Reads up to the end of the last mapped page. */
static bool
fetch_window (StackReader *self, uint64_t address)
{
  struct iovec here = { self->window, sizeof self->window };
  struct iovec there = { (void *) (uintptr_t) address, sizeof self->window };
  long n = syscall (SYS_process_vm_readv, syscall (SYS_getpid), &here, 1UL, &there, 1UL, 0UL);

  self->window_start = address;
  self->window_size = n > 0 ? (size_t) n : 0;
  return self->window_size >= sizeof (uint64_t);
}

bool
sysprof_stack_reader_fetch (StackReader *self, uint64_t address, uint64_t *word)
{
  if ((self->window_size < sizeof *word || address < self->window_start ||
       address - self->window_start > self->window_size - sizeof *word) &&
      !fetch_window (self, address))
    return false;
  memcpy (word, self->window + (address - self->window_start), sizeof *word);
  return true;
}
