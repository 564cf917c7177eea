// SPDX-License-Identifier: GPL-3.0-or-later

/* The mappings of processes over time. See mappings.h. */

#include "store/stacks/mappings.h"

#define BUILD_ID_MOST 128 /* hex digits */

static bool
is_lower_hex (Text text)
{
  for (const char *at = text.at; at < text.end; at++)
    if (!g_ascii_isxdigit (*at) || g_ascii_isupper (*at))
      return false;

  return true;
}

/* Behind the path's NUL: '@', lower-case hex, NUL. Padding may hold rubbish, so nothing else
 * counts. */
static StringId
read_build_id (Store *store, const Frame *frame, Text path)
{
  size_t at = (size_t) (path.end - (const char *) frame->bytes) + 1;
  Text hex;
  size_t size;

  if (at >= frame->size || frame->bytes[at] != '@')
    return 0;

  hex = sysprof_frame_text (frame, at + 1);
  size = sysprof_text_size (hex);
  if (size < 2 || size > BUILD_ID_MOST || size % 2 != 0 || !is_lower_hex (hex) ||
      hex.end == (const char *) frame->bytes + frame->size)
    return 0;

  return sysprof_intern_bytes (&store->strings, hex.at, size);
}

static void
read_row (const Builder *builder, FileWindow *window, FrameNo number, Mapping *mapping)
{
  Store *store = builder->store;
  Frame frame = sysprof_store_frame_in (store, window, number);
  Text path = sysprof_frame_text (&frame, 56);

  *mapping = (Mapping){
    .process = sysprof_builder_process (builder, store->frames.pid[number]),
    .time = store->frames.time[number],
    .start = sysprof_frame_u64 (&frame, 24),
    .end = sysprof_frame_u64 (&frame, 32),
    .file_offset = sysprof_frame_u64 (&frame, 40),
    .inode = sysprof_frame_u64 (&frame, 48),
    .path = sysprof_store_intern (store, path),
    .build_id = read_build_id (store, &frame, path),
  };
}

void
sysprof_mappings_read (const Builder *builder)
{
  Store *store = builder->store;
  const FrameList *frames = &store->frames_of_type[SYSPROF_CAPTURE_FRAME_MAP];
  FileWindow window;

  sysprof_file_window_init (&window, builder->file, FILE_WINDOW_SOME);
  store->n_mappings = frames->n + 1;
  store->mappings = g_new0 (Mapping, store->n_mappings);
  for (MappingId id = 1;
       id < store->n_mappings && sysprof_builder_goes_on (builder, id, store->n_mappings); id++)
    read_row (builder, &window, frames->frame[id - 1], &store->mappings[id]);
  sysprof_file_window_clear (&window);
}

/* They are sorted: each process's begin where another's end. */
static void
init_code (Mappings *self)
{
  const Store *store = self->store;
  uint32_t n_processes = store->processes.n;

  if (store->n_jit_code == 0)
    return;

  self->code = g_new0 (AddressSpace, n_processes);
  self->later_code = g_new0 (AddressSpace, n_processes);
  self->next_code = g_new0 (JitCodeId, n_processes);
  for (JitCodeId id = store->n_jit_code - 1; id > 0; id--)
    self->next_code[store->jit_code[id].process] = id;
}

void
sysprof_mappings_init (Mappings *self, Store *store)
{
  uint32_t n_processes = store->processes.n;

  *self = (Mappings){ .store = store };
  sysprof_regions_init (&self->regions);
  self->now = g_new0 (AddressSpace, n_processes);
  self->later = g_new0 (AddressSpace, n_processes);
  self->has_exited = g_new0 (bool, n_processes);
  self->is_complete = g_new0 (bool, n_processes);
  self->last = g_new0 (MappingId, n_processes);
  self->before = g_new0 (MappingId, store->n_mappings);
  self->same_as = g_new0 (MappingId, store->n_mappings);

  for (MappingId id = 1; id < store->n_mappings; id++)
    {
      ProcessId process = store->mappings[id].process;

      self->before[id] = self->last[process];
      self->last[process] = id;
      self->same_as[id] = id;
    }
  init_code (self);
}

