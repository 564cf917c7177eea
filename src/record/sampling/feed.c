// SPDX-License-Identifier: GPL-3.0-or-later

/* Drains a perf session on the pump's thread and reports its losses to the pump. Each loss must
 * be reported exactly once. */

#include "record/sampling/feed.h"

#include "perf/perf.h"
#include "record/clock.h"
#include "record/recording-context.h"

/* A full ring wakes the pump. This timer drains rings that do not fill, so that short-lived
 * processes can be read in /proc before they exit. */
#define DRAIN_INTERVAL (200 * NSEC_PER_MSEC)
#define CPUS_INTERVAL  (1 * NSEC_PER_SEC)

static void
add_growth (EventFeed *self, LossKind kind, uint64_t n, uint64_t *told)
{
  if (n <= *told)
    return;

  sysprof_context_add_lost (self->context, kind, n - *told);
  *told = n;
}

/* PERF_RECORD_LOST does not separate samples from other records, and the last losses are never
 * reported. So it only triggers reading of the events' own counts. Before Linux 6.0 there are
 * no such counts, and every lost record counts as a sample. */
static void
account (EventFeed *self, bool is_last)
{
  const PerfDecoder *decoder = sysprof_perf_session_get_decoder (self->session);

  if ((is_last || decoder->n_kernel_lost != self->kernel_lost) &&
      !sysprof_perf_session_count_losses (self->session, &self->losses))
    self->losses.n_samples = decoder->n_kernel_lost;
  self->kernel_lost = decoder->n_kernel_lost;

  add_growth (self, self->sample_kind, self->losses.n_samples + decoder->n_dropped_samples,
              &self->told_samples);
  add_growth (self, LOST_RECORDS, self->losses.n_records + decoder->n_dropped_records,
              &self->told_records);
  if (decoder->n_throttled > self->told_throttled)
    sysprof_context_add_throttled (self->context, decoder->n_throttled - self->told_throttled);
  self->told_throttled = decoder->n_throttled;
}

static void
drain (EventFeed *self)
{
  PerfDecoder *decoder = sysprof_perf_session_get_decoder (self->session);
  int64_t begin = sysprof_clock_now ();

  sysprof_perf_session_drain (self->session);
  sysprof_thread_names_settle (decoder->thread_names, begin);
  if (decoder->drained != NULL)
    decoder->drained (begin, decoder->drained_data);
}

/* Drains all rings, so that the other rings do not wake the pump soon after. */
static void
ring_ready (RecordingContext *context, int fd, void *data)
{
  EventFeed *self = data;

  sysprof_perf_session_get_decoder (self->session)->drops_samples =
      sysprof_context_is_congested (context);
  drain (self);
}

static void
drain_tick (RecordingContext *context, int64_t now, void *data)
{
  EventFeed *self = data;

  if (self->session == NULL)
    return;

  sysprof_perf_session_get_decoder (self->session)->drops_samples =
      sysprof_context_is_congested (context);
  drain (self);
  account (self, false);
}

static void
cpus_tick (RecordingContext *context, int64_t now, void *data)
{
  EventFeed *self = data;
  g_autofree char *online = NULL;

  if (self->session != NULL && g_file_get_contents (CPUS_ONLINE_PATH, &online, NULL, NULL))
    sysprof_perf_session_update_cpus (self->session, online);
}

static void
leader_changed (int fd, bool is_added, void *data)
{
  EventFeed *self = data;

  if (is_added)
    sysprof_pump_watch_fd (self->context->pump, fd, ring_ready, self);
  else
    sysprof_pump_unwatch_fd (self->context->pump, fd);
}

void
sysprof_event_feed_start (EventFeed *self,
                          RecordingContext *context,
                          PerfSession *session,
                          LossKind sample_kind)
{
  PerfDecoder *decoder = sysprof_perf_session_get_decoder (session);

  *self = (EventFeed){ .context = context, .session = session, .sample_kind = sample_kind };
  decoder->writer = context->writer;
  decoder->log = &context->process_log;
  decoder->kernel_symbols = &context->kernel_symbol_log;
  decoder->thread_names = &context->thread_names;
  sysprof_perf_session_set_leader_func (session, leader_changed, self);
  sysprof_pump_add_tick (context->pump, DRAIN_INTERVAL, drain_tick, self);
  sysprof_pump_add_tick (context->pump, CPUS_INTERVAL, cpus_tick, self);
}

static void
forget_leader (int fd, bool is_added, void *data)
{
  sysprof_pump_unwatch_fd (data, fd);
}

void
sysprof_event_feed_drain (EventFeed *self)
{
  sysprof_perf_session_disable (self->session);
  drain (self);
}

void
sysprof_event_feed_stop (EventFeed *self)
{
  if (self->session == NULL)
    return;

  sysprof_event_feed_drain (self);
  account (self, true);
  sysprof_perf_session_set_leader_func (self->session, forget_leader, self->context->pump);
  g_clear_pointer (&self->session, sysprof_perf_session_close);
}
