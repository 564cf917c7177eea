// SPDX-License-Identifier: GPL-3.0-or-later

/* Clients of the bus and their calls. This file alone decides whether a call may run: it
 * queries polkit about the client's name on the bus. Polkit may request a password from the
 * user, and the calls of other clients continue meanwhile. One query decides for all calls that
 * wait. */

#include "sysprofd/sysprofd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUS_ITSELF   "org.freedesktop.DBus"
#define POLKIT       "org.freedesktop.PolicyKit1"
#define POLKIT_PATH  "/org/freedesktop/PolicyKit1/Authority"
#define POLKIT_CALLS "org.freedesktop.PolicyKit1.Authority"
#define ACTION       "org.gnome.sysprof3.profile"
#define MAY_INTERACT 1u /* polkit: AllowUserInteraction */

#define MOST_CHILDREN  2u   /* of one user at a time */
#define MOST_QUESTIONS 8u   /* of one user to polkit at a time */
#define MOST_PENDING   100u /* of all users; a bus permits 128 calls without a reply */
#define MOST_CLIENTS   4096u

/* A bus counts the replies that their receiver has not read against their sender, and no longer
 * reads from a sender that has too many: 127 MiB or 64 descriptors. */
#define MOST_UNREAD_OF_USER (32u * 1024 * 1024) /* bytes */
#define MOST_UNREAD         (8u * 1024 * 1024)  /* of one client */
#define MOST_UNREAD_ERRORS  (32u * 1024)        /* of one client, without authorization */

/* What clients use. */
typedef struct
{
  size_t n_bytes; /* of waiting calls */
  size_t n_fds;
  size_t unread; /* bytes of replies */
  size_t n_questions;
  size_t n_children;
} Usage;

static const Usage most_of_unknown = { .n_bytes = 256u * 1024, .n_fds = 16 };
static const Usage most_of_user = { .n_bytes = 4u * 1024 * 1024, .n_fds = 256 };
static const Usage most_of_all = { .n_bytes = 128u * 1024 * 1024, .n_fds = 16384 };

static bool
is_same_user (const Client *a, const Client *b)
{
  return a == b || (a->has_credentials && b->has_credentials && a->uid == b->uid);
}

/* Of all clients of the same user; of all if `user` is NULL. */
static Usage
add_up (const Service *service, const Client *user)
{
  Usage usage = { 0 };

  for (const Client *client = service->clients; client != NULL; client = client->next)
    if (user == NULL || is_same_user (client, user))
      {
        usage.n_bytes += client->n_bytes;
        usage.n_fds += client->n_fds;
        usage.unread += client->unread;
        usage.n_questions += client->check_serial != 0;
        usage.n_children += client->running != NULL;
      }
  return usage;
}

static Client *
find_client (const Service *service, const char *name)
{
  Client *client = service->clients;

  while (client != NULL && strcmp (client->name, name) != 0)
    client = client->next;
  return client;
}

static Client *
add_client (Service *service, const char *name)
{
  Client *client;
  unsigned n = 0;

  for (client = service->clients; client != NULL; client = client->next)
    n++;
  client = n < MOST_CLIENTS ? calloc (1, sizeof *client) : NULL;
  if (client == NULL)
    return NULL;

  client->name = strdup (name);
  if (client->name == NULL)
    {
      free (client);
      return NULL;
    }
  client->end = &client->first;
  client->socket = -1;
  client->next = service->clients;
  service->clients = client;
  return client;
}

static size_t
call_size (const BusMessage *message)
{
  return sizeof (Call) + sizeof *message + message->size;
}

static Call *
pop_call (Client *client)
{
  Call *call = client->first;

  client->first = call->next;
  if (client->first == NULL)
    client->end = &client->first;
  client->n_fds -= call->message->n_fds;
  client->n_bytes -= call_size (call->message);
  return call;
}

/* --- authorization --- */

static void
ask_bus (Service *service, Client *client)
{
  static const BusHeader header = { .type = BUS_METHOD_CALL,
                                    .path = "/org/freedesktop/DBus",
                                    .interface = BUS_ITSELF,
                                    .member = "GetConnectionCredentials",
                                    .destination = BUS_ITSELF,
                                    .signature = "s" };
  BusWriter body = { 0 };

  sysprof_dbus_write_string (&body, client->name);
  client->credentials_serial = sysprof_dbus_connection_send (service->bus, &header, &body, -1);
  sysprof_dbus_writer_clear (&body);
}

