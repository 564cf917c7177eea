// SPDX-License-Identifier: GPL-3.0-or-later

/* Pressure of cgroups: which service, session or container waited.
 *
 * Machines have hundreds of groups, and nearly all are idle. A task that stalls counts in all
 * groups above its own. So if the sums of a group have not grown, those of its descendants have
 * not either, and they are not read. On an idle machine only one group is read.
 *
 * The counters of a group start when it stalls for the first time; a group that never waits has
 * none.
 *
 * Source: Linux, Documentation/admin-guide/cgroup-v2.rst, "PSI". */

#include "access/access.h"
#include "record/instruments/pressure.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define N_RESOURCES 3

/* At a time. Each group needs three descriptors. */
#define MAX_GROUPS 256

/* Bytes. A longer mount table can only be an attack. */
#define MAX_MOUNTS_SIZE (16 * 1024 * 1024)

/* ns; how often the children of a group are listed again, to find new ones. */
#define LIST_INTERVAL (2000 * MSEC)

#define ALL_RESOURCES ((1u << N_RESOURCES) - 1)

static const char *const files[N_RESOURCES] = { "cpu.pressure", "memory.pressure",
                                                "io.pressure" };

static const CounterRow group_rows[N_RESOURCES] = {
  { "Pressure", "CPU (%s)", N_ ("%s"), COUNTER_RATE, PERCENT_OF_TIME },
  { "Pressure", "Memory (%s)", N_ ("%s"), COUNTER_RATE, PERCENT_OF_TIME },
  { "Pressure", "I/O (%s)", N_ ("%s"), COUNTER_RATE, PERCENT_OF_TIME },
};

/* The maximum length of a label, so that "Memory (%s)" is not truncated. */
#define LABEL_LENGTH (COUNTER_NAME_SIZE - 1 - (int) strlen ("Memory ()"))

typedef struct
{
  char *path;       /* below the mount; "" = its root; owned */
  GArray *children; /* [unsigned] indexes into `groups` */
  uint64_t named;   /* the last listing that contained it */
  int fds[N_RESOURCES];
  uint64_t sums[N_RESOURCES]; /* µs */
  int64_t listed;             /* ns; when its children were last listed, 0 = never */
  unsigned known;             /* which of `sums` have been read: one bit each */
  bool has_stalled;
  bool is_there;
} Group;

typedef struct
{
  Privilege *machine;
  char *mount;
  GArray *groups; /* [Group] the first is the root; `path` NULL = a free slot */
  unsigned n_free;
  uint64_t listing;
  bool is_full; /* a group could not be added */
  bool has_told_full;
} GroupTree;

static void
close_group (Group *group)
{
  for (unsigned i = 0; i < N_RESOURCES; i++)
    {
      sysprof_autofd_close (&group->fds[i]);
      group->fds[i] = -1;
    }
  group->is_there = false;
  group->known = 0;
}

static void
clear_group (void *data)
{
  Group *group = data;

  close_group (group);
  g_clear_pointer (&group->children, g_array_unref);
  g_clear_pointer (&group->path, g_free);
}

static Group *
group_at (GroupTree *self, unsigned i)
{
  return &g_array_index (self->groups, Group, i);
}

/* With old kernels the root group has no files; those of the system have the same numbers, or
 * include more. */
static bool
open_group (GroupTree *self, Group *group)
{
  static const char *const system_files[N_RESOURCES] = { "/proc/pressure/cpu",
                                                         "/proc/pressure/memory",
                                                         "/proc/pressure/io" };

  for (unsigned i = 0; i < N_RESOURCES; i++)
    {
      g_autofree char *path = group->path[0] == '\0'
                                  ? g_strdup (system_files[i])
                                  : g_strconcat (self->mount, group->path, "/", files[i], NULL);

      group->fds[i] = sysprof_privilege_open_machine_file (self->machine, path);
      if (group->path[0] != '\0' && group->fds[i] >= 0 &&
          sysprof_descriptor_limit_is_near (group->fds[i]))
        {
          close_group (group);
          self->is_full = true;
          return false;
        }
      group->is_there |= group->fds[i] >= 0;
    }
  return group->is_there;
}

/* Returns an index; groups may move in memory. 0, the index of the root, if there are too
 * many. */
static unsigned
find_place (GroupTree *self)
{
  Group group = { .path = NULL };

  if (self->n_free == 0 && self->groups->len >= MAX_GROUPS)
    return 0;
  if (self->n_free == 0)
    {
      g_array_append_val (self->groups, group);
      return self->groups->len - 1;
    }

  self->n_free--;
  for (unsigned i = 1; i < self->groups->len; i++)
    if (group_at (self, i)->path == NULL)
      return i;
  g_assert_not_reached ();
}

