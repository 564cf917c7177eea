// SPDX-License-Identifier: GPL-3.0-or-later

/* How a program in C or C++ keeps the list of its active functions. A function of the number N
 * is named listedN_…, in whatever way its language decorates that. */

#pragma once

#include "truth.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__clang__)
#  define KEEP __attribute__ ((noinline))
#else
#  define KEEP __attribute__ ((noipa))
#endif

typedef struct
{
  TruthHead head;
  uint16_t id[TRUTH_MOST];
} Truth;

static __thread Truth *mine;

#define TRUTH_ORDER() __asm__ volatile("" ::: "memory")

/* In this order, also for a signal that comes between: the name, then that it counts. */
#define TRUTH_ENTER(number)                \
  do                                       \
    {                                      \
      Truth *truth_ = mine;                \
      truth_->id[truth_->head.n] = number; \
      TRUTH_ORDER ();                      \
      truth_->head.n++;                    \
      TRUTH_ORDER ();                      \
    }                                      \
  while (0)
#define LEAVE()       \
  do                  \
    {                 \
      TRUTH_ORDER (); \
      mine->head.n--; \
      TRUTH_ORDER (); \
    }                 \
  while (0)

/* In a signal handler: it may have come after a name was written and before it counts. */
#define TRUTH_ENTER_HANDLER(number)             \
  uint16_t came_upon_ = mine->id[mine->head.n]; \
  TRUTH_ENTER (number)
#define LEAVE_HANDLER()                    \
  do                                       \
    {                                      \
      LEAVE ();                            \
      mine->id[mine->head.n] = came_upon_; \
    }                                      \
  while (0)

/* While the program is between two stacks, and the list is neither's. */
#define UNSETTLE()                 \
  do                               \
    {                              \
      mine->head.is_unsettled = 1; \
      TRUTH_ORDER ();              \
    }                              \
  while (0)
#define SETTLE()                   \
  do                               \
    {                              \
      TRUTH_ORDER ();              \
      mine->head.is_unsettled = 0; \
    }                              \
  while (0)

static inline void
begin_list (void)
{
  void *place = (void *) TRUTH_AT ((unsigned) syscall (SYS_gettid));

  mine = (Truth *) mmap (place, TRUTH_SIZE, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_POPULATE, -1, 0);
  if (mine != place)
    abort ();
}

static inline void
end_list (void)
{
  Truth *list = mine;

  mine = NULL;
  munmap (list, TRUTH_SIZE);
}
