// SPDX-License-Identifier: GPL-3.0-or-later

/* PerfEventOpen: a kernel event for recorders that do not know the interface Rights. It permits
 * the events that such recorders use: no breakpoints, probes, or devices of the processor. */

#include "rights/rights.h"
#include "sysprofd/sysprofd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LEAST_PERIOD 100000u /* events or ns between two samples */
#define KNOWN_FLAGS  (PERF_FLAG_FD_NO_GROUP | PERF_FLAG_FD_OUTPUT | PERF_FLAG_FD_CLOEXEC)

typedef enum
{
  OPTION_BUILD_ID,
  OPTION_CLOCKID,
  OPTION_COMM,
  OPTION_CONFIG,
  OPTION_DISABLED,
  OPTION_EXCLUDE_IDLE,
  OPTION_MMAP,
  OPTION_MMAP2,
  OPTION_SAMPLE_ID_ALL,
  OPTION_SAMPLE_PERIOD,
  OPTION_SAMPLE_REGS_USER,
  OPTION_SAMPLE_STACK_USER,
  OPTION_SAMPLE_TYPE,
  OPTION_TASK,
  OPTION_TYPE,
  OPTION_USE_CLOCKID,
  OPTION_WAKEUP_EVENTS,
  N_OPTIONS
} Option;

/* clang-format off */
static const struct { const char *name; char type; uint64_t otherwise; } options[] = {
  [OPTION_BUILD_ID]          = { "build_id", 'b', 0 },
  [OPTION_CLOCKID]           = { "clockid", 'i', CLOCK_MONOTONIC },
  [OPTION_COMM]              = { "comm", 'b', 0 },
  [OPTION_CONFIG]            = { "config", 't', 0 },
  [OPTION_DISABLED]          = { "disabled", 'b', 0 },
  [OPTION_EXCLUDE_IDLE]      = { "exclude_idle", 'b', 0 },
  [OPTION_MMAP]              = { "mmap", 'b', 0 },
  [OPTION_MMAP2]             = { "mmap2", 'b', 0 },
  [OPTION_SAMPLE_ID_ALL]     = { "sample_id_all", 'b', 0 },
  [OPTION_SAMPLE_PERIOD]     = { "sample_period", 't', 0 },
  [OPTION_SAMPLE_REGS_USER]  = { "sample_regs_user", 't', 0 },
  [OPTION_SAMPLE_STACK_USER] = { "sample_stack_user", 'u', 0 },
  [OPTION_SAMPLE_TYPE]       = { "sample_type", 't', 0 },
  [OPTION_TASK]              = { "task", 'b', 0 },
  [OPTION_TYPE]              = { "type", 'u', 0 },
  [OPTION_USE_CLOCKID]       = { "use_clockid", 'b', 0 },
  [OPTION_WAKEUP_EVENTS]     = { "wakeup_events", 'u', 149 },
};
/* clang-format on */

_Static_assert(sizeof options / sizeof options[0] == N_OPTIONS, "a row each");

/* Reads one entry of the dictionary. FALSE if its value has another type than its option. */
static bool
read_option (BusReader *reader, uint64_t values[N_OPTIONS])
{
  const char *key, *type;
  BusReader value;
  Option option = 0;

  sysprof_dbus_read_align (reader, 8);
  key = sysprof_dbus_read_string (reader);
  value = *reader;
  sysprof_dbus_skip (reader, "v");
  while (option < N_OPTIONS && strcmp (options[option].name, key) != 0)
    option++;
  if (option == N_OPTIONS)
    return true;

  type = sysprof_dbus_read_signature (&value);
  if (type[0] != options[option].type || type[1] != '\0')
    return false;
  values[option] =
      *type == 't' ? sysprof_dbus_read_u64 (&value) : sysprof_dbus_read_u32 (&value);
  return true;
}

/* FALSE with EINVAL. */
static bool
read_attr (BusReader *reader, struct perf_event_attr *attr)
{
  uint64_t values[N_OPTIONS];
  bool is_valid = true;
  size_t end;

  for (Option option = 0; option < N_OPTIONS; option++)
    values[option] = options[option].otherwise;
  end = sysprof_dbus_read_array (reader, 8);
  while (is_valid && reader->at < end && !reader->is_failed)
    is_valid = read_option (reader, values);
  errno = EINVAL;

  *attr = (struct perf_event_attr){
    .size = sizeof *attr,
    .type = (uint32_t) values[OPTION_TYPE],
    .config = values[OPTION_CONFIG],
    .sample_period = values[OPTION_SAMPLE_PERIOD],
    .sample_type = values[OPTION_SAMPLE_TYPE],
    .wakeup_events = (uint32_t) values[OPTION_WAKEUP_EVENTS],
    .disabled = values[OPTION_DISABLED] != 0,
    .comm = values[OPTION_COMM] != 0,
    .task = values[OPTION_TASK] != 0,
    .mmap = values[OPTION_MMAP] != 0,
    .mmap2 = values[OPTION_MMAP2] != 0,
    .build_id = values[OPTION_BUILD_ID] != 0,
    .exclude_idle = values[OPTION_EXCLUDE_IDLE] != 0,
    .sample_id_all = values[OPTION_SAMPLE_ID_ALL] != 0,
    .use_clockid = 1,
    .clockid = (int32_t) values[OPTION_CLOCKID],
    .sample_stack_user = (uint32_t) values[OPTION_SAMPLE_STACK_USER],
    .sample_regs_user = values[OPTION_SAMPLE_REGS_USER],
  };
  if (values[OPTION_USE_CLOCKID] == 0 || attr->clockid < 0)
    attr->clockid = CLOCK_MONOTONIC;
  return is_valid && !reader->is_failed;
}

static bool
is_permitted (const struct perf_event_attr *attr)
{
  int fd = attr->type == PERF_TYPE_TRACEPOINT ? sysprof_rights_open_switch_format () : -1;
  uint64_t switch_id = fd >= 0 ? sysprof_rights_read_switch_id (fd) : 0;

  if (fd >= 0)
    (void) close (fd);
  errno = EPERM;
  return sysprof_rights_is_known_event (attr, switch_id);
}

/* -1 with errno. */
static int
open_event (Call *call)
{
  struct perf_event_attr attr;
  bool is_valid = read_attr (call->values, &attr);
  int32_t pid = (int32_t) sysprof_dbus_read_u32 (call->values);
  int32_t cpu = (int32_t) sysprof_dbus_read_u32 (call->values);
  int group = sysprof_call_get_fd (call, sysprof_dbus_read_u32 (call->values));
  uint64_t flags = sysprof_dbus_read_u64 (call->values);

  if (!is_valid)
    return -1;
  if (!is_permitted (&attr))
    return -1;
  errno = EINVAL;
  /* Process 0 would be this one, and the flag for cgroups would make `pid` a descriptor. */
  if (pid == 0 || (flags & ~(uint64_t) KNOWN_FLAGS) != 0 ||
      (attr.type != PERF_TYPE_TRACEPOINT && attr.sample_period < LEAST_PERIOD))
    return -1;

  return (int) syscall (SYS_perf_event_open, &attr, pid, cpu, group,
                        flags | PERF_FLAG_FD_CLOEXEC);
}

void
sysprof_run_perf_event_open (Call *call)
{
  int fd = open_event (call);

  if (fd >= 0)
    sysprof_reply_set_fd (&call->reply, fd);
  else
    sysprof_reply_fail (&call->reply, errno == EMFILE ? "LimitsExceeded" : "Failed",
                        "Failed to create perf counter: %s", strerror (errno));
}
