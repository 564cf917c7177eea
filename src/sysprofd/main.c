// SPDX-License-Identifier: GPL-3.0-or-later

/* The program sysprofd: gets its name on the system bus, serves clients, and exits when it
 * is idle. A lost name or bus ends it, too. */

#include "sysprofd/sysprofd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUS_ITSELF        "org.freedesktop.DBus"
#define CONNECT_MSEC      3000
#define NAME_NSEC         (3 * NSEC_PER_SEC)
#define IDLE_SECONDS      120
#define MOST_MESSAGE      (64u * 1024) /* bytes of a call */
#define LONGEST_WAIT_MSEC 1000
#define MOST_READ         64 /* messages before others get their turn */
#define ALLOW_REPLACEMENT 1u
#define REPLACE_EXISTING  2u

/* --- the bus --- */

/* `flags` only if `has_flags`. */
static uint32_t
call_bus (Service *service,
          const char *member,
          const char *text,
          bool has_flags,
          uint32_t flags)
{
  const BusHeader header = { .type = BUS_METHOD_CALL,
                             .path = "/org/freedesktop/DBus",
                             .interface = BUS_ITSELF,
                             .member = member,
                             .destination = BUS_ITSELF,
                             .signature = has_flags ? "su" : "s" };
  BusWriter body = { 0 };
  uint32_t serial;

  sysprof_dbus_write_string (&body, text);
  if (has_flags)
    sysprof_dbus_write_u32 (&body, flags);
  serial = sysprof_dbus_connection_send (service->bus, &header, &body, -1);
  sysprof_dbus_writer_clear (&body);
  return serial;
}

static bool
connect_to_bus (Service *service)
{
  service->bus = sysprof_dbus_connection_new (sysprof_service_address (), true, CONNECT_MSEC);
  if (service->bus == NULL)
    {
      (void) fprintf (stderr, "sysprofd: Cannot connect to the system bus at '%s': %s\n",
                      sysprof_service_address (), strerror (errno));
      return false;
    }

  sysprof_dbus_connection_set_limit (service->bus, MOST_MESSAGE);
  (void) call_bus (service, "AddMatch",
                   "type='signal',sender='" BUS_ITSELF "',interface='" BUS_ITSELF
                   "',member='NameOwnerChanged',arg2=''",
                   false, 0);
  (void) call_bus (service, "AddMatch",
                   "type='signal',sender='" BUS_ITSELF "',interface='" BUS_ITSELF
                   "',member='NameOwnerChanged',arg0='org.freedesktop.PolicyKit1'",
                   false, 0);
  service->polkit_serial =
      call_bus (service, "GetNameOwner", "org.freedesktop.PolicyKit1", false, 0);
  (void) call_bus (service, "RequestName", SERVICE_NAME, true,
                   ALLOW_REPLACEMENT | REPLACE_EXISTING);
  return true;
}

static void
read_bus (Service *service)
{
  BusMessage *message;

  for (unsigned i = 0; i < MOST_READ; i++)
    {
      message = sysprof_dbus_connection_receive (service->bus);
      if (message == NULL)
        {
          service->is_ended |= errno != EAGAIN;
          return;
        }
      if (message->type == BUS_METHOD_CALL)
        {
          sysprof_client_take_call (service, message);
          continue;
        }
      if (message->type == BUS_SIGNAL)
        sysprof_client_take_signal (service, message);
      else
        sysprof_client_take_reply (service, message);
      sysprof_dbus_message_free (message);
    }
}

/* --- the loop --- */

static bool
is_busy (const Service *service)
{
  for (const Client *client = service->clients; client != NULL; client = client->next)
    if (client->first != NULL || client->running != NULL)
      return true;
  return service->holds != NULL || service->rapl != NULL;
}

/* Grows the array of descriptors to wait for. */
static struct pollfd *
collect (const Service *service, int signals, size_t *n)
{
  static struct pollfd *ready;
  static size_t allocated;
  bool is_full = sysprof_dbus_connection_get_unsent (service->bus) > MOST_UNSENT;
  size_t wanted = 2;

  for (const Client *client = service->clients; client != NULL; client = client->next)
    wanted += client->running != NULL;
  for (const Hold *hold = service->holds; hold != NULL; hold = hold->next)
    wanted++;
  if (wanted > allocated)
    {
      struct pollfd *larger = reallocarray (ready, wanted, 2 * sizeof *ready);

      if (larger == NULL)
        return NULL;
      ready = larger;
      allocated = wanted * 2;
    }

  ready[0] = (struct pollfd){ .fd = signals, .events = POLLIN };
  ready[1] = (struct pollfd){ .fd = sysprof_dbus_connection_get_fd (service->bus) };
  ready[1].events = is_full ? 0 : POLLIN;
  if (sysprof_dbus_connection_get_unsent (service->bus) > 0)
    ready[1].events |= POLLOUT;
  *n = 2;
  for (const Client *client = service->clients; client != NULL; client = client->next)
    if (client->running != NULL)
      ready[(*n)++] = (struct pollfd){ .fd = client->socket, .events = POLLIN };
  for (const Hold *hold = service->holds; hold != NULL; hold = hold->next)
    ready[(*n)++] = (struct pollfd){ .fd = hold->fd, .events = 0 };
  return ready;
}

