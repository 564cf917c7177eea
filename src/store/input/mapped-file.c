// SPDX-License-Identifier: GPL-3.0-or-later

/* Maps a file and survives its truncation. See mapped-file.h. */

#include "store/input/mapped-file.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST_MAPPED 64 /* at a time; whoever opens more captures has them read */

/* *Guarded*: `begin` is taken and given back with compare-and-swap, so that the handler, which may run in any
 * thread at any moment, needs no lock. `end` is stored before `begin` is published (release, pairs with the handler's
 * acquire). */
typedef struct
{
  uintptr_t begin; /* 0 = free, TAKEN = being filled */
  uintptr_t end;
  bool was_cut;
} Range;

#define TAKEN ((uintptr_t) 1)

static Range ranges[MOST_MAPPED];
static struct sigaction before; /* written once, before the handler can run */
static pthread_once_t installed = PTHREAD_ONCE_INIT;

static Range *
find_range (uintptr_t address)
{
  for (unsigned i = 0; i < MOST_MAPPED; i++)
    {
      uintptr_t begin = __atomic_load_n (&ranges[i].begin, __ATOMIC_ACQUIRE);

      if (begin > TAKEN && address >= begin &&
          address < __atomic_load_n (&ranges[i].end, __ATOMIC_RELAXED))
        return &ranges[i];
    }

  return NULL;
}

static void
hand_on (int number, siginfo_t *info, void *context)
{
  if ((before.sa_flags & SA_SIGINFO) != 0)
    before.sa_sigaction (number, info, context);
  else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
    before.sa_handler (number);
  else
    {
      struct sigaction fatal = { .sa_handler = SIG_DFL };

      (void) sigaction (number, &fatal, NULL); /* the fault repeats on return, and ends us */
    }
}

static void
on_bus_error (int number, siginfo_t *info, void *context)
{
  uintptr_t address = (uintptr_t) info->si_addr;
  Range *range = info->si_code > 0 ? find_range (address) : NULL;
  uintptr_t page;

  if (range == NULL)
    {
      hand_on (number, info, context);
      return;
    }

  /* If the first page has no file any more, the pages after it have none either. */
  page = address & ~((uintptr_t) sysconf (_SC_PAGESIZE) - 1);
  __atomic_store_n (&range->was_cut, true,
                    __ATOMIC_RELAXED); /* read by the thread that faulted */
  if (mmap ((void *) page, range->end - page, PROT_READ,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
    hand_on (number, info, context);
}

static void
install_handler (void)
{
  struct sigaction action = { .sa_sigaction = on_bus_error,
                              .sa_flags = SA_SIGINFO | SA_ONSTACK };

  sigemptyset (&action.sa_mask);
  if (sigaction (SIGBUS, NULL, &before) == 0)
    (void) sigaction (SIGBUS, &action, NULL); /* cannot fail: number and pointer are right */
}

uint8_t *
sysprof_mapped_file_map (int fd, size_t size)
{
  Range *range = NULL;
  void *bytes;

  pthread_once (&installed, install_handler);
  for (unsigned i = 0; range == NULL && i < MOST_MAPPED; i++)
    {
      uintptr_t nobody = 0;

      if (__atomic_compare_exchange_n (&ranges[i].begin, &nobody, TAKEN, false,
                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        range = &ranges[i];
    }
  if (range == NULL)
    return NULL;

  bytes = mmap (NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (bytes == MAP_FAILED)
    {
      __atomic_store_n (&range->begin, 0, __ATOMIC_RELAXED);
      return NULL;
    }

  (void) madvise (bytes, size, MADV_WILLNEED); /* a wish */
  /* A single frame should load at most 64 KiB, not 2 MiB, into memory that counts as ours. */
  (void) madvise (bytes, size, MADV_NOHUGEPAGE); /* likewise */
  range->was_cut = false;
  __atomic_store_n (&range->end, (uintptr_t) bytes + size, __ATOMIC_RELAXED);
  __atomic_store_n (&range->begin, (uintptr_t) bytes, __ATOMIC_RELEASE);
  return bytes;
}

void
sysprof_mapped_file_unmap (uint8_t *bytes, size_t size)
{
  Range *range = find_range ((uintptr_t) bytes);

  /* First, for the next file may be mapped to the same place as soon as it is free. */
  if (range != NULL)
    __atomic_store_n (&range->begin, 0, __ATOMIC_RELEASE);
  (void) munmap (bytes, size); /* cannot fail for what mmap gave */
}

bool
sysprof_mapped_file_was_cut (const uint8_t *bytes)
{
  const Range *range = find_range ((uintptr_t) bytes);

  return range != NULL && __atomic_load_n (&range->was_cut, __ATOMIC_RELAXED);
}
