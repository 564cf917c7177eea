// SPDX-License-Identifier: GPL-3.0-or-later

/* Makes the walker's maps and loads its program. */

#include "bpf/loading.h"
#include "bpf/objects.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define CPUS_POSSIBLE_PATH "/sys/devices/system/cpu/possible"

/* The layout of the program's constants, as the compiler has made it. */
typedef struct
{
  uint32_t most_addresses;
  uint32_t asks_kernel;
  uint32_t page_size;
  uint64_t code_mask;
} Constants;

static int
print_nothing (enum libbpf_print_level level, const char *format, va_list args)
{
  return 0;
}

static void
set_print (void)
{
  (void) libbpf_set_print (print_nothing);
}

void
sysprof_bpf_be_quiet (void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;

  (void) pthread_once (&once, set_print);
}

/* The highest number in a list of ranges such as "0-3,5", which is its last. */
static unsigned
highest_of (const char *list)
{
  const char *last = list;

  for (const char *at = list; *at != '\0'; at++)
    if (*at == ',' || *at == '-')
      last = at + 1;
  return (unsigned) strtoul (last, NULL, 10);
}

unsigned
sysprof_bpf_n_cpus (void)
{
  char list[4096];
  int fd = open (CPUS_POSSIBLE_PATH, O_RDONLY | O_CLOEXEC);
  ssize_t n = fd >= 0 ? read (fd, list, sizeof list - 1) : -1;
  int n_counted;

  if (fd >= 0)
    (void) close (fd);
  if (n > 0)
    {
      list[n] = '\0';
      return highest_of (list) + 1;
    }
  n_counted = libbpf_num_possible_cpus ();
  if (n_counted > 0)
    return (unsigned) n_counted;
  errno = EINVAL;
  return 0;
}

static bool
set_constants (struct bpf_object *object, const WalkProgramOptions *options)
{
  struct bpf_map *map = bpf_object__find_map_by_name (object, "walk.rodata");
  Constants constants = {
    .most_addresses = WALK_MOST_ADDRESSES,
    .asks_kernel = sysprof_walk_program_asks_kernel () && !options->by_lists,
    .page_size = (uint32_t) sysconf (_SC_PAGESIZE),
    .code_mask = sysprof_walk_code_mask (),
  };

  if (map == NULL)
    {
      errno = EINVAL;
      return false;
    }

  if (options->most_addresses > 0 && options->most_addresses < WALK_MOST_ADDRESSES)
    constants.most_addresses = options->most_addresses;
  return bpf_map__set_initial_value (map, &constants, sizeof constants) == 0;
}

bool
sysprof_walk_program_asks_kernel (void)
{
  struct utsname kernel;
  unsigned major, minor;

  /* The layout of the kernel's tree of areas that the program knows is that of Linux 6.1 and
   * later. */
  return uname (&kernel) == 0 && sscanf (kernel.release, "%u.%u", &major, &minor) == 2 &&
         (major > 6 || (major == 6 && minor >= 1));
}

/* Sets what depends on the machine. */
static bool
make_room_for_cpus (struct bpf_object *object)
{
  struct bpf_map *scratch = bpf_object__find_map_by_name (object, "walk_scratch");
  unsigned n_cpus = sysprof_bpf_n_cpus ();

  if (scratch == NULL || n_cpus == 0)
    {
      errno = EINVAL;
      return false;
    }

  return bpf_map__set_max_entries (scratch, n_cpus) == 0;
}

bool
sysprof_bpf_prepare_walker (struct bpf_object *object, const WalkProgramOptions *options)
{
  return set_constants (object, options) && make_room_for_cpus (object);
}

/* --- maps --- */

static int
make_slab (void)
{
  LIBBPF_OPTS (bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);

  return bpf_map_create (BPF_MAP_TYPE_ARRAY, "walk_slab", sizeof (uint32_t), UNWIND_SLAB_SIZE,
                         1, &options);
}

static int
make_index (void)
{
  LIBBPF_OPTS (bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);

  return bpf_map_create (BPF_MAP_TYPE_ARRAY, INDEX_NAME, sizeof (uint32_t),
                         sizeof (UnwindIndex), 1, &options);
}

static int
make_slabs (void)
{
  LIBBPF_OPTS (bpf_map_create_opts, options);
  int pattern = make_slab ();
  int fd, saved;

  if (pattern < 0)
    return -1;

  options.inner_map_fd = (uint32_t) pattern;
  fd = bpf_map_create (BPF_MAP_TYPE_ARRAY_OF_MAPS, SLABS_NAME, sizeof (uint32_t),
                       sizeof (uint32_t), UNWIND_MOST_SLABS, &options);
  saved = errno;
  (void) close (pattern);
  errno = saved;
  return fd;
}