/* The question is named after the client, so that it can be canceled. */
static void
ask_polkit (Service *service, Client *client)
{
  static const BusHeader header = { .type = BUS_METHOD_CALL,
                                    .path = POLKIT_PATH,
                                    .interface = POLKIT_CALLS,
                                    .member = "CheckAuthorization",
                                    .destination = POLKIT,
                                    .signature = "(sa{sv})sa{ss}us" };
  BusWriter body = { 0 };
  size_t array;

  sysprof_dbus_write_string (&body, "system-bus-name");
  array = sysprof_dbus_begin_array (&body, 8);
  sysprof_dbus_write_string (&body, "name");
  sysprof_dbus_write_signature (&body, "s");
  sysprof_dbus_write_string (&body, client->name);
  sysprof_dbus_end_array (&body, array, 8);
  sysprof_dbus_write_string (&body, ACTION);
  array = sysprof_dbus_begin_array (&body, 8);
  sysprof_dbus_end_array (&body, array, 8);
  sysprof_dbus_write_u32 (&body, MAY_INTERACT);
  sysprof_dbus_write_string (&body, client->name);
  client->check_serial = sysprof_dbus_connection_send (service->bus, &header, &body, -1);
  sysprof_dbus_writer_clear (&body);
}

static void
cancel_question (Service *service, const Client *client)
{
  static const BusHeader header = { .type = BUS_METHOD_CALL,
                                    .flags = BUS_NO_REPLY,
                                    .path = POLKIT_PATH,
                                    .interface = POLKIT_CALLS,
                                    .member = "CancelCheckAuthorization",
                                    .destination = POLKIT,
                                    .signature = "s" };
  BusWriter body = { 0 };

  sysprof_dbus_write_string (&body, client->name);
  (void) sysprof_dbus_connection_send (service->bus, &header, &body, -1);
  sysprof_dbus_writer_clear (&body);
}

/* Whether polkit permits. The reply must come from the owner of polkit's name, and contain
 * (is authorized, is challenge, details). */
static bool
is_permission (const Service *service, BusMessage *reply)
{
  return reply->type == BUS_METHOD_RETURN && *service->polkit != '\0' &&
         strcmp (reply->sender, service->polkit) == 0 &&
         strcmp (reply->signature, "(bba{ss})") == 0 &&
         sysprof_dbus_read_u32 (&reply->body) == 1 && !reply->body.is_failed;
}

static bool
needs_permission (const Call *call)
{
  return call->reply.error == NULL && call->method->kind != RUNS_FREE;
}

/* Runs the method, unless the call has failed. */
static void
finish_call (Service *service, Call *call)
{
  if (call->reply.error == NULL)
    call->method->run (call);
  sysprof_call_answer (service, call);
  sysprof_call_free (call);
}

static void
refuse_calls (Service *service, Client *client)
{
  while (client->first != NULL)
    {
      Call *call = pop_call (client);

      if (needs_permission (call))
        sysprof_reply_fail (&call->reply, "AccessDenied", "Not authorized to make request");
      finish_call (service, call);
    }
}

/* The answer holds for all calls that wait now. */
static void
take_permission (Service *service, Client *client, BusMessage *reply)
{
  client->check_serial = 0;
  if (!is_permission (service, reply))
    {
      refuse_calls (service, client);
      return;
    }
  for (Call *call = client->first; call != NULL; call = call->next)
    call->is_authorized = true;
}

/* A dictionary with UnixUserID and ProcessID. */
static void
take_credentials (Client *client, BusMessage *reply)
{
  BusReader *body = &reply->body;
  size_t end;
  bool has_uid = false;

  client->credentials_serial = 0;
  if (reply->type != BUS_METHOD_RETURN || strcmp (reply->sender, BUS_ITSELF) != 0 ||
      strcmp (reply->signature, "a{sv}") != 0)
    return;

  end = sysprof_dbus_read_array (body, 8);
  while (body->at < end && !body->is_failed)
    {
      const char *key;
      BusReader value;

      sysprof_dbus_read_align (body, 8);
      key = sysprof_dbus_read_string (body);
      value = *body;
      sysprof_dbus_skip (body, "v");
      if (strcmp (sysprof_dbus_read_signature (&value), "u") != 0)
        continue;
      if (strcmp (key, "UnixUserID") == 0)
        {
          client->uid = sysprof_dbus_read_u32 (&value);
          has_uid = true;
        }
      if (strcmp (key, "ProcessID") == 0)
        client->pid = sysprof_dbus_read_u32 (&value);
    }
  client->has_credentials = has_uid && !body->is_failed;
}

