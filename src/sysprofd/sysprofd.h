// SPDX-License-Identifier: GPL-3.0-or-later

/* sysprofd: lends the privileges of a recording to authorized clients of the system bus.
 *
 *   main.c         arguments, the bus name, the loop, the end
 *   client.c       who calls: credentials, authorization with polkit, order of the calls
 *   method.c       objects and their methods; introspection
 *   reply.c        replies and errors, and whether their receivers read them
 *   child.c        runs a method in a child process, which may block without harm to others
 *   hold.c         what lasts longer than a call: connections and changed settings
 *   setting.c      settings of the machine, and the former values on disk
 *   perf-event.c, proc-file.c, process-info.c, rapl.c, lend.c: the methods
 *   journal.c      one line for each grant
 *
 * The program has one thread and one loop. Each client has one queue of calls, and at most one
 * of them runs. It starts no programs, parses no files that users wrote, and never takes on
 * the identity of a user. Only client.c decides whether a call may run. */

#pragma once

#include "dbus/dbus.h"

#include <stdbool.h>
#include <stdint.h>

#define NSEC_PER_MSEC INT64_C (1000000)
#define NSEC_PER_SEC  INT64_C (1000000000)
#define SERVICE_NAME  "org.gnome.Sysprof3"
#define MOST_UNSENT   (64u * 1024 * 1024) /* bytes; then no more calls are read or started */

typedef struct Service Service;
typedef struct Client Client;
typedef struct Call Call;

/* --- replies --- */

typedef struct
{
  BusWriter body;
  int fd;            /* owned; -1 = none */
  const char *error; /* behind "org.freedesktop.DBus.Error."; NULL = success */
  char text[256];    /* of the error */
} Reply;

__attribute__ ((format (printf, 3, 4))) void
sysprof_reply_fail (Reply *self, const char *error, const char *format, ...);
/* Index 0 of the descriptors of the reply. Takes `fd`. */
void sysprof_reply_set_fd (Reply *self, int fd);
/* A string, with '?' for bytes that are not UTF-8. Changes `text`. */
void sysprof_reply_write_text (BusWriter *body, char *text);

/* --- methods --- */

typedef enum
{
  RUNS_FREE,     /* at once, without authorization */
  RUNS_HERE,     /* when authorized; must not block */
  RUNS_IN_CHILD, /* when authorized, in a process of its own; changes nothing here */
  RUNS_IN_TURN,  /* the same, after the last such child has ended */
} MethodKind;

typedef struct
{
  const char *interface;
  const char *name;
  const char *in;
  const char *out;
  MethodKind kind;
  void (*run) (Call *call);
  void (*prepare) (Call *call); /* in the service, before the child starts; or NULL */
} Method;

struct Call
{
  Service *service;
  Client *client;
  const Method *method;
  BusMessage *message;
  BusReader *values; /* of the message */
  Reply reply;
  bool is_authorized;
  Call *next;
};

/* NULL if there is no such method; then `reply` has the error. */
const Method *sysprof_method_find (const BusMessage *message, Reply *reply);
/* A bit of its own for each method. */
uint64_t sysprof_method_bit (const Method *method);
void sysprof_call_answer (Service *service, Call *call);
/* The bytes of the reply; NULL if none is expected. *(full)* */
uint8_t *sysprof_call_serialize (Call *call, size_t *size);
/* The descriptor at an index of the caller's message; -1 = none. Borrowed. */
int sysprof_call_get_fd (const Call *call, uint32_t index);
void sysprof_call_free (Call *call);

extern const char sysprof_introspection_service[];
extern const char sysprof_introspection_profiler[];
extern const char sysprof_introspection_rights[];
extern const char sysprof_introspection_standard[];
extern const char sysprof_introspection_unwinder[];

void sysprof_run_perf_event_open (Call *call);
void sysprof_run_get_proc_file (Call *call);
void sysprof_run_get_proc_fd (Call *call);
void sysprof_run_get_process_info (Call *call);
void sysprof_run_set_governor (Call *call);
void sysprof_run_set_paranoid (Call *call);
void sysprof_run_rapl_start (Call *call);
void sysprof_run_rapl_stop (Call *call);
void sysprof_run_connect (Call *call);
void sysprof_run_open_monitor (Call *call);
void sysprof_prepare_power_profile (Call *call);
void sysprof_run_hold_power_profile (Call *call);
void sysprof_run_hold_paranoid (Call *call);

/* --- clients --- */