static void
add_group (GroupTree *self, unsigned parent, const char *name)
{
  unsigned index = find_place (self);
  Group *group = group_at (self, index);

  if (index == 0)
    {
      self->is_full = true;
      return;
    }
  *group = (Group){ .path = g_strconcat (group_at (self, parent)->path, "/", name, NULL),
                    .children = g_array_new (false, false, sizeof (unsigned)),
                    .named = self->listing,
                    .fds = { -1, -1, -1 } };
  (void) open_group (self, group); /* a group without files never stalls */
  g_array_append_val (group_at (self, parent)->children, index);
}

static void
remove_group (GroupTree *self, unsigned index)
{
  Group *group = group_at (self, index);

  for (unsigned i = 0; i < group->children->len; i++)
    remove_group (self, g_array_index (group->children, unsigned, i));
  clear_group (group);
  self->n_free++;
}

/* Reopens the files of a group that was removed and created again. */
static bool
is_known_child (GroupTree *self, unsigned parent, const char *name)
{
  const GArray *children = group_at (self, parent)->children;

  for (unsigned i = 0; i < children->len; i++)
    {
      Group *group = group_at (self, g_array_index (children, unsigned, i));

      if (!g_str_equal (strrchr (group->path, '/') + 1, name))
        continue;
      group->named = self->listing;
      if (!group->is_there)
        (void) open_group (self, group); /* removed again */
      return true;
    }
  return false;
}

/* Removes the groups that the listing does not contain, so that their slots can be reused. */
static void
remove_gone (GroupTree *self, unsigned parent)
{
  GArray *children = group_at (self, parent)->children;

  for (unsigned i = children->len; i > 0; i--)
    {
      unsigned index = g_array_index (children, unsigned, i - 1);

      if (group_at (self, index)->named == self->listing)
        continue;
      remove_group (self, index);
      g_array_remove_index_fast (children, i - 1);
    }
}

static void
list_children (GroupTree *self, unsigned parent)
{
  g_autofree char *path = g_strconcat (self->mount, group_at (self, parent)->path, NULL);
  g_autoptr (GPtrArray) added = g_ptr_array_new_with_free_func (g_free);
  int fd = sysprof_privilege_open_machine_file (self->machine, path);
  DIR *dir = fd >= 0 ? fdopendir (fd) : NULL;
  const struct dirent *entry;

  if (dir == NULL)
    {
      sysprof_autofd_close (&fd);
      return;
    }

  self->listing++;
  while ((entry = readdir (dir)) != NULL)
    if (entry->d_type == DT_DIR && entry->d_name[0] != '.' &&
        !is_known_child (self, parent, entry->d_name))
      g_ptr_array_add (added, g_strdup (entry->d_name));
  (void) closedir (dir); /* nothing was written, so it cannot fail */

  remove_gone (self, parent);
  for (guint i = 0; i < added->len; i++)
    add_group (self, parent, g_ptr_array_index (added, i));
}

/* Returns which of the `resources` have grown, one bit each. Sums that were never read are read
 * now; their first growth is unknown. */
static unsigned
read_group (Group *group, unsigned resources)
{
  unsigned grown = 0;

  resources |= ~group->known;

  for (unsigned i = 0; i < N_RESOURCES; i++)
    {
      char buffer[256];
      Text text;
      StallSums sums;

      if ((resources & (1u << i)) == 0 || group->fds[i] < 0)
        continue;

      if (!sysprof_counter_read_text (group->fds[i], buffer, sizeof buffer, &text))
        {
          if (errno != ENODEV)
            continue;
          close_group (group); /* the group was removed */
          return 0;
        }
      if (!sysprof_pressure_parse (text, &sums) || !sums.has_some)
        continue;

      if ((group->known & (1u << i)) != 0 && sums.some_usec != group->sums[i])
        grown |= 1u << i;
      group->known |= 1u << i;
      group->sums[i] = sums.some_usec;
    }
  return grown;
}

static void
set_values (CounterValues *values, const Group *group)
{
  CounterInstance *instance;
  char label[COUNTER_NAME_SIZE];
  size_t length = strlen (group->path);

  instance = sysprof_counter_values_instance (values, sysprof_text_from_string (group->path));
  if (instance == NULL)
    return;

  if (instance->ids[0] == 0 && instance->ids[1] == 0 && instance->ids[2] == 0)
    {
      g_snprintf (label, sizeof label, "%.*s", LABEL_LENGTH, strrchr (group->path, '/') + 1);
      sysprof_counter_instance_name (
          instance, label,
          group->path + (length < COUNTER_DETAIL_SIZE ? 0 : length - COUNTER_DETAIL_SIZE + 1));
    }
  for (unsigned i = 0; i < N_RESOURCES; i++)
    if ((group->known & (1u << i)) != 0)
      sysprof_counter_instance_set (instance, i, (double) group->sums[i]);
}

