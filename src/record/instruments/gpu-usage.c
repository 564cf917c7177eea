// SPDX-License-Identifier: GPL-3.0-or-later

/* How busy each process keeps each engine of the GPUs, and how much GPU memory it uses.
 *
 * The kernel reports this for each descriptor of a GPU, in /proc/PID/fdinfo. To find these
 * descriptors we scan /proc/PID/fd. Since Linux 6.2 the kernel also reports the number of
 * descriptors of a process; then only processes whose number has changed are scanned. Each
 * reading scans a limited number of processes and descriptors, so that no reading takes long.
 *
 * Several descriptors may belong to one client. It is counted once, for the process where it
 * was found first.
 *
 * Source: Linux, Documentation/gpu/drm-usage-stats.rst; proc(5). */

#include "access/access.h"
#include "record/counters/sampled-counters.h"
#include "record/instruments/gpu-clients.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#define MAX_DESCRIPTORS 512 /* that are held open */
#define MAX_CLIENTS     1024

/* Limits of one reading. A descriptor costs about 1 to 4 µs, and the first one of a process 10
 * µs more. */
#define MOST_LISTED  1000 /* processes */
#define MOST_LOOKED  2000 /* descriptors */
#define COST_OF_OPEN 10   /* in descriptors */

#define LIST_INTERVAL (2000 * MSEC)
/* rescan even if the number is the same: it may hide a change */
#define TRUSTED_INTERVAL (20000 * MSEC)
#define BLIND_INTERVAL   (5000 * MSEC) /* if the kernel does not report the number */

#define NSEC 1e-9

enum
{
  ROW_BUSY,
  ROW_MEMORY,
};

static const CounterRow gpu_rows[] = {
  [ROW_BUSY] = { "GPU Percent", "%s", N_ ("Use of %s"), COUNTER_PERCENT },
  [ROW_MEMORY] = { "GPU Memory", "%s", N_ ("Memory in %s"), COUNTER_VALUE },
};

/* A process that has been scanned. */
typedef struct
{
  pid_t pid;
  int64_t looked; /* ns */
  off_t n_fds;
  uint64_t listing; /* the last one that contained the process */
} Known;

typedef struct
{
  pid_t pid;
  int number; /* of the descriptor in that process */
  int fd;     /* its fdinfo */
  char comm[16];
} Descriptor;

typedef struct
{
  char device[GPU_DEVICE_SIZE];
  uint64_t id;
  uint64_t reading; /* the last one that contained the client */
  int64_t time;     /* ns, of that reading */
  GpuClient last;
} Client;

typedef struct
{
  Privilege *machine;
  int processes_fd; /* /proc */
  DIR *processes;   /* the listing in progress; NULL = none */
  GArray
      *known; /* [Known] the first n_sorted by pid, then those added by the current listing */
  unsigned n_sorted;
  GArray *waiting;      /* [pid_t] still to be scanned */
  DIR *descriptors_dir; /* of the process being scanned; NULL = none */
  pid_t looked_pid;     /* the process being scanned */
  int64_t listed;
  uint64_t listing;
  bool has_counts;     /* the kernel reports the number of descriptors of a process */
  GArray *descriptors; /* [Descriptor] */
  GArray *clients;     /* [Client] */
  bool is_full;        /* some descriptors could not be held open */
  bool has_told_full;
  bool is_refused;
  bool has_told_refusal;
  bool has_told_silence;
} Gpus;

/* --- finding processes --- */

static void
clear_descriptor (void *data)
{
  Descriptor *self = data;

  sysprof_autofd_close (&self->fd);
}

static int
compare_known (const void *a, const void *b)
{
  return ((const Known *) a)->pid - ((const Known *) b)->pid;
}

static Known *
find_known (Gpus *self, pid_t pid)
{
  const Known key = { .pid = pid };

  if (self->n_sorted == 0)
    return NULL;
  return bsearch (&key, self->known->data, self->n_sorted, sizeof (Known), compare_known);
}

