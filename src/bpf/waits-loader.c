// SPDX-License-Identifier: GPL-3.0-or-later

/* Loads the programs that watch the scheduler, and attaches them. */

#include "bpf/loading.h"
#include "bpf/objects.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define RING_SIZE       (8u << 20) /* half a second at 200,000 switches per second */
#define ALL_RINGS_SIZE  (128u << 20)
#define LEAST_RING_SIZE (256u << 10)

/* In the order of their descriptors. */
static const char *const programs[] = { "sysprof_switch", "sysprof_waking",
                                        "sysprof_wakeup_new" };

#define N_PROGRAMS (sizeof programs / sizeof programs[0])

static const char *const iterators[] = { "sysprof_begin", "sysprof_begin", "sysprof_end" };

#define N_ITERATORS (sizeof iterators / sizeof iterators[0])

_Static_assert(WAITS_SWITCH_FD + N_PROGRAMS == WAITS_PREPARE_FD, "a descriptor each");
_Static_assert(WAITS_PREPARE_FD + N_ITERATORS == N_WAITS_FDS, "a descriptor each");

unsigned
sysprof_waits_n_rings (void)
{
  unsigned n_cpus = sysprof_bpf_n_cpus ();

  return n_cpus > 0 ? n_cpus + 1 : 0;
}

uint32_t
sysprof_waits_ring_size (void)
{
  uint32_t size = RING_SIZE;
  unsigned n = sysprof_waits_n_rings ();

  while (size > LEAST_RING_SIZE && (uint64_t) size * n > ALL_RINGS_SIZE)
    size /= 2;
  return size;
}

/* Sets what depends on the machine. */
static bool
configure_maps (struct bpf_object *object)
{
  struct bpf_map *rings = bpf_object__find_map_by_name (object, "waits_rings");
  struct bpf_map *cache = bpf_object__find_map_by_name (object, "waits_cache");
  struct bpf_map *constants = bpf_object__find_map_by_name (object, ".rodata.waits");
  uint32_t size = sysprof_waits_ring_size ();
  unsigned n = sysprof_waits_n_rings ();
  const uint64_t values[] = { size - 1, n - 1 }; /* the last ring belongs to the iterators */

  if (rings == NULL || cache == NULL || constants == NULL || n == 0)
    {
      errno = EINVAL;
      return false;
    }
  return bpf_map__set_max_entries (rings, n) == 0 && bpf_map__set_max_entries (cache, n) == 0 &&
         bpf_map__set_value_size (rings, WAITS_RING_SIZE (size)) == 0 &&
         bpf_map__set_initial_value (constants, values, sizeof values) == 0;
}

static int
dup_map (struct bpf_object *object, const char *name)
{
  int fd = bpf_object__find_map_fd_by_name (object, name);

  return fd >= 0 ? fcntl (fd, F_DUPFD_CLOEXEC, 3) : -1;
}

static bool
run_programs (WaitsProgram *self, struct bpf_object *object)
{
  for (unsigned i = 0; i < N_PROGRAMS; i++)
    {
      struct bpf_program *program = bpf_object__find_program_by_name (object, programs[i]);

      /* The kernel knows the tracepoint from loading the program. */
      self->fd[WAITS_SWITCH_FD + i] =
          program != NULL ? bpf_raw_tracepoint_open (NULL, bpf_program__fd (program)) : -1;
      if (self->fd[WAITS_SWITCH_FD + i] < 0)
        return false;
    }
  return true;
}

/* Each iterates over all threads once. */
static bool
open_iterators (WaitsProgram *self, struct bpf_object *object)
{
  for (unsigned i = 0; i < N_ITERATORS; i++)
    {
      struct bpf_program *program = bpf_object__find_program_by_name (object, iterators[i]);
      int link = program != NULL
                     ? bpf_link_create (bpf_program__fd (program), 0, BPF_TRACE_ITER, NULL)
                     : -1;
      int saved;

      self->fd[WAITS_PREPARE_FD + i] = link >= 0 ? bpf_iter_create (link) : -1;
      saved = errno;
      if (link >= 0)
        (void) close (link);
      errno = saved;
      if (self->fd[WAITS_PREPARE_FD + i] < 0)
        return false;
    }
  return true;
}

static bool
load (WaitsProgram *self, const WalkProgram *maps)
{
  LIBBPF_OPTS (bpf_object_open_opts, open, .object_name = "walk");
  static const WalkProgramOptions options = { .most_addresses = WAITS_MOST_USER };
  struct bpf_object *object =
      bpf_object__open_mem (sysprof_waits_object, sysprof_waits_object_size, &open);
  bool is_running;
  int saved;

  if (object == NULL)
    return false;

  is_running = sysprof_bpf_prepare_walker (object, &options) && configure_maps (object) &&
               sysprof_bpf_use_map (object, INDEX_NAME, maps->index_fd) &&
               sysprof_bpf_use_map (object, SLABS_NAME, maps->slabs_fd) &&
               bpf_object__load (object) == 0 &&
               (self->fd[WAITS_CONTROL_FD] = dup_map (object, "waits_control")) >= 0 &&
               (self->fd[WAITS_RINGS_FD] = dup_map (object, "waits_rings")) >= 0 &&
               open_iterators (self, object) && run_programs (self, object);
  saved = errno;
  bpf_object__close (object);
  errno = saved;
  return is_running;
}

bool
sysprof_waits_program_load (WaitsProgram *self, const WalkProgram *maps)
{
  bool is_loaded;
  int saved;

  sysprof_bpf_be_quiet ();
  for (unsigned i = 0; i < N_WAITS_FDS; i++)
    self->fd[i] = -1;
  is_loaded = load (self, maps);
  saved = errno;
  if (!is_loaded)
    sysprof_waits_program_clear (self);
  errno = saved;
  return is_loaded;
}

void
sysprof_waits_program_clear (WaitsProgram *self)
{
  for (unsigned i = 0; i < N_WAITS_FDS; i++)
    {
      if (self->fd[i] >= 0)
        (void) close (self->fd[i]);
      self->fd[i] = -1;
    }
}
