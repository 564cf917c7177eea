// SPDX-License-Identifier: BSD-2-Clause

/* The functions that an instrumented program calls, one for each type of frame. Each writes its
 * frame straight into the ring of its thread (collector-thread.c). */

#include "capture/byte-order.h"
#include "capture/capture.h"
#include "capture/collector-private.h"

#include <assert.h>
#include <sched.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#define ADDRESSES_MAX      128
#define LOG_TEXT_SIZE      2048
#define VALUES_PER_GROUP   8U
#define COUNTERS_PER_FRAME 127U /* 16288 bytes */
#define GROUPS_PER_FRAME   170U /* 16352 bytes */
#define COUNTER_ID_MAX     0xFFFFFFU

static uint32_t next_counter_id; /* atomic; 0 = none given out yet */

static void
set_header (const Collector *self, uint8_t *frame, SysprofCaptureFrameType type, int64_t time)
{
  SysprofCaptureFrame header = {
    .cpu = (int16_t) sched_getcpu (),
    .pid = self->pid,
    .time = time,
    .type = (uint8_t) type,
  };

  memcpy (frame, &header, sizeof header);
}

static void
put_text (char *field, size_t field_size, const char *text)
{
  if (text != NULL)
    memcpy (field, text, strnlen (text, field_size - 1));
}

/* Longest text that fits behind `fixed` bytes of a frame, the NUL not counted. */
static size_t
longest_text (const Collector *self, size_t fixed)
{
  size_t longest = sysprof_collector_get_longest (self);

  return longest > fixed ? longest - fixed - 1 : 0;
}

/* `len`, or less where the text was cut in the middle of a UTF-8 character. */
static size_t
whole_characters (const char *text, size_t len)
{
  size_t n_following = 0;
  size_t n_needed;
  uint8_t lead;

  while (n_following < len && n_following < 3 &&
         ((uint8_t) text[len - 1 - n_following] & 0xc0) == 0x80)
    n_following++;
  if (n_following == len)
    return len;

  lead = (uint8_t) text[len - 1 - n_following];
  n_needed = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;

  return n_following < n_needed ? len - 1 - n_following : len;
}

/* Bytes of `text` that are kept where there is room for `limit`. */
static size_t
cut_text (const char *text, size_t limit)
{
  size_t len = strnlen (text, limit + 1);

  return len <= limit ? len : whole_characters (text, limit);
}

/* Asks for the stack, into the frame. Unwinders are known to write a little before the array as
 * well: the fixed part of the frame comes after. */
static unsigned int
get_stack (uint8_t *addrs, SysprofBacktraceFunc backtrace_func, void *backtrace_data)
{
  int n_addrs = 0;

  if (backtrace_func != NULL)
    n_addrs = backtrace_func ((SysprofCaptureAddress *) (void *) addrs, ADDRESSES_MAX,
                              backtrace_data);

  if (n_addrs < 0)
    return 0;

  return n_addrs > ADDRESSES_MAX ? ADDRESSES_MAX : (unsigned int) n_addrs;
}

void
sysprof_collector_allocate (SysprofCaptureAddress alloc_addr,
                            int64_t alloc_size,
                            SysprofBacktraceFunc backtrace_func,
                            void *backtrace_data)
{
  const size_t fixed = sizeof (SysprofCaptureAllocation);
  bool is_free = alloc_size <= 0;
  size_t stack_size = is_free ? 0 : ADDRESSES_MAX * sizeof (SysprofCaptureAddress);
  Collector *self = sysprof_collector_enter ();
  uint8_t *frame;

  if (self == NULL)
    return;

  frame = sysprof_collector_reserve (self, fixed + stack_size);
  if (frame != NULL)
    {
      SysprofCaptureAllocation *allocation = (SysprofCaptureAllocation *) frame;
      unsigned int n_addrs =
          is_free ? 0 : get_stack (frame + fixed, backtrace_func, backtrace_data);

      memset (frame, 0, fixed);
      set_header (self, frame, SYSPROF_CAPTURE_FRAME_ALLOCATION, SYSPROF_CAPTURE_CURRENT_TIME);
      allocation->alloc_addr = alloc_addr;
      allocation->alloc_size = is_free ? 0 : alloc_size;
      allocation->tid = self->tid;
      allocation->n_addrs = (uint16_t) n_addrs;
      sysprof_collector_commit (self, frame, fixed + n_addrs * sizeof (SysprofCaptureAddress));
    }
  sysprof_collector_leave (self);
}

/* A trace is a sample that says whether a function begins. */
static_assert (offsetof (SysprofCaptureSample, tid) == offsetof (SysprofCaptureTrace, tid), "");
static_assert (sizeof (SysprofCaptureSample) == sizeof (SysprofCaptureTrace), "");