void
sysprof_mappings_clear (Mappings *self)
{
  sysprof_regions_clear (&self->regions);
  g_free (self->now);
  g_free (self->later);
  g_free (self->has_exited);
  g_free (self->is_complete);
  g_free (self->last);
  g_free (self->before);
  g_free (self->same_as);
  g_free (self->code);
  g_free (self->later_code);
  g_free (self->next_code);
  *self = (Mappings){ 0 };
}

/* If one of the two is unknown, they are equal. */
static bool
is_same (uint64_t left, uint64_t right)
{
  return left == right || left == 0 || right == 0;
}

/* The list of running processes comes from /proc, later mappings from the kernel's events, and
 * the two overlap: the first knows the inode, the second perhaps the build id. */
static bool
absorb_repetition (Mappings *self, MappingId id, const Mapping *mapping)
{
  const Region *region =
      sysprof_address_space_find (&self->now[mapping->process], &self->regions, mapping->start);
  Mapping *known;

  if (region == NULL || region->start != mapping->start || region->end != mapping->end)
    return false;

  known = &self->store->mappings[region->mapping];
  if (known->process != mapping->process || known->start != mapping->start ||
      known->end != mapping->end || known->path != mapping->path ||
      known->file_offset != mapping->file_offset || !is_same (known->inode, mapping->inode) ||
      !is_same (known->build_id, mapping->build_id))
    return false;

  if (known->inode == 0)
    known->inode = mapping->inode;
  if (known->build_id == 0)
    known->build_id = mapping->build_id;
  self->same_as[id] = region->mapping;
  return true;
}

void
sysprof_mappings_advance (Mappings *self)
{
  MappingId id = ++self->n_seen;
  const Mapping *mapping = &self->store->mappings[id];

  if (mapping->process != 0 && mapping->start < mapping->end &&
      !absorb_repetition (self, id, mapping))
    sysprof_address_space_map (&self->now[mapping->process], &self->regions, mapping->start,
                               mapping->end, id);
}

void
sysprof_mappings_fork (Mappings *self, ProcessId parent, ProcessId child)
{
  /* Who has mappings and did not exit is no new process: its fork frame came late. */
  if (self->now[child].root != 0 && !self->has_exited[child])
    return;

  self->has_exited[child] = false;
  self->is_complete[child] |= self->now[parent].root != 0 || self->now[child].root != 0;
  sysprof_address_space_fork (&self->now[parent], &self->regions, &self->now[child]);
  if (self->code != NULL)
    sysprof_address_space_fork (&self->code[parent], &self->regions, &self->code[child]);
}

void
sysprof_mappings_exit (Mappings *self, ProcessId process)
{
  self->has_exited[process] = true;
}

/* From the last mapping back to now, so that the earliest of those that overlap stays on
 * top. */
static void
look_ahead (Mappings *self, ProcessId process)
{
  self->later[process].owner = ++self->regions.n_owners;
  for (MappingId id = self->last[process]; id > self->n_seen; id = self->before[id])
    {
      const Mapping *mapping = &self->store->mappings[id];

      if (mapping->start < mapping->end)
        sysprof_address_space_map (&self->later[process], &self->regions, mapping->start,
                                   mapping->end, id);
    }
}

MappingId
sysprof_mappings_find (Mappings *self, ProcessId process, uint64_t address)
{
  const Region *region =
      sysprof_address_space_find (&self->now[process], &self->regions, address);

  if (region == NULL && !self->is_complete[process])
    {
      /* Sampling begins before the running processes are read, and some samples come in
       * between. */
      if (self->later[process].owner == 0 && self->last[process] > self->n_seen)
        look_ahead (self, process);
      region = sysprof_address_space_find (&self->later[process], &self->regions, address);
    }

  return region == NULL ? 0 : region->mapping;
}

