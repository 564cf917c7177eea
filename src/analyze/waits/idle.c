// SPDX-License-Identifier: GPL-3.0-or-later

/* Tells an idle main loop from a blocked one.
 *
 * Both wait in poll() or similar calls. An idle loop was called by nothing but the loop. A
 * blocked thread has a caller with work to do: a callback of the loop runs another loop, or
 * waits for the reply of a server. So a dispatching function, or one that waits for a certain
 * reply, is among its callers. */

#include "analyze/waits/waits.h"

#include <string.h>

/* Calls that wait for whatever comes first. */
static const char *const event_calls[] = {
  "epoll_pwait", "epoll_pwait2", "epoll_wait",    "pause",           "poll",
  "ppoll",       "pselect6",     "rt_sigsuspend", "rt_sigtimedwait", "select",
};

/* Whoever waits below one of these has work in hand. */
static const char *const busy_functions[] = {
  /* event loops call what was registered for an event */
  "g_main_dispatch",
  "g_main_context_dispatch",
  "g_main_context_dispatch_unlocked",
  "g_source_callback_func",
  "sd_event_dispatch",
  "source_dispatch",
  "event_process_active_single_queue",
  "ev_invoke_pending",
  "uv__run_timers",
  "uv__run_pending",
  "wl_event_loop_dispatch_idle",
  "QCoreApplication::notifyInternal2",
  /* an answer is waited for */
  "g_dbus_connection_send_message_with_reply_sync",
  "g_socket_condition_timed_wait",
  "g_spawn_sync",
  "sd_bus_call",
  "dbus_connection_send_with_reply_and_block",
  "xcb_wait_for_reply",
  "xcb_wait_for_reply64",
  "_XReply",
  "wl_display_roundtrip",
  "wl_display_roundtrip_queue",
  "getaddrinfo",
  "__res_context_send",
  "connect",
  "PQexec",
  "PQgetResult",
  "curl_easy_perform",
};

static bool
is_among (const char *const *names, size_t n, const char *name)
{
  for (size_t i = 0; i < n; i++)
    if (strcmp (names[i], name) == 0)
      return true;
  return false;
}

uint8_t *
sysprof_waits_find_idle (const Store *store, const SymbolTable *symbols)
{
  const Waits *waits = &store->waits;
  g_autofree uint8_t *is_busy = sysprof_stacks_find_functions (
      store, symbols, busy_functions, G_N_ELEMENTS (busy_functions), false);
  g_autofree uint8_t *waits_for_events = NULL; /* [names.n] */
  uint8_t *is_idle = g_new0 (uint8_t, MAX (waits->events.n, 1));
  SyscallNames names;

  sysprof_syscall_names_init (&names, store);
  waits_for_events = g_new0 (uint8_t, MAX (names.n, 1));
  for (uint32_t i = 0; i < names.n; i++)
    waits_for_events[i] = names.names[i] != NULL &&
                          is_among (event_calls, G_N_ELEMENTS (event_calls), names.names[i]);

  for (uint32_t i = 0; i < waits->events.n && sysprof_is_wanted_at (i); i++)
    {
      const Wait *row = &waits->row[i];
      uint32_t number = row->syscall - 1;

      if (row->reason == OFF_CPU_SYSCALL)
        is_idle[i] = row->syscall != 0 && number < names.n && waits_for_events[number] &&
                     !is_busy[waits->events.stack[i]];
      else if (row->reason == OFF_CPU_OTHER || row->reason == OFF_CPU_SLEEP)
        is_idle[i] = store->processes.row[waits->events.process[i]].is_kernel &&
                     (row->flags & OFF_CPU_UNINTERRUPTIBLE) == 0;
    }
  return is_idle;
}