struct Client
{
  char *name; /* unique name on the bus */
  uint32_t uid;
  uint32_t pid;                /* 0 = not known */
  uint32_t credentials_serial; /* of our pending questions; 0 = none */
  uint32_t check_serial;
  bool has_credentials;
  uint64_t logged; /* one bit for each method of the interface Service */
  Call *first;
  Call **end;
  size_t n_bytes;       /* of the calls */
  size_t n_fds;         /* descriptors in the messages of the calls */
  size_t unread;        /* bytes of replies that the client may not have read */
  size_t unread_before; /* of them, sent before the question with `ping_serial` */
  uint32_t ping_serial; /* 0 = none */
  Call *running;        /* in a child */
  int child;            /* its process ID; 0 = it has been reaped */
  int socket;           /* from the child */
  int64_t child_deadline;
  Client *next;
};

void sysprof_client_take_call (Service *service, BusMessage *message);
void sysprof_client_take_reply (Service *service, BusMessage *message);
void sysprof_client_take_signal (Service *service, BusMessage *message);
/* Sends a reply; takes `bytes` and `fd`. */
void
sysprof_client_send (Service *service, Client *client, uint8_t *bytes, size_t size, int fd);
/* The client has read what was sent before the question. */
void sysprof_client_take_ping (Service *service, Client *client);
/* Starts what may start. */
void sysprof_clients_advance (Service *service);
void sysprof_clients_clear (Service *service);

/* As fork(). */
int sysprof_child_fork (void);
bool sysprof_child_start (Client *client, Call *call);
/* Receives the result, or gives up. */
void sysprof_child_finish (Service *service, Client *client);
/* Ends the child of a client, unless it has ended. */
void sysprof_child_kill (const Client *client);
/* Reaps the children that have ended. */
void sysprof_children_reap (Service *service);

/* --- settings and holds --- */

typedef enum
{
  SETTING_PARANOID,
  SETTING_GOVERNOR,
  SETTING_POWER_PROFILE,
  N_SETTINGS
} Setting;

#define MOST_SETTING 64 /* bytes of a value, with its NUL */

/* FALSE: there is no such setting here. */
bool sysprof_setting_read (Setting setting, char value[MOST_SETTING]);
/* Whether the machine has this value for cpu0. */
bool sysprof_setting_has_governor (const char *governor);
/* Keeps the former value on disk, then writes. FALSE with errno. */
bool sysprof_setting_hold (Setting setting, const char *value);
/* Writes the former value, unless the setting was changed by another program. */
void sysprof_setting_release (Setting setting);

/* Sets the power profile in a child, in turn; NULL releases it. Its daemon may not answer. */
void sysprof_child_change_profile (Service *service, const char *value);

typedef struct Hold Hold;
struct Hold
{
  Setting setting; /* N_SETTINGS: a connection, which is served by a child */
  char value[MOST_SETTING];
  int fd; /* the client has closed it when it reports a hang-up; -1: ends with the client */
  const Client *client; /* NULL: independent of the client's name */
  uint32_t uid;
  Hold *next;
};

/* Changes the setting until the client leaves. An empty value ends the hold. */
bool
sysprof_hold_for_client (Service *service, Client *client, Setting setting, const char *value);
/* Takes `fd`. */
bool sysprof_hold_for_fd (Service *service,
                          const Client *client,
                          Setting setting,
                          const char *value,
                          int fd);
/* Whether this user may have one more. */
bool sysprof_hold_is_permitted (const Service *service, const Client *client);
void sysprof_hold_end (Service *service, Hold *hold);
void sysprof_holds_end_of_client (Service *service, const Client *client);

/* --- RAPL --- */

typedef struct Rapl Rapl;
/* Reads the counters. NULL does nothing. */
void sysprof_rapl_tick (Rapl *self);
/* Stops and flushes. NULL does nothing. */
void sysprof_rapl_free (Rapl *self);

/* --- the service --- */

struct Service
{
  BusConnection *bus;
  const char *address;
  bool has_name;
  bool is_ended;    /* the name or the bus is lost */
  char polkit[256]; /* unique name of polkit; "" = it does not run */
  uint32_t polkit_serial;
  int64_t last_call; /* ns */
  Client *clients;
  Hold *holds;
  int last_in_turn; /* pidfd of a child; -1 = none */
  Rapl *rapl;
  const Client *rapl_client;
  int64_t rapl_tick; /* ns */
};

int64_t sysprof_service_now (void);
const char *sysprof_service_address (void);

__attribute__ ((format (printf, 1, 2))) void sysprof_journal_write (const char *format, ...);
