// SPDX-License-Identifier: GPL-3.0-or-later

/* Makes, starts and ends the unwinder: its maps, its BPF program and its thread. The functions
 * that the pump's thread calls only set flags, queue samples or read results. */

#include "unwinder/unwinder-private.h"

#include "access/access.h"
#include "perf/perf.h"
#include "util/util.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

static uint8_t *
make_slab (void *data, uint32_t index)
{
  Unwinder *self = data;
  autofd fd = sysprof_privilege_add_walker_slab (self->privilege, &self->program, index);
  void *bytes = fd >= 0
                    ? mmap (NULL, UNWIND_SLAB_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                    : MAP_FAILED;

  if (bytes == MAP_FAILED)
    return NULL;
  self->slab[index] = bytes;
  return bytes;
}

static void
set_load_error (GError **error)
{
  const char *why = g_strerror (errno);
  const char *instead = "--unwind=copy walks copies of them instead.";
  int code = SYSPROF_ERROR_FAILED;

  if (errno == EPERM || errno == EACCES)
    {
      code = SYSPROF_ERROR_DENIED;
      why = "that needs root, or CAP_BPF and CAP_PERFMON";
    }
  else if (errno == ENOSYS)
    {
      code = SYSPROF_ERROR_UNSUPPORTED;
      why = "this program was built without BPF (clang and libbpf)";
    }
  if (PERF_COPY_REGISTERS == 0)
    {
      why =
          "the registers that are needed are known on x86-64 and arm64 alone, and this machine is neither";
      instead = "--unwind=frame-pointer records what the kernel finds.";
    }
  g_set_error (error, SYSPROF_ERROR, code, "Cannot walk stacks in the kernel: %s. %s", why,
               instead);
}

static Unwinder *
make_unwinder (Privilege *privilege)
{
  Unwinder *self = g_new0 (Unwinder, 1);

  self->program = (WalkProgram) WALK_PROGRAM_INIT;
  self->wake_fd = -1;
  self->ready_fd = -1;
  for (unsigned i = 0; i < N_WAITS; i++)
    self->waits[i] = (struct pollfd){ .fd = -1, .events = POLLIN };
  self->privilege = sysprof_privilege_ref (privilege);
  return self;
}

/* Takes ownership of the mapped index. FALSE with `error`. */
static bool
set_up (Unwinder *self, void *index, UnwindMakeSlab slab_func, GError **error)
{
  self->index = index != MAP_FAILED ? index : NULL;
  self->wake_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  self->ready_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (self->index == NULL || self->wake_fd < 0 || self->ready_fd < 0)
    {
      sysprof_set_error_errno (error,
                               "Cannot walk stacks with tables: no memory or descriptors for "
                               "them (ulimit -v, ulimit -n)");
      return false;
    }

  self->publisher = sysprof_unwind_publisher_new (self->index, slab_func, self);
  self->mapping_events = self->tells_files ? sysprof_mapping_events_new (self->wake_fd) : NULL;
  self->events_until = INT64_MAX;
  self->files = sysprof_code_files_new (self->publisher, self->privilege, self->mapping_events,
                                        self->wake_fd, error);
  if (self->files == NULL)
    return false;
  self->processes = sysprof_code_processes_new (self->publisher, self->files, self->privilege,
                                                self->mapping_events);
  self->pending = sysprof_pending_samples_new ();
  self->records = g_byte_array_new ();
  self->pending_records = g_array_new (false, false, sizeof (PendingRecord));
  return true;
}

Unwinder *
sysprof_unwinder_new (Privilege *privilege, const UnwinderOptions *options, GError **error)
{
  Unwinder *self = make_unwinder (privilege);

  self->tells_files = !options->by_lists && sysprof_walk_program_asks_kernel ();
  if (!sysprof_privilege_make_walker_maps (self->privilege, &self->program))
    {
      set_load_error (error);
      sysprof_unwinder_free (self);
      return NULL;
    }

  if (set_up (self,
              mmap (NULL, sizeof *self->index, PROT_READ | PROT_WRITE, MAP_SHARED,
                    self->program.index_fd, 0),
              make_slab, error))
    {
      if (options->without_program)
        return self;
      /* Start this thread only now. The processes that build tables have just been forked, and
       * no other thread may hold the allocator's lock during fork(). */
      self->loading = sysprof_loading_start (self->privilege, &self->program,
                                             options->call_depth, options->by_lists);
      if (self->loading != NULL)
        return self;
      set_load_error (error);
    }

  sysprof_unwinder_free (self);
  return NULL;
}

Unwinder *
sysprof_unwinder_new_for_copies (Privilege *privilege, GError **error)
{
  Unwinder *self;

  if (PERF_COPY_REGISTERS == 0)
    {
      g_set_error_literal (
          error, SYSPROF_ERROR, SYSPROF_ERROR_UNSUPPORTED,
          "Cannot walk copies of stacks: their registers are known on x86-64 and arm64 alone, and "
          "this machine is neither. --unwind=frame-pointer records what the kernel finds.");
      return NULL;
    }

  self = make_unwinder (privilege);
  if (set_up (self,
              mmap (NULL, sizeof *self->index, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
              NULL, error))
    {
      self->copies = sysprof_copied_samples_new (
          self->processes, sysprof_unwind_publisher_get_memory (self->publisher), self->pending,
          self->wake_fd, error);
      if (self->copies != NULL)
        return self;
    }

  sysprof_unwinder_free (self);
  return NULL;
}

const WalkProgram *
sysprof_unwinder_get_program (const Unwinder *self)
{
  return self->copies == NULL ? &self->program : NULL;
}

int
sysprof_unwinder_get_loaded_fd (const Unwinder *self)
{
  return sysprof_loading_get_fd (self->loading);
}

bool
sysprof_unwinder_finish_loading (Unwinder *self, GError **error)
{
  self->program.fd = sysprof_loading_take (self->loading);
  if (self->program.fd < 0)
    set_load_error (error);
  return self->program.fd >= 0;
}

static bool
start (Unwinder *self,
       PerfSessionOptions options,
       const int32_t *only,
       unsigned n_only,
       GError **error)
{
  if (!sysprof_unwinder_open_rings (self, &options, error))
    return false;

  self->n_only = n_only;
  for (unsigned i = 0; i < n_only; i++)
    sysprof_code_processes_narrow (self->processes, only[i]);

  self->thread = g_thread_try_new ("sysprof-unwind", sysprof_unwinder_run, self, error);
  return self->thread != NULL;
}

bool
sysprof_unwinder_start (Unwinder *self, const int32_t *only, unsigned n_only, GError **error)
{
  return start (self, (PerfSessionOptions){ .target = PERF_TARGET_SYSTEM }, only, n_only,
                error);
}

bool
sysprof_unwinder_start_for_tasks (Unwinder *self,
                                  const pid_t *tasks,
                                  unsigned n_tasks,
                                  const int32_t *only,
                                  unsigned n_only,
                                  GError **error)
{
  const PerfSessionOptions options = {
    .target = PERF_TARGET_TASKS,
    .tasks = tasks,
    .n_tasks = n_tasks,
    .follows_forks = true,
  };

  return start (self, options, only, n_only, error);
}

void
sysprof_unwinder_widen (Unwinder *self)
{
  self->is_shared = true;
  atomic_store_explicit (&self->is_to_widen, true, memory_order_release);
  sysprof_unwinder_notify (self->wake_fd);
}

bool
sysprof_unwinder_is_widened (const Unwinder *self)
{
  return self->is_shared;
}

MappingEvents *
sysprof_unwinder_get_mapping_events (const Unwinder *self)
{
  return self->n_only == 0 ? self->mapping_events : NULL;
}

void
sysprof_unwinder_rely_on_pump (Unwinder *self)
{
  atomic_store_explicit (&self->relies_on_pump, true, memory_order_release);
  sysprof_unwinder_notify (self->wake_fd);
}

void
sysprof_unwinder_set_copy_budget (Unwinder *self, size_t n_bytes)
{
  __atomic_store_n (&self->index->copy_budget, (uint32_t) MIN (n_bytes, UINT32_MAX),
                    __ATOMIC_RELAXED);
  sysprof_unwinder_note_drained (self);
}

void
sysprof_unwinder_note_drained (Unwinder *self)
{
  /* Only the pump's thread writes the counter; the BPF program reads it. */
  __atomic_store_n (&self->index->n_drains, self->index->n_drains + 1, __ATOMIC_RELAXED);
}

bool
sysprof_unwinder_take_pending (const WalkedSample *sample, void *data)
{
  Unwinder *self = data;

  if (self->copies != NULL)
    return sysprof_copied_samples_add (self->copies, sample);
  if (!sysprof_pending_samples_add (self->pending, sample))
    return false;
  if (atomic_load_explicit (&self->relies_on_pump, memory_order_relaxed))
    sysprof_mapping_events_wake_later (self->mapping_events);
  else
    sysprof_unwinder_notify (self->wake_fd);
  return true;
}

void
sysprof_unwinder_write_finished (Unwinder *self, PerfDecoder *decoder)
{
  if (self->copies != NULL)
    {
      sysprof_copied_samples_send (self->copies);
      sysprof_copied_samples_write (self->copies, decoder);
    }
  sysprof_pending_samples_write (self->pending, decoder);
  if (self->mapping_events != NULL)
    sysprof_mapping_events_write_named (self->mapping_events, decoder);
}

void
sysprof_unwinder_wait_until_ready (Unwinder *self, int64_t patience_msec)
{
  struct pollfd ready = { .fd = self->ready_fd, .events = POLLIN };

  /* After a timeout, the first samples are finished later. */
  (void) poll (&ready, 1, (int) patience_msec);
}

static void
end_thread (Unwinder *self)
{
  if (self->thread == NULL)
    return;

  atomic_store_explicit (&self->stop_requested, true, memory_order_release);
  sysprof_unwinder_notify (self->wake_fd);
  g_thread_join (g_steal_pointer (&self->thread));
}

void
sysprof_unwinder_stop (Unwinder *self, UnwinderStatus *status)
{
  if (self->copies != NULL)
    sysprof_copied_samples_send (self->copies);
  end_thread (self);
  if (self->copies != NULL)
    self->status.copies = sysprof_copied_samples_get_status (self->copies);
  self->status.files = sysprof_code_files_get_status (self->files);
  self->status.use = sysprof_unwind_publisher_get_use (self->publisher);
  self->status.pending = sysprof_pending_samples_get_status (self->pending);
  *status = self->status;
}

void
sysprof_unwinder_keep_files (Unwinder *self, unsigned most)
{
  sysprof_code_files_keep (self->files, most);
}

PinnedFiles *
sysprof_unwinder_steal_pinned_files (Unwinder *self)
{
  return sysprof_code_files_steal_kept (self->files);
}

void
sysprof_unwinder_free (Unwinder *self)
{
  if (self == NULL)
    return;

  end_thread (self);
  sysprof_unwinder_close_rings (self);
  sysprof_copied_samples_free (self->copies);
  sysprof_pending_samples_free (self->pending);
  sysprof_code_processes_free (self->processes);
  sysprof_code_files_free (self->files);
  sysprof_mapping_events_free (self->mapping_events);
  if (self->publisher != NULL)
    sysprof_unwind_publisher_free (self->publisher);
  for (uint32_t i = 0; i < UNWIND_MOST_SLABS; i++)
    if (self->slab[i] != NULL)
      (void) munmap (self->slab[i], UNWIND_SLAB_SIZE);
  if (self->index != NULL)
    (void) munmap (self->index, sizeof *self->index);
  sysprof_loading_free (self->loading);
  sysprof_walk_program_clear (&self->program);
  sysprof_autofd_close (&self->wake_fd);
  sysprof_autofd_close (&self->ready_fd);
  sysprof_privilege_unref (self->privilege);
  g_clear_pointer (&self->records, g_byte_array_unref);
  g_clear_pointer (&self->pending_records, g_array_unref);
  g_clear_pointer (&self->to_read, g_array_unref);
  g_free (self);
}