void
sysprof_client_take_reply (Service *service, BusMessage *message)
{
  uint32_t serial = message->reply_serial;

  if (message->sender == NULL || serial == 0)
    return;
  if (serial == service->polkit_serial)
    {
      service->polkit_serial = 0;
      if (message->type == BUS_METHOD_RETURN && strcmp (message->sender, BUS_ITSELF) == 0 &&
          strcmp (message->signature, "s") == 0)
        (void) snprintf (service->polkit, sizeof service->polkit, "%s",
                         sysprof_dbus_read_string (&message->body));
      return;
    }
  for (Client *client = service->clients; client != NULL; client = client->next)
    {
      if (client->ping_serial == serial)
        sysprof_client_take_ping (service, client);
      else if (client->credentials_serial == serial)
        {
          take_credentials (client, message);
          if (!client->has_credentials)
            refuse_calls (service, client);
        }
      else if (client->check_serial == serial)
        take_permission (service, client, message);
    }
}

/* --- calls --- */

static bool
has_space (const Usage *used, const Usage *most, const BusMessage *message)
{
  return used->n_bytes + call_size (message) <= most->n_bytes &&
         used->n_fds + message->n_fds <= most->n_fds;
}

static const char *
reason_to_refuse (const Service *service, const Client *client, const BusMessage *message)
{
  const Usage user = add_up (service, client);
  const Usage all = add_up (service, NULL);

  if (message->is_too_long)
    return "The message is too long";
  if (!has_space (&user, client->has_credentials ? &most_of_user : &most_of_unknown, message))
    return "Too many calls or descriptors of this user are waiting";
  if (!has_space (&all, &most_of_all, message))
    return "Too many calls or descriptors are waiting";
  return NULL;
}

/* Takes `message`. */
void
sysprof_client_take_call (Service *service, BusMessage *message)
{
  Client *client = message->sender != NULL ? find_client (service, message->sender) : NULL;
  Call *call = calloc (1, sizeof *call);
  const char *reason;

  if (client == NULL && message->sender != NULL)
    client = add_client (service, message->sender);
  if (client == NULL || call == NULL)
    {
      free (call);
      sysprof_dbus_message_free (message);
      return;
    }
  *call = (Call){ .service = service,
                  .client = client,
                  .message = message,
                  .values = &message->body,
                  .reply = { .fd = -1 } };
  call->method = sysprof_method_find (message, &call->reply);
  if (needs_permission (call))
    service->last_call = sysprof_service_now ();
  else if (client->unread <= MOST_UNREAD_ERRORS)
    {
      finish_call (service, call);
      return;
    }
  reason = reason_to_refuse (service, client, message);
  if (reason != NULL)
    {
      sysprof_reply_fail (&call->reply, "LimitsExceeded", "%s", reason);
      if (client->unread <= MOST_UNREAD_ERRORS)
        finish_call (service, call);
      else
        sysprof_call_free (call);
      return;
    }
  *client->end = call;
  client->end = &call->next;
  client->n_fds += message->n_fds;
  client->n_bytes += call_size (message);
}

/* Older recorders call PerfEventOpen and others many times: once is enough. */
static void
log_grant (Client *client, const Call *call, uint64_t bit)
{
  char path[32], comm[32] = "";
  FILE *file;

  if ((client->logged & bit) != 0)
    return;
  if (strcmp (call->method->interface, SERVICE_NAME ".Service") == 0)
    client->logged |= bit;
  (void) snprintf (path, sizeof path, "/proc/%u/comm", client->pid);
  file = fopen (path, "re");
  if (file != NULL)
    {
      if (fgets (comm, sizeof comm, file) != NULL)
        comm[strcspn (comm, "\n")] = '\0';
      (void) fclose (file);
    }
  sysprof_journal_write ("uid %u, pid %u (%s): granted %s", client->uid, client->pid, comm,
                         call->method->name);
}