static int
make_events (void)
{
  /* The outputs stay connected when the process that lends rights ends. */
  LIBBPF_OPTS (bpf_map_create_opts, options, .map_flags = BPF_F_PRESERVE_ELEMS);
  unsigned n_cpus = sysprof_bpf_n_cpus ();

  if (n_cpus == 0)
    return -1;
  return bpf_map_create (BPF_MAP_TYPE_PERF_EVENT_ARRAY, EVENTS_NAME, sizeof (uint32_t),
                         sizeof (uint32_t), n_cpus * WALK_OUTPUTS, &options);
}

/* Loads an empty program of the same type, which is fast. If that is not permitted, the walker
 * cannot be loaded either. */
static bool
may_load (void)
{
  static const struct bpf_insn nothing[] = {
    { .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
    { .code = BPF_JMP | BPF_EXIT },
  };
  int fd = bpf_prog_load (BPF_PROG_TYPE_PERF_EVENT, "walk_nothing", "GPL", nothing,
                          sizeof nothing / sizeof nothing[0], NULL);

  if (fd < 0)
    return false;
  (void) close (fd);
  return true;
}

bool
sysprof_walk_program_make_maps (WalkProgram *self)
{
  bool is_made;
  int saved;

  sysprof_bpf_be_quiet ();
  *self = (WalkProgram) WALK_PROGRAM_INIT;
  is_made = may_load () && (self->index_fd = make_index ()) >= 0 &&
            (self->slabs_fd = make_slabs ()) >= 0 && (self->events_fd = make_events ()) >= 0;
  saved = errno;
  if (!is_made)
    sysprof_walk_program_clear (self);
  errno = saved;
  return is_made;
}

/* --- the program --- */

bool
sysprof_bpf_use_map (struct bpf_object *object, const char *name, int fd)
{
  struct bpf_map *map = bpf_object__find_map_by_name (object, name);

  if (map == NULL)
    {
      errno = EINVAL;
      return false;
    }
  return bpf_map__reuse_fd (map, fd) == 0;
}

static bool
load (WalkProgram *self, const WalkProgramOptions *options)
{
  LIBBPF_OPTS (bpf_object_open_opts, open, .object_name = "walk");
  struct bpf_object *object =
      bpf_object__open_mem (sysprof_walk_object, sysprof_walk_object_size, &open);
  struct bpf_program *program;
  bool is_loaded;
  int saved;

  if (object == NULL)
    return false;

  program = bpf_object__find_program_by_name (object, "sysprof_walk");
  if (program != NULL && options->log != NULL)
    {
      (void) bpf_program__set_log_buf (program, options->log, options->log_size);
      (void) bpf_program__set_log_level (program, 4); /* statistics only */
    }
  is_loaded = program != NULL && sysprof_bpf_prepare_walker (object, options) &&
              sysprof_bpf_use_map (object, INDEX_NAME, self->index_fd) &&
              sysprof_bpf_use_map (object, SLABS_NAME, self->slabs_fd) &&
              sysprof_bpf_use_map (object, EVENTS_NAME, self->events_fd) &&
              bpf_object__load (object) == 0;
  if (is_loaded)
    self->fd = fcntl (bpf_program__fd (program), F_DUPFD_CLOEXEC, 3);
  is_loaded = self->fd >= 0;

  saved = errno;
  bpf_object__close (object);
  errno = saved;
  return is_loaded;
}

bool
sysprof_walk_program_load (WalkProgram *self, const WalkProgramOptions *options)
{
  static const WalkProgramOptions none = { 0 };

  sysprof_bpf_be_quiet ();
  return load (self, options != NULL ? options : &none);
}

void
sysprof_walk_program_clear (WalkProgram *self)
{
  const int fds[] = { self->fd, self->index_fd, self->slabs_fd, self->events_fd };

  for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++)
    if (fds[i] >= 0)
      (void) close (fds[i]);
  *self = (WalkProgram) WALK_PROGRAM_INIT;
}

int
sysprof_walk_program_add_slab (const WalkProgram *self, uint32_t index)
{
  int fd = make_slab ();
  int saved;

  if (fd < 0 || bpf_map_update_elem (self->slabs_fd, &index, &fd, BPF_ANY) == 0)
    return fd;

  saved = errno;
  (void) close (fd);
  errno = saved;
  return -1;
}

bool
sysprof_walk_program_set_output (const WalkProgram *self, uint32_t index, int event_fd)
{
  return bpf_map_update_elem (self->events_fd, &index, &event_fd, BPF_ANY) == 0;
}
