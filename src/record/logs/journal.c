// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads the systemd journal with libsystemd, which is loaded at run time. Sources:
 * sd-journal(3), sd_journal_get_fd(3), systemd.journal-fields(7). */

#include "record/logs/journal.h"

#include "util/util.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <systemd/sd-journal.h>

#define LIBRARY    "libsystemd.so.0"
#define MOST_BYTES 65536 /* of a field; the rest of longer ones is not decompressed */

/* The functions we use, with the types from the library's header. */
/* clang-format off */
#define JOURNAL_FUNCTIONS(F)        \
  F (sd_journal_close)              \
  F (sd_journal_get_data)           \
  F (sd_journal_get_fd)             \
  F (sd_journal_get_monotonic_usec) \
  F (sd_journal_has_persistent_files) \
  F (sd_journal_has_runtime_files)  \
  F (sd_journal_next)               \
  F (sd_journal_open)               \
  F (sd_journal_previous)           \
  F (sd_journal_process)            \
  F (sd_journal_seek_head)          \
  F (sd_journal_seek_tail)          \
  F (sd_journal_set_data_threshold)
/* clang-format on */

#define DECLARE_FUNCTION(name) __typeof__ (&name) name;

struct Journal
{
  void *library;
  struct
  {
    JOURNAL_FUNCTIONS (DECLARE_FUNCTION)
  } call;
  sd_journal *journal;
};

static bool
load_library (Journal *self, GError **error)
{
  bool is_whole;

  self->library = dlopen (LIBRARY, RTLD_NOW | RTLD_LOCAL);
  is_whole = self->library != NULL;

#define LOAD_FUNCTION(name)                                         \
  {                                                                 \
    void *address = is_whole ? dlsym (self->library, #name) : NULL; \
                                                                    \
    memcpy (&self->call.name, &address, sizeof address);            \
    is_whole = is_whole && address != NULL;                         \
  }
  JOURNAL_FUNCTIONS (LOAD_FUNCTION)

  if (!is_whole)
    g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_UNSUPPORTED,
                 "cannot load '%s': %s. Install it (libsystemd0).", LIBRARY,
                 self->library == NULL ? dlerror () : "it is too old");
  return is_whole;
}

/* The library does not report an error if there is no journal at all. */
static bool
open_files (Journal *self, GError **error)
{
  int result = self->call.sd_journal_open (&self->journal, SD_JOURNAL_LOCAL_ONLY);

  if (result < 0)
    {
      self->journal = NULL;
      errno = -result;
      sysprof_set_error_errno (error, "cannot open the journal");
      return false;
    }

  if (self->call.sd_journal_has_runtime_files (self->journal) <= 0 &&
      self->call.sd_journal_has_persistent_files (self->journal) <= 0)
    {
      g_set_error_literal (error, SYSPROF_ERROR, SYSPROF_ERROR_UNSUPPORTED,
                           "there is no journal in /run/log/journal or /var/log/journal that "
                           "this user may read. Start systemd-journald, or join the group "
                           "systemd-journal.");
      return false;
    }
  return true;
}

Journal *
sysprof_journal_open (GError **error)
{
  Journal *self = g_new0 (Journal, 1);

  if (!load_library (self, error) || !open_files (self, error) ||
      self->call.sd_journal_get_fd (self->journal) < 0)
    {
      if (error != NULL && *error == NULL)
        g_set_error_literal (error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
                             "it cannot be watched: too many files are watched already. "
                             "Raise fs.inotify.max_user_instances.");
      sysprof_journal_close (self);
      return NULL;
    }

  (void) self->call.sd_journal_set_data_threshold (self->journal, MOST_BYTES);
  /* Start at the last entry; in an empty journal, at the first. */
  if (self->call.sd_journal_seek_tail (self->journal) < 0 ||
      self->call.sd_journal_previous (self->journal) <= 0)
    (void) self->call.sd_journal_seek_head (self->journal);
  return self;
}

void
sysprof_journal_close (Journal *self)
{
  if (self == NULL)
    return;

  if (self->journal != NULL)
    self->call.sd_journal_close (self->journal);
  /* The library stays loaded: it registers thread-local destructors that would be called after
   * unloading it. */
  g_free (self);
}

int
sysprof_journal_get_fd (Journal *self)
{
  return self->call.sd_journal_get_fd (self->journal);
}

void
sysprof_journal_process (Journal *self)
{
  /* The result does not matter: sysprof_journal_next() finds new entries. */
  (void) self->call.sd_journal_process (self->journal);
}

/* The value of `field`, without its name. */
static bool
get_field (Journal *self, const char *field, const char **value, size_t *size)
{
  size_t length = strlen (field) + 1; /* including the "=" */
  const void *bytes;

  if (self->call.sd_journal_get_data (self->journal, field, &bytes, size) < 0 || *size < length)
    return false;

  *value = (const char *) bytes + length;
  *size -= length;
  return true;
}

static bool
has_value (Journal *self, const char *field, const char *value)
{
  const char *found;
  size_t size;

  return get_field (self, field, &found, &size) && size == strlen (value) &&
         memcmp (found, value, size) == 0;
}

bool
sysprof_journal_next (Journal *self, JournalEntry *entry)
{
  while (self->call.sd_journal_next (self->journal) > 0)
    {
      const char *priority;
      uint64_t usec;
      size_t size;

      *entry = (JournalEntry){ .priority = -1 };
      /* Fails for entries of other boots. */
      if (self->call.sd_journal_get_monotonic_usec (self->journal, &usec, NULL) < 0 ||
          usec > INT64_MAX / 1000)
        continue;

      entry->time = (int64_t) usec * 1000;
      if (get_field (self, "PRIORITY", &priority, &size) && size == 1)
        entry->priority = priority[0] - '0';
      entry->is_of_kernel = has_value (self, "_TRANSPORT", "kernel");
      /* Fetch this field last: fetching another field invalidates its bytes. */
      if (!get_field (self, "MESSAGE", &entry->message.bytes, &entry->message.size))
        continue;
      entry->message.is_cut = entry->message.size + strlen ("MESSAGE=") >= MOST_BYTES;
      return true;
    }
  return false;
}