static void
visit (GroupTree *self, unsigned index, unsigned resources, CounterValues *values)
{
  Group *group = group_at (self, index);
  bool was_known = group->known != 0;
  unsigned grown = read_group (group, resources);

  if (!group->is_there)
    return;

  group->has_stalled |= grown != 0;
  if (grown != 0 || !was_known)
    {
      if (group->listed == 0 || values->now - group->listed >= LIST_INTERVAL)
        {
          group->listed = values->now;
          list_children (self, index); /* may move `group` */
        }
      for (unsigned i = 0; i < group_at (self, index)->children->len; i++)
        visit (self, g_array_index (group_at (self, index)->children, unsigned, i),
               was_known ? grown : ALL_RESOURCES, values);
    }
}

static char *
find_mount (Privilege *machine)
{
  autofd fd = sysprof_privilege_open_mounts (machine);
  g_autoptr (GString) table = g_string_new (NULL);
  char page[4096];
  ssize_t n = 0;
  Text text, line;

  /* One read() returns at most a page. */
  while (fd >= 0 && table->len < MAX_MOUNTS_SIZE &&
         ((n = read (fd, page, sizeof page)) > 0 || (n < 0 && errno == EINTR)))
    g_string_append_len (table, page, MAX (n, 0));

  text = (Text){ table->str, table->str + table->len };
  while (sysprof_text_next_line (&text, &line))
    {
      Text source, place, type;

      if (sysprof_text_next_word (&line, &source) && sysprof_text_next_word (&line, &place) &&
          sysprof_text_next_word (&line, &type) && sysprof_text_equal (type, "cgroup2"))
        return g_strndup (place.at, sysprof_text_size (place));
    }
  return NULL;
}

static void
close_groups (void *state)
{
  GroupTree *self = state;

  g_array_unref (self->groups);
  sysprof_descriptor_limit_give_back (N_RESOURCES * MAX_GROUPS);
  sysprof_privilege_unref (self->machine);
  g_free (self->mount);
  g_free (self);
}

static void *
open_groups (Privilege *machine, GError **error)
{
  g_autofree char *mount = find_mount (machine);
  GroupTree *self;
  Group root = { .fds = { -1, -1, -1 } };

  if (mount == NULL)
    {
      g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_UNSUPPORTED,
                   "Cannot record the pressure of cgroups: the cgroup v2 hierarchy is not "
                   "mounted. Only the pressure of the system is recorded. For cgroups, boot "
                   "with 'systemd.unified_cgroup_hierarchy=1'.");
      return NULL;
    }

  self = g_new0 (GroupTree, 1);
  sysprof_descriptor_limit_ask (N_RESOURCES * MAX_GROUPS);
  self->machine = sysprof_privilege_ref (machine);
  self->mount = g_steal_pointer (&mount);
  self->groups = g_array_new (false, false, sizeof (Group));
  g_array_set_clear_func (self->groups, clear_group);
  root.path = g_strdup ("");
  root.children = g_array_new (false, false, sizeof (unsigned));
  if (!open_group (self, &root))
    {
      g_set_error (
          error, SYSPROF_ERROR, SYSPROF_ERROR_UNSUPPORTED,
          "Cannot record the pressure of cgroups: cannot open '%s/proc/pressure/cpu': %s. "
          "Pressure is turned off in this kernel; boot it with 'psi=1'.",
          sysprof_privilege_get_root (machine), g_strerror (errno));
      clear_group (&root);
      close_groups (self);
      return NULL;
    }
  g_array_append_val (self->groups, root);
  return self;
}

static bool
read_groups (void *state, CounterValues *values, GError **error)
{
  GroupTree *self = state;

  visit (self, 0, ALL_RESOURCES, values);
  for (unsigned i = 1; i < self->groups->len; i++)
    {
      const Group *group = group_at (self, i);

      if (group->path != NULL && group->is_there && group->has_stalled)
        set_values (values, group);
    }

  if (self->is_full && !self->has_told_full)
    {
      values->complaint = g_strdup_printf (
          "Recording the pressure of %u cgroups; others are skipped (the limit is %d, or "
          "fewer if the limit of open files is low). Their parent cgroups are still recorded.",
          self->groups->len - 1 - self->n_free, MAX_GROUPS - 1);
      self->has_told_full = true;
    }
  return true;
}

const SampledCounters sysprof_pressure_group_counters = {
  .name = "Cgroup Pressure",
  .title = N_ ("the pressure of cgroups"),
  .interval = 1000 * MSEC,
  .instance_rows = group_rows,
  .n_instance_rows = G_N_ELEMENTS (group_rows),
  .open = open_groups,
  .read = read_groups,
  .close = close_groups,
};