static bool
has_descriptor (const Gpus *self, pid_t pid, int number)
{
  for (unsigned i = 0; i < self->descriptors->len; i++)
    {
      const Descriptor *known = &g_array_index (self->descriptors, Descriptor, i);

      if (known->pid == pid && known->number == number)
        return true;
    }
  return false;
}

static void
read_comm (Gpus *self, pid_t pid, char comm[16])
{
  autofd fd = sysprof_privilege_open_process_file (self->machine, pid, "comm");
  Text text, line = { comm, comm };

  if (fd >= 0 && sysprof_counter_read_text (fd, comm, 15, &text))
    (void) sysprof_text_next_line (&text, &line); /* empty on failure */
  comm[line.end - comm] = '\0';
}

static void
add_descriptor (Gpus *self, pid_t pid, int number)
{
  Descriptor added = { .pid = pid, .number = number };
  char name[32];

  if (has_descriptor (self, pid, number))
    return;
  if (self->descriptors->len == MAX_DESCRIPTORS)
    {
      self->is_full = true;
      return;
    }
  g_snprintf (name, sizeof name, "fdinfo/%d", number);
  added.fd = sysprof_privilege_open_process_file (self->machine, pid, name);
  if (added.fd >= 0 && sysprof_descriptor_limit_is_near (added.fd))
    {
      sysprof_autofd_close (&added.fd);
      added.fd = -1;
      errno = EMFILE;
    }
  if (added.fd < 0)
    {
      self->is_full |= errno == EMFILE;
      return;
    }
  read_comm (self, pid, added.comm);
  g_array_append_val (self->descriptors, added);
}

static void
begin_to_look_through (Gpus *self, pid_t pid)
{
  int fd = sysprof_privilege_open_process_file (self->machine, pid, "fd");

  self->looked_pid = pid;
  self->descriptors_dir = fd >= 0 ? fdopendir (fd) : NULL;
  if (self->descriptors_dir == NULL)
    {
      self->is_refused |= errno == EACCES || errno == EPERM;
      sysprof_autofd_close (&fd);
    }
}

/* Adds the process's descriptors of /dev/dri/…, as far as the budget allows. */
static void
look_through (Gpus *self, int *budget)
{
  const struct dirent *entry = NULL;

  while (self->descriptors_dir != NULL && *budget > 0 &&
         (entry = readdir (self->descriptors_dir)) != NULL)
    {
      static const char place[] = "/dev/dri/";
      char target[sizeof place];
      ssize_t size;

      if (entry->d_name[0] == '.')
        continue;
      size = readlinkat (dirfd (self->descriptors_dir), entry->d_name, target, sizeof target);
      --*budget;
      if (size > (ssize_t) strlen (place) && memcmp (target, place, strlen (place)) == 0)
        add_descriptor (self, self->looked_pid, atoi (entry->d_name));
    }
  if (entry == NULL && *budget > 0)
    g_clear_pointer (&self->descriptors_dir, closedir);
}

static off_t
count_descriptors (const Gpus *self, const char *pid)
{
  char path[32];
  struct stat status;

  g_snprintf (path, sizeof path, "%s/fd", pid);
  return fstatat (self->processes_fd, path, &status, 0) == 0 ? status.st_size : 0;
}

/* Whether the process may have new descriptors. */
static bool
is_to_look_through (Gpus *self, pid_t pid, const char *name, int64_t now)
{
  off_t n_fds = count_descriptors (self, name);
  Known *known = find_known (self, pid);
  int64_t interval;

  if (known == NULL)
    {
      const Known added = { pid, now, n_fds, self->listing };

      g_array_append_val (self->known, added);
      return n_fds > 0 || !self->has_counts; /* kernel threads have none */
    }

  known->listing = self->listing;
  interval = self->has_counts ? TRUSTED_INTERVAL : BLIND_INTERVAL;
  if (n_fds == known->n_fds && now - known->looked < interval)
    return false;
  known->n_fds = n_fds;
  known->looked = now;
  return true;
}