static void
add_stack (SysprofCaptureFrameType type,
           SysprofBacktraceFunc backtrace_func,
           void *backtrace_data,
           bool entering)
{
  const size_t fixed = sizeof (SysprofCaptureTrace);
  Collector *self = sysprof_collector_enter ();
  uint8_t *frame;

  if (self == NULL)
    return;

  frame =
      sysprof_collector_reserve (self, fixed + ADDRESSES_MAX * sizeof (SysprofCaptureAddress));
  if (frame != NULL)
    {
      SysprofCaptureTrace *trace = (SysprofCaptureTrace *) frame;
      unsigned int n_addrs = get_stack (frame + fixed, backtrace_func, backtrace_data);

      memset (frame, 0, fixed);
      set_header (self, frame, type, SYSPROF_CAPTURE_CURRENT_TIME);
      trace->tid = self->tid;
      trace->entering = entering;
      trace->n_addrs = (uint16_t) n_addrs;
      sysprof_collector_commit (self, frame, fixed + n_addrs * sizeof (SysprofCaptureAddress));
    }
  sysprof_collector_leave (self);
}

void
sysprof_collector_sample (SysprofBacktraceFunc backtrace_func, void *backtrace_data)
{
  add_stack (SYSPROF_CAPTURE_FRAME_SAMPLE, backtrace_func, backtrace_data, false);
}

void
sysprof_collector_trace (SysprofBacktraceFunc backtrace_func,
                         void *backtrace_data,
                         bool entering)
{
  add_stack (SYSPROF_CAPTURE_FRAME_TRACE, backtrace_func, backtrace_data, entering);
}

static SysprofCaptureMark *
begin_mark (Collector *self,
            int64_t time,
            int64_t duration,
            const char *group,
            const char *name,
            size_t message_len)
{
  SysprofCaptureMark *mark =
      (SysprofCaptureMark *) sysprof_collector_reserve (self, sizeof *mark + message_len + 1);

  if (mark == NULL)
    return NULL;

  memset (mark, 0, sizeof *mark);
  set_header (self, (uint8_t *) mark, SYSPROF_CAPTURE_FRAME_MARK, time);
  mark->duration = duration;
  put_text (mark->group, sizeof mark->group, group);
  put_text (mark->name, sizeof mark->name, name);

  return mark;
}

void
sysprof_collector_mark (int64_t time,
                        int64_t duration,
                        const char *group,
                        const char *mark,
                        const char *message)
{
  Collector *self = sysprof_collector_enter ();
  SysprofCaptureMark *frame;
  size_t len;

  if (self == NULL)
    return;

  if (message == NULL)
    message = "";
  len = cut_text (message, longest_text (self, sizeof *frame));
  frame = begin_mark (self, time, duration, group, mark, len);
  if (frame != NULL)
    {
      memcpy (frame->message, message, len);
      frame->message[len] = '\0';
      sysprof_collector_commit (self, (uint8_t *) frame, sizeof *frame + len + 1);
    }
  sysprof_collector_leave (self);
}

void
sysprof_collector_mark_printf (int64_t time,
                               int64_t duration,
                               const char *group,
                               const char *mark,
                               const char *message_format,
                               ...)
{
  va_list args;

  va_start (args, message_format);
  sysprof_collector_mark_vprintf (time, duration, group, mark, message_format, args);
  va_end (args);
}

/* The text is formatted straight into the ring, after its length was found out. */
void
sysprof_collector_mark_vprintf (int64_t time,
                                int64_t duration,
                                const char *group,
                                const char *mark,
                                const char *message_format,
                                va_list args)
{
  Collector *self = sysprof_collector_enter ();
  SysprofCaptureMark *frame;
  size_t len, limit;
  va_list again;
  int needed;

  if (self == NULL)
    return;

  limit = longest_text (self, sizeof *frame);
  va_copy (again, args);
  needed = message_format != NULL ? vsnprintf (NULL, 0, message_format, again) : 0;
  va_end (again);
  len = needed > 0 ? (size_t) needed : 0;
  if (len > limit)
    len = limit;

  frame = begin_mark (self, time, duration, group, mark, len);
  if (frame != NULL)
    {
      frame->message[0] = '\0';
      if (len != 0)
        (void) vsnprintf (frame->message, len + 1, message_format,
                          args); /* as long as before */
      frame->message[len] = '\0';
      if (needed > 0 && (size_t) needed > len)
        {
          len = whole_characters (frame->message, len);
          frame->message[len] = '\0';
        }
      sysprof_collector_commit (self, (uint8_t *) frame, sizeof *frame + len + 1);
    }
  sysprof_collector_leave (self);
}

void
sysprof_collector_log (int severity, const char *domain, const char *message)
{
  Collector *self = sysprof_collector_enter ();
  SysprofCaptureLog *log;
  size_t len;

  if (self == NULL)
    return;

  if (message == NULL)
    message = "";
  len = cut_text (message, longest_text (self, sizeof *log));
  log = (SysprofCaptureLog *) sysprof_collector_reserve (self, sizeof *log + len + 1);
  if (log != NULL)
    {
      memset (log, 0, sizeof *log);
      set_header (self, (uint8_t *) log, SYSPROF_CAPTURE_FRAME_LOG,
                  SYSPROF_CAPTURE_CURRENT_TIME);
      log->severity = (uint16_t) severity;
      put_text (log->domain, sizeof log->domain, domain);
      memcpy (log->message, message, len);
      log->message[len] = '\0';
      sysprof_collector_commit (self, (uint8_t *) log, sizeof *log + len + 1);
    }
  sysprof_collector_leave (self);
}