/* Bytes from a file's code to its data, whose mappings are not recorded: compilers assume that
 * they are near each other. */
#define FARTHEST_DATA (UINT64_C (2) << 30)

MappingId
sysprof_mappings_find_before (const Mappings *self, ProcessId process, uint64_t address)
{
  const Region *region =
      sysprof_address_space_find_before (&self->now[process], &self->regions, address);

  return region == NULL || address - region->start > FARTHEST_DATA ? 0 : region->mapping;
}

/* --- generated code --- */

/* Some runtimes report code only after it runs. */
#define TELL_LATE 1000000000 /* ns */

static bool
is_of_process (const Store *store, JitCodeId id, ProcessId process)
{
  return id != 0 && id < store->n_jit_code && store->jit_code[id].process == process;
}

void
sysprof_mappings_take_code (Mappings *self, ProcessId process, int64_t time)
{
  JitCodeId *next = &self->next_code[process];

  self->time = time;
  for (; is_of_process (self->store, *next, process); ++*next)
    {
      const JitCode *code = &self->store->jit_code[*next];

      if (code->time > time)
        return;
      sysprof_address_space_map (&self->code[process], &self->regions, code->start, code->end,
                                 *next);
    }
}

/* From the last back to now, as in look_ahead(). */
static void
look_ahead_for_code (Mappings *self, ProcessId process)
{
  JitCodeId first = self->next_code[process], behind = first;

  self->later_code[process].owner = ++self->regions.n_owners;
  while (is_of_process (self->store, behind, process))
    behind++;
  for (; behind > first; behind--)
    {
      const JitCode *code = &self->store->jit_code[behind - 1];

      sysprof_address_space_map (&self->later_code[process], &self->regions, code->start,
                                 code->end, behind - 1);
    }
}

bool
sysprof_store_may_be_generated (const Store *self, MappingId mapping)
{
  const char *path = sysprof_store_string (self, self->mappings[mapping].path);

  return mapping == 0 || path[0] == '\0' || g_str_has_prefix (path, "//anon") ||
         g_str_has_prefix (path, "[anon") || g_str_has_prefix (path, "[heap") ||
         g_str_has_prefix (path, "[stack") || g_str_has_prefix (path, "/memfd:") ||
         g_str_has_prefix (path, "/dev/zero");
}

JitCodeId
sysprof_mappings_find_code (Mappings *self,
                            ProcessId process,
                            MappingId mapping,
                            uint64_t address)
{
  const Region *region;

  if (self->code == NULL ||
      (self->code[process].root == 0 &&
       !is_of_process (self->store, self->next_code[process], process)) ||
      !sysprof_store_may_be_generated (self->store, mapping))
    return 0;

  region = sysprof_address_space_find (&self->code[process], &self->regions, address);
  if (region != NULL)
    return region->mapping;

  if (self->later_code[process].owner == 0)
    look_ahead_for_code (self, process);
  region = sysprof_address_space_find (&self->later_code[process], &self->regions, address);
  return region != NULL && self->store->jit_code[region->mapping].time - self->time <= TELL_LATE
             ? region->mapping
             : 0;
}

void
sysprof_mappings_compact (Mappings *self, MappingId *mapping, uint32_t n)
{
  Store *store = self->store;
  g_autofree MappingId *new_id = g_new0 (MappingId, store->n_mappings);
  MappingId n_kept = 1;

  for (MappingId id = 1; id < store->n_mappings; id++)
    {
      if (self->same_as[id] != id)
        {
          new_id[id] = new_id[self->same_as[id]];
          continue;
        }

      new_id[id] = n_kept;
      store->mappings[n_kept++] = store->mappings[id];
    }

  store->n_mappings = n_kept;
  store->mappings = g_renew (Mapping, store->mappings, n_kept);
  for (uint32_t i = 0; i < n; i++)
    mapping[i] = new_id[mapping[i]];
}