static void
forget_ended (Gpus *self)
{
  unsigned kept = 0;

  for (unsigned i = 0; i < self->known->len; i++)
    {
      const Known *known = &g_array_index (self->known, Known, i);

      if (known->listing == self->listing)
        g_array_index (self->known, Known, kept++) = *known;
    }
  g_array_set_size (self->known, kept);
  g_array_sort (self->known, compare_known);
  self->n_sorted = kept;
}

static void
begin_to_list (Gpus *self, int64_t now)
{
  int fd = openat (self->processes_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

  self->processes = fd >= 0 ? fdopendir (fd) : NULL;
  if (self->processes == NULL)
    sysprof_autofd_close (&fd);
  self->listing++;
  self->listed = now;
}

static void
list_processes (Gpus *self, int64_t now)
{
  const struct dirent *entry = NULL;
  int budget = MOST_LISTED;

  while (self->processes != NULL && budget > 0 && (entry = readdir (self->processes)) != NULL)
    {
      pid_t pid = atoi (entry->d_name);

      if (pid <= 0)
        continue;
      budget--;
      if (is_to_look_through (self, pid, entry->d_name, now))
        g_array_append_val (self->waiting, pid);
    }
  if (self->processes == NULL || budget == 0)
    return;

  g_clear_pointer (&self->processes, closedir);
  forget_ended (self);
}

static void
look_further (Gpus *self, int64_t now)
{
  int budget = MOST_LOOKED;
  unsigned n = 0;

  if (self->processes == NULL && self->waiting->len == 0 && self->descriptors_dir == NULL &&
      (self->listing == 0 || now - self->listed >= LIST_INTERVAL))
    begin_to_list (self, now);
  list_processes (self, now);

  look_through (self, &budget);
  while (budget > 0 && n < self->waiting->len)
    {
      budget -= COST_OF_OPEN;
      begin_to_look_through (self, g_array_index (self->waiting, pid_t, n++));
      look_through (self, &budget);
    }
  if (n > 0)
    g_array_remove_range (self->waiting, 0, n);
}

/* --- reading the use of clients --- */

/* Adds to the value of the previous reading, so that the sum never decreases when clients come
 * and go. */
static void
add_to_row (CounterValues *values,
            const char *key,
            const char *label,
            const char *detail,
            unsigned row,
            double value)
{
  CounterInstance *instance =
      sysprof_counter_values_instance (values, sysprof_text_from_string (key));

  if (instance == NULL)
    return;
  if (instance->ids[row] == 0)
    sysprof_counter_instance_name (instance, label, detail);
  if (row == ROW_BUSY || instance->is_set[row])
    value += instance->values[row];
  sysprof_counter_instance_set_share (instance, row, value, (double) values->now);
}

/* Adds the use to the counter of the process and to the counter of all processes. */
static void
add_use (CounterValues *values,
         const Descriptor *owner,
         const GpuClient *client,
         const char *what,
         unsigned row,
         double value)
{
  char key[128], label[64], detail[128];

  g_snprintf (key, sizeof key, "%d %s %s %u %s", owner->pid, owner->comm, client->device, row,
              what);
  g_snprintf (label, sizeof label, "%s (%s %d)", what, owner->comm, owner->pid);
  g_snprintf (detail, sizeof detail, "%s by %s on %s", what, owner->comm, client->device);
  add_to_row (values, key, label, detail, row, value);

  g_snprintf (key, sizeof key, "0 %s %u %s", client->device, row, what);
  g_snprintf (label, sizeof label, "%s (%s)", what, client->device);
  g_snprintf (detail, sizeof detail, "%s of %s %s", what, client->driver, client->device);
  add_to_row (values, key, label, detail, row, value);
}

static const GpuEngine *
find_engine (const GpuClient *client, const char *name)
{
  for (unsigned i = 0; i < client->n_engines; i++)
    if (g_str_equal (client->engines[i].name, name))
      return &client->engines[i];
  return NULL;
}

/* How long one engine of the kind was busy since the last reading, in ns. */
static double
busy_since (const GpuEngine *engine, const GpuEngine *old, double elapsed)
{
  double busy = 0;

  if (engine->has_time && old->has_time)
    busy =
        engine->busy_nsec > old->busy_nsec ? (double) (engine->busy_nsec - old->busy_nsec) : 0;
  else if (engine->has_cycles && engine->has_total && old->has_total &&
           engine->cycles > old->cycles && engine->total_cycles > old->total_cycles)
    busy = elapsed * (double) (engine->cycles - old->cycles) /
           (double) (engine->total_cycles - old->total_cycles);
  return busy / (double) engine->capacity;
}

static void
add_client (CounterValues *values,
            const Descriptor *owner,
            Client *known,
            const GpuClient *client)
{
  double elapsed = (double) (values->now - known->time);

  for (unsigned i = 0; i < client->n_engines; i++)
    {
      const GpuEngine *engine = &client->engines[i];
      const GpuEngine *old = find_engine (&known->last, engine->name);

      if (engine->has_time || (engine->has_cycles && engine->has_total))
        add_use (values, owner, client, engine->name, ROW_BUSY,
                 old != NULL ? busy_since (engine, old, elapsed) : 0);
    }
  for (unsigned i = 0; i < client->n_regions; i++)
    add_use (values, owner, client, client->regions[i].name, ROW_MEMORY,
             (double) client->regions[i].size);

  known->last = *client;
  known->time = values->now;
  known->reading = values->reading;
}

/* Reuses the slot of a client that has disappeared. */
static Client *
client_of (Gpus *self, const GpuClient *client, uint64_t reading)
{
  Client *place = NULL;

  for (unsigned i = 0; i < self->clients->len; i++)
    {
      Client *known = &g_array_index (self->clients, Client, i);

      if (known->id == client->id && g_str_equal (known->device, client->device))
        return known;
      if (known->reading + 1 < reading)
        place = known;
    }

  if (place == NULL && self->clients->len == MAX_CLIENTS)
    return NULL;
  if (place == NULL)
    {
      g_array_set_size (self->clients, self->clients->len + 1);
      place = &g_array_index (self->clients, Client, self->clients->len - 1);
    }
  *place = (Client){ .id = client->id };
  memcpy (place->device, client->device, sizeof place->device);
  return place;
}

/* FALSE if the descriptor no longer belongs to a GPU. */
static bool
read_descriptor (Gpus *self, const Descriptor *descriptor, CounterValues *values)
{
  char buffer[8192];
  Text text;
  GpuClient client;
  Client *known;

  if (!sysprof_counter_read_text (descriptor->fd, buffer, sizeof buffer, &text) ||
      sysprof_text_size (text) == 0)
    return false;

  if (!sysprof_gpu_client_parse (text, &client))
    {
      if (!self->has_told_silence && values->complaint == NULL)
        {
          values->complaint = g_strdup_printf (
              "The GPU driver of '/proc/%d/fd/%d' reports no usage in fdinfo, so the usage "
              "of that GPU is not recorded. Kernels before 5.19 and some drivers do not "
              "support this.",
              descriptor->pid, descriptor->number);
          self->has_told_silence = true;
        }
      return false;
    }

  known = client_of (self, &client, values->reading);
  if (known != NULL && known->reading != values->reading)
    add_client (values, descriptor, known, &client);
  return true;
}

static bool
read_gpus (void *state, CounterValues *values, GError **error)
{
  Gpus *self = state;

  look_further (self, values->now);
  for (unsigned i = self->descriptors->len; i > 0; i--)
    if (!read_descriptor (self, &g_array_index (self->descriptors, Descriptor, i - 1), values))
      g_array_remove_index (self->descriptors, i - 1);

  if (self->is_full && !self->has_told_full && values->complaint == NULL)
    {
      values->complaint = g_strdup_printf (
          "GPU usage is only recorded for the first %u GPU file descriptors. The limit is "
          "%d, or fewer if the limit of open files is lower; raise that with 'ulimit -Hn "
          "65536'.",
          self->descriptors->len, MAX_DESCRIPTORS);
      self->has_told_full = true;
    }
  if (self->is_refused && !self->has_told_refusal && values->complaint == NULL)
    {
      values->complaint =
          g_strdup ("GPU usage by processes of other users is not recorded: access to their "
                    "descriptors is denied. Run as root, or give the recorder CAP_SYS_PTRACE.");
      self->has_told_refusal = true;
    }
  return true;
}

static void
close_gpus (void *state)
{
  Gpus *self = state;

  g_clear_pointer (&self->processes, closedir);
  g_clear_pointer (&self->descriptors_dir, closedir);
  sysprof_autofd_close (&self->processes_fd);
  sysprof_descriptor_limit_give_back (MAX_DESCRIPTORS);
  g_array_unref (self->known);
  g_array_unref (self->waiting);
  g_array_unref (self->descriptors);
  g_array_unref (self->clients);
  sysprof_privilege_unref (self->machine);
  g_free (self);
}

static void *
open_gpus (Privilege *machine, GError **error)
{
  Gpus *self;

  if (sysprof_gpu_count (machine) == 0)
    {
      g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_UNSUPPORTED,
                   "Cannot record GPU usage: this machine has no GPU with a kernel driver "
                   "('%s/sys/class/drm' has no card). The recording continues without it. In a "
                   "container or virtual machine, record on the host.",
                   sysprof_privilege_get_root (machine));
      return NULL;
    }

  self = g_new0 (Gpus, 1);
  sysprof_descriptor_limit_ask (MAX_DESCRIPTORS);
  self->machine = sysprof_privilege_ref (machine);
  self->known = g_array_new (false, false, sizeof (Known));
  self->waiting = g_array_new (false, false, sizeof (pid_t));
  self->descriptors = g_array_new (false, false, sizeof (Descriptor));
  g_array_set_clear_func (self->descriptors, clear_descriptor);
  self->clients = g_array_new (false, true, sizeof (Client));
  self->processes_fd = sysprof_privilege_open_processes (machine);
  if (self->processes_fd < 0)
    {
      g_set_error (
          error, SYSPROF_ERROR, SYSPROF_ERROR_UNSUPPORTED,
          "Cannot record GPU usage: cannot open '%s/proc': %s. The recording continues "
          "without it. Check that /proc is mounted.",
          sysprof_privilege_get_root (machine), g_strerror (errno));
      close_gpus (self);
      return NULL;
    }
  self->has_counts = count_descriptors (self, "self") > 0;
  return self;
}

const SampledCounters sysprof_gpu_usage_counters = {
  .name = "GPU Usage",
  .title = N_ ("GPU usage"),
  .interval = 500 * MSEC,
  .instance_rows = gpu_rows,
  .n_instance_rows = G_N_ELEMENTS (gpu_rows),
  .open = open_gpus,
  .read = read_gpus,
  .close = close_gpus,
};

SYSPROF_DEFINE_SAMPLED_COUNTERS (SysprofGpuUsage,
                                 sysprof_gpu_usage,
                                 &sysprof_gpu_usage_counters)

const InstrumentRow sysprof_gpu_usage_row = {
  .by_default = INSTRUMENT_OPTIONAL,
  .options = { { "gpu", "Record GPU counters (default where available)" },
               { "no-gpu", "Do not record GPU counters", .omits = true } },
  .manual =
      "Record use and memory of graphics devices per process and engine, twice a second, as\n"
      "reported by their drivers (\\fI/proc/PID/fdinfo\\fR). The default is to record them where\n"
      "available; with \\fB--gpu\\fR a message reports unavailable values. Only root can see\n"
      "processes of other users.",
  .new = sysprof_gpu_usage_new,
};