/* Reads what has happened, in the order of collect(). */
static void
react (Service *service, const struct pollfd *ready)
{
  const struct pollfd *at = ready + 2;
  int64_t now = sysprof_service_now ();
  Hold *next;

  for (Client *client = service->clients; client != NULL; client = client->next)
    if (client->running != NULL && ((at++)->revents != 0 || now > client->child_deadline))
      sysprof_child_finish (service, client);
  for (Hold *hold = service->holds; hold != NULL; hold = next, at++)
    {
      next = hold->next;
      if (hold->fd >= 0 && (at->revents & (POLLHUP | POLLERR)) != 0)
        sysprof_hold_end (service, hold);
    }
  if (service->rapl != NULL && now >= service->rapl_tick)
    {
      sysprof_rapl_tick (service->rapl);
      service->rapl_tick = now + NSEC_PER_SEC;
    }
  if (ready[1].revents != 0)
    read_bus (service);
  sysprof_clients_advance (service);
  sysprof_children_reap (service);
}

/* Until the next tick of RAPL, or the next look at deadlines. */
static int
wait_msec (const Service *service, int64_t now)
{
  int64_t left = (service->rapl_tick - now) / NSEC_PER_MSEC + 1;

  if (service->rapl == NULL || left > LONGEST_WAIT_MSEC)
    return LONGEST_WAIT_MSEC;
  return left > 0 ? (int) left : 0;
}

/* Returns the exit status. */
static int
serve (Service *service, int signals, int64_t idle)
{
  int64_t started = sysprof_service_now ();

  service->last_call = started;
  for (;;)
    {
      int64_t now = sysprof_service_now ();
      size_t n;
      struct pollfd *ready;

      service->is_ended |= !sysprof_dbus_connection_flush (service->bus);
      if (service->is_ended)
        return 0;
      if (!service->has_name && now - started > NAME_NSEC)
        {
          (void) fprintf (stderr, "sysprofd: the bus does not give the name " SERVICE_NAME
                                  ". Run as root, and install org.gnome.Sysprof3.conf.\n");
          return 1;
        }
      if (is_busy (service))
        service->last_call = now;
      if (now - service->last_call > idle)
        return 0;

      ready = collect (service, signals, &n);
      if (ready == NULL)
        return 1;
      if (poll (ready, n, wait_msec (service, now)) < 0)
        continue;
      if (ready[0].revents != 0)
        return 0;
      react (service, ready);
    }
}

/* --- the program --- */

static int
open_signals (void)
{
  sigset_t set;

  (void) signal (SIGPIPE, SIG_IGN);
  (void) sigemptyset (&set);
  (void) sigaddset (&set, SIGTERM);
  (void) sigaddset (&set, SIGINT);
  (void) sigprocmask (SIG_BLOCK, &set, NULL);
  return signalfd (-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* `service`: does not wait for the daemon of power profiles; or NULL. */
static void
restore (Service *service)
{
  sysprof_setting_release (SETTING_PARANOID);
  sysprof_setting_release (SETTING_GOVERNOR);
  if (service == NULL)
    sysprof_setting_release (SETTING_POWER_PROFILE);
  else
    sysprof_child_change_profile (service, NULL);
}

static void
prepare_process (void)
{
  struct rlimit limit;
  int fd;

  /* Descriptors of clients must not become 0, 1 or 2. */
  while ((fd = open ("/dev/null", O_RDWR)) >= 0 && fd <= STDERR_FILENO)
    continue;
  (void) close (fd);
  (void) umask (077);
  if (getrlimit (RLIMIT_NOFILE, &limit) != 0)
    return;
  limit.rlim_cur = limit.rlim_max;
  (void) setrlimit (RLIMIT_NOFILE, &limit); /* with fewer descriptors, fewer calls succeed */
}

int
main (int argc, char **argv)
{
  Service service = { .last_in_turn = -1 };
  int64_t idle = IDLE_SECONDS;
  int signals, status;

  prepare_process ();
  if (argc == 2 && strcmp (argv[1], "--restore") == 0)
    {
      restore (NULL);
      return 0;
    }
  if (argc == 3 && strcmp (argv[1], "--idle") == 0)
    idle = atoi (argv[2]);
  else if (argc != 1)
    {
      (void) fprintf (stderr, "usage: sysprofd [--restore | --idle SECONDS]\n");
      return 2;
    }

  signals = open_signals ();
  restore (&service);
  if (signals < 0 || !connect_to_bus (&service))
    return 1;
  status = serve (&service, signals, idle * NSEC_PER_SEC);
  sysprof_clients_clear (&service);
  while (service.holds != NULL)
    sysprof_hold_end (&service, service.holds);
  (void) sysprof_dbus_connection_flush (service.bus);
  sysprof_dbus_connection_free (service.bus);
  return status;
}