void
sysprof_collector_log_printf (int severity, const char *domain, const char *format, ...)
{
  char text[LOG_TEXT_SIZE];
  va_list args;

  if (!sysprof_collector_is_active ())
    return;

  va_start (args, format);
  if (vsnprintf (text, sizeof text, format, args) < 0)
    text[0] = '\0';
  va_end (args);
  sysprof_collector_log (severity, domain, text);
}

/* Ids are counted per process, and from a start that depends on it, since recorders of old put
 * those of several processes into one capture as they are. */
unsigned int
sysprof_collector_request_counters (unsigned int n_counters)
{
  Collector *self = sysprof_collector_enter ();
  uint32_t first, next;

  if (self == NULL)
    return 0;

  first = __atomic_load_n (&next_counter_id, __ATOMIC_RELAXED);
  do
    {
      next = first != 0 ? first : (((uint32_t) self->pid & 0xFFFFU) << 8 | 1);
      if (n_counters == 0 || n_counters > COUNTER_ID_MAX + 1 - next)
        {
          sysprof_collector_leave (self);
          return 0;
        }
    }
  while (!__atomic_compare_exchange_n (&next_counter_id, &first, next + n_counters, false,
                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  sysprof_collector_leave (self);

  return next;
}

static void
define_some (Collector *self, const SysprofCaptureCounter *counters, unsigned int n_counters)
{
  size_t len = sizeof (SysprofCaptureCounterDefine) + n_counters * sizeof *counters;
  SysprofCaptureCounterDefine *define =
      (SysprofCaptureCounterDefine *) sysprof_collector_reserve (self, len);

  if (define == NULL)
    return;

  memset (define, 0, len);
  set_header (self, (uint8_t *) define, SYSPROF_CAPTURE_FRAME_CTRDEF,
              SYSPROF_CAPTURE_CURRENT_TIME);
  define->n_counters = (uint16_t) n_counters;
  for (unsigned int i = 0; i < n_counters; i++)
    {
      SysprofCaptureCounter *to = &define->counters[i];

      put_text (to->category, sizeof to->category, counters[i].category);
      put_text (to->name, sizeof to->name, counters[i].name);
      put_text (to->description, sizeof to->description, counters[i].description);
      to->id = counters[i].id;
      to->type = counters[i].type;
      to->value = counters[i].value;
    }
  sysprof_collector_commit (self, (uint8_t *) define, len);
}

void
sysprof_collector_define_counters (const SysprofCaptureCounter *counters,
                                   unsigned int n_counters)
{
  Collector *self = sysprof_collector_enter ();

  if (self == NULL)
    return;

  for (unsigned int at = 0; at < n_counters; at += COUNTERS_PER_FRAME)
    define_some (self, counters + at,
                 n_counters - at < COUNTERS_PER_FRAME ? n_counters - at : COUNTERS_PER_FRAME);
  sysprof_collector_leave (self);
}

static void
set_some (Collector *self,
          const unsigned int *ids,
          const SysprofCaptureCounterValue *values,
          unsigned int n_counters)
{
  unsigned int n_groups = (n_counters + VALUES_PER_GROUP - 1) / VALUES_PER_GROUP;
  size_t len =
      sizeof (SysprofCaptureCounterSet) + n_groups * sizeof (SysprofCaptureCounterValues);
  SysprofCaptureCounterSet *set =
      (SysprofCaptureCounterSet *) sysprof_collector_reserve (self, len);

  if (set == NULL)
    return;

  memset (set, 0, len);
  set_header (self, (uint8_t *) set, SYSPROF_CAPTURE_FRAME_CTRSET,
              SYSPROF_CAPTURE_CURRENT_TIME);
  set->n_values = (uint16_t) n_groups;
  for (unsigned int i = 0; i < n_counters; i++)
    {
      SysprofCaptureCounterValues *group = &set->values[i / VALUES_PER_GROUP];

      group->ids[i % VALUES_PER_GROUP] = ids[i];
      group->values[i % VALUES_PER_GROUP] = values[i];
    }
  sysprof_collector_commit (self, (uint8_t *) set, len);
}

void
sysprof_collector_set_counters (const unsigned int *counters_ids,
                                const SysprofCaptureCounterValue *values,
                                unsigned int n_counters)
{
  const unsigned int per_frame = GROUPS_PER_FRAME * VALUES_PER_GROUP;
  Collector *self = sysprof_collector_enter ();

  if (self == NULL)
    return;

  for (unsigned int at = 0; at < n_counters; at += per_frame)
    set_some (self, counters_ids + at, values + at,
              n_counters - at < per_frame ? n_counters - at : per_frame);
  sysprof_collector_leave (self);
}
