// SPDX-License-Identifier: GPL-3.0-or-later

/* A cache of decisions by process. A stale decision is looked up again, but it stays valid if
 * the process has exited. */

#include "perf/user-filter.h"

#include "access/access.h"
#include "util/util.h"

/* Bits of a process; an unknown process has no entry. */
enum
{
  IS_KNOWN = 1 << 0,
  IS_WANTED = 1 << 1,
  IS_STALE = 1 << 2, /* look up again; on failure the old decision holds */
};

struct UserFilter
{
  uid_t uid;
  Privilege *privilege; /* borrowed */
  GHashTable *known;    /* pid → bits */
};

UserFilter *
sysprof_user_filter_new (uid_t uid, Privilege *privilege)
{
  UserFilter *self = g_new0 (UserFilter, 1);

  self->uid = uid;
  self->privilege = privilege;
  self->known = g_hash_table_new (NULL, NULL);
  return self;
}

void
sysprof_user_filter_free (UserFilter *self)
{
  if (self == NULL)
    return;

  g_hash_table_unref (self->known);
  g_free (self);
}

static unsigned
get_bits (UserFilter *self, int32_t pid)
{
  return GPOINTER_TO_UINT (g_hash_table_lookup (self->known, GINT_TO_POINTER (pid)));
}

static void
set_bits (UserFilter *self, int32_t pid, unsigned bits)
{
  g_hash_table_insert (self->known, GINT_TO_POINTER (pid), GUINT_TO_POINTER (bits));
}

bool
sysprof_user_filter_accepts (UserFilter *self, int32_t pid)
{
  unsigned bits = get_bits (self, pid);
  autofd fd = -1;
  uid_t uid;

  if ((bits & IS_KNOWN) != 0 && (bits & IS_STALE) == 0)
    return (bits & IS_WANTED) != 0;

  fd = sysprof_privilege_open_process_file (self->privilege, pid, "status");
  if (fd >= 0 && sysprof_tasks_get_user (fd, &uid))
    bits = uid == self->uid ? IS_WANTED : 0;

  set_bits (self, pid, (bits | IS_KNOWN) & ~(unsigned) IS_STALE);
  return (bits & IS_WANTED) != 0;
}

void
sysprof_user_filter_forked (UserFilter *self, int32_t parent, int32_t child)
{
  unsigned bits = get_bits (self, parent);

  if ((bits & IS_KNOWN) != 0 && parent != child)
    set_bits (self, child, bits);
}

void
sysprof_user_filter_started (UserFilter *self, int32_t pid)
{
  unsigned bits = get_bits (self, pid);

  if ((bits & IS_KNOWN) != 0)
    set_bits (self, pid, bits | IS_STALE);
}

void
sysprof_user_filter_ended (UserFilter *self, int32_t pid)
{
  g_hash_table_remove (self->known, GINT_TO_POINTER (pid));
}