/* Asks who the client is, then whether it may. */
static void
authorize (Service *service, Client *client)
{
  if (client->credentials_serial != 0 || client->check_serial != 0 ||
      client->unread > MOST_UNREAD_ERRORS)
    return;
  if (!client->has_credentials)
    ask_bus (service, client);
  else if (add_up (service, client).n_questions < MOST_QUESTIONS &&
           add_up (service, NULL).n_questions < MOST_PENDING)
    ask_polkit (service, client);
}

static bool
may_run (const Service *service, const Client *client, const Method *method)
{
  const Usage user = add_up (service, client);

  return client->unread <= MOST_UNREAD && user.unread <= MOST_UNREAD_OF_USER &&
         (method->kind < RUNS_IN_CHILD || user.n_children < MOST_CHILDREN);
}

/* The first call of the client runs, if it is authorized and nothing else of it runs. */
static bool
advance (Service *service, Client *client)
{
  Call *call = client->first;
  bool has_child;

  if (call == NULL || client->running != NULL)
    return false;
  if (!needs_permission (call))
    {
      if (client->unread > MOST_UNREAD_ERRORS)
        return false;
      finish_call (service, pop_call (client));
      return true;
    }
  if (!call->is_authorized)
    {
      authorize (service, client);
      return false;
    }
  if (!may_run (service, client, call->method))
    return false;

  has_child = call->method->kind >= RUNS_IN_CHILD;
  (void) pop_call (client);
  log_grant (client, call, sysprof_method_bit (call->method));
  if (call->method->prepare != NULL)
    call->method->prepare (call);
  if (has_child && call->reply.error == NULL)
    {
      if (sysprof_child_start (client, call))
        return false;
      sysprof_reply_fail (&call->reply, "LimitsExceeded", "Cannot start a process");
    }
  finish_call (service, call);
  return true;
}

void
sysprof_clients_advance (Service *service)
{
  for (Client *client = service->clients; client != NULL; client = client->next)
    while (sysprof_dbus_connection_get_unsent (service->bus) <= MOST_UNSENT &&
           advance (service, client))
      continue;
}

/* --- the end of a client --- */

static void
free_client (Service *service, Client *client)
{
  if (client->check_serial != 0)
    cancel_question (service, client);
  if (client->running != NULL)
    {
      sysprof_child_kill (client);
      (void) close (client->socket);
      sysprof_call_free (client->running);
    }
  while (client->first != NULL)
    sysprof_call_free (pop_call (client));
  if (service->rapl_client == client)
    {
      sysprof_rapl_free (service->rapl);
      service->rapl = NULL;
      service->rapl_client = NULL;
    }
  sysprof_holds_end_of_client (service, client);
  free (client->name);
  free (client);
}

static void
remove_client (Service *service, const char *name)
{
  Client **at = &service->clients;
  Client *client;

  while (*at != NULL && strcmp ((*at)->name, name) != 0)
    at = &(*at)->next;
  client = *at;
  if (client != NULL)
    {
      *at = client->next;
      free_client (service, client);
    }
}

void
sysprof_client_take_signal (Service *service, BusMessage *message)
{
  const char *name, *owner;

  if (message->sender == NULL || strcmp (message->sender, BUS_ITSELF) != 0 ||
      message->member == NULL)
    return;
  if (strcmp (message->member, "NameAcquired") == 0 && strcmp (message->signature, "s") == 0)
    service->has_name |= strcmp (sysprof_dbus_read_string (&message->body), SERVICE_NAME) == 0;
  if (strcmp (message->member, "NameLost") == 0 && strcmp (message->signature, "s") == 0)
    service->is_ended |= strcmp (sysprof_dbus_read_string (&message->body), SERVICE_NAME) == 0;
  if (strcmp (message->member, "NameOwnerChanged") != 0 ||
      strcmp (message->signature, "sss") != 0)
    return;

  name = sysprof_dbus_read_string (&message->body);
  (void) sysprof_dbus_read_string (&message->body);
  owner = sysprof_dbus_read_string (&message->body);
  if (message->body.is_failed)
    return;
  if (strcmp (name, POLKIT) == 0)
    (void) snprintf (service->polkit, sizeof service->polkit, "%s", owner);
  else if (*owner == '\0')
    remove_client (service, name);
}

void
sysprof_clients_clear (Service *service)
{
  while (service->clients != NULL)
    {
      Client *client = service->clients;

      service->clients = client->next;
      free_client (service, client);
    }
}
