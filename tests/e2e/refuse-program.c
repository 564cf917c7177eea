// SPDX-License-Identifier: GPL-3.0-or-later

/* To be preloaded: the first event that is given a BPF program takes it, the others refuse it; with REFUSE_ALL in the environment all do. */

#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>

__attribute__ ((visibility ("default"))) int
ioctl (int fd, unsigned long request, ...)
{
  static unsigned n_programs;
  int (*real) (int, unsigned long, ...) =
      (int (*) (int, unsigned long, ...)) dlsym (RTLD_NEXT, "ioctl");
  va_list args;
  void *argument;

  va_start (args, request);
  argument = va_arg (args, void *);
  va_end (args);
  if (request == PERF_EVENT_IOC_SET_BPF &&
      (__atomic_fetch_add (&n_programs, 1, __ATOMIC_RELAXED) > 0 ||
       getenv ("REFUSE_ALL") != NULL))
    {
      errno = EINVAL;
      return -1;
    }
  return real (fd, request, argument);
}
