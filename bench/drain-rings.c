// SPDX-License-Identifier: GPL-3.0-or-later

/* Measures the minimum cost of a recorder. It opens the same events as sysprof-cli does: one
 * sampling event per CPU with call chains, mappings and task records. It only empties the
 * rings, each when it is half full.
 *
 *     drain-rings FREQUENCY SECONDS [FILE]
 *
 * With FILE it also writes the drained bytes there unchanged, which every recorder has to do.
 * It prints the number of bytes and samples that it drained. Its CPU time is the cost of the
 * kernel interface for any reader. */

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define RING_PAGES 512
#define MAX_CPUS   256

static int64_t
now (void)
{
  struct timespec t;

  clock_gettime (CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C (1000000000) + t.tv_nsec;
}

static bool
write_all (int file, const char *bytes, size_t size)
{
  while (size > 0)
    {
      ssize_t n = write (file, bytes, size);

      if (n < 0)
        {
          fprintf (stderr, "drain-rings: cannot write: %s\n", strerror (errno));
          return false;
        }
      bytes += n;
      size -= (size_t) n;
    }

  return true;
}

static bool
write_range (int file, const char *ring, size_t size, uint64_t tail, uint64_t head)
{
  size_t begin = tail % size;
  size_t length = (size_t) (head - tail);
  size_t first = length < size - begin ? length : size - begin;

  return write_all (file, ring + begin, first) && write_all (file, ring, length - first);
}

int
main (int argc, char **argv)
{
  size_t page = (size_t) sysconf (_SC_PAGESIZE);
  size_t size = RING_PAGES * page;
  int n_cpus = (int) sysconf (_SC_NPROCESSORS_ONLN);
  struct perf_event_mmap_page *ring[MAX_CPUS];
  struct pollfd fds[MAX_CPUS];
  uint64_t n_bytes = 0, n_samples = 0;
  int64_t end;
  int file = -1;

  if (argc < 3 || argc > 4 || n_cpus > MAX_CPUS)
    {
      fprintf (stderr, "usage: drain-rings FREQUENCY SECONDS [FILE]\n");
      return 2;
    }

  if (argc == 4 && (file = open (argv[3], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) < 0)
    {
      fprintf (stderr, "drain-rings: cannot write '%s': %s\n", argv[3], strerror (errno));
      return 1;
    }

  for (int cpu = 0; cpu < n_cpus; cpu++)
    {
      struct perf_event_attr attr = {
        .size = sizeof attr,
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_CPU_CLOCK,
        .sample_period = 1000000000 / strtoull (argv[1], NULL, 10),
        .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                       PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN,
        .sample_id_all = 1,
        .exclude_idle = 1,
        .mmap = 1,
        .mmap2 = 1,
        .build_id = 1,
        .comm = 1,
        .comm_exec = 1,
        .task = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
        .watermark = 1,
        .wakeup_watermark = (uint32_t) (size / 2),
      };
      int fd = (int) syscall (SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

      if (fd < 0)
        {
          fprintf (stderr, "drain-rings: cannot sample CPU %d: %s\n", cpu, strerror (errno));
          return 1;
        }
      ring[cpu] = mmap (NULL, size + page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
      if (ring[cpu] == MAP_FAILED)
        {
          fprintf (stderr, "drain-rings: cannot map the ring: %s\n", strerror (errno));
          return 1;
        }
      fds[cpu] = (struct pollfd){ .fd = fd, .events = POLLIN };
    }

  end = now () + strtoll (argv[2], NULL, 10) * INT64_C (1000000000);
  while (now () < end)
    {
      (void) poll (fds, (nfds_t) n_cpus, 1000);

      for (int cpu = 0; cpu < n_cpus; cpu++)
        {
          const char *bytes = (const char *) ring[cpu] + page;
          uint64_t head = __atomic_load_n (&ring[cpu]->data_head, __ATOMIC_ACQUIRE);
          uint64_t tail = ring[cpu]->data_tail;

          n_bytes += head - tail;
          if (file >= 0 && !write_range (file, bytes, size, tail, head))
            return 1;
          while (tail < head)
            {
              struct perf_event_header header;

              memcpy (&header, bytes + tail % size, sizeof header);
              n_samples += header.type == PERF_RECORD_SAMPLE;
              tail += header.size;
            }
          __atomic_store_n (&ring[cpu]->data_tail, head, __ATOMIC_RELEASE);
        }
    }

  printf ("%llu bytes, %llu samples\n", (unsigned long long) n_bytes,
          (unsigned long long) n_samples);
  return 0;
}
