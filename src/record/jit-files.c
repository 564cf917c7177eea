// SPDX-License-Identifier: GPL-3.0-or-later

/* A stranger's bytes go from a child that opens files to one without rights that reads them; here they are only copied. */

#include "record/jit-files.h"

#include "record/privilege.h"
#include "record/pump-private.h"

#include <errno.h>
#include <signal.h>

#define DOMAIN "Processes"

static const char *const refusals[] = {
  [JIT_REFUSED_LINK] = "there is a symbolic link in its place",
  [JIT_REFUSED_NO_FILE] = "it is not a regular file",
  [JIT_REFUSED_OWNER] = "it belongs to somebody else",
  [JIT_REFUSED_OLD] = "it is older than the process",
  [JIT_REFUSED_OTHER] = "it cannot be opened",
};

void
sysprof_jit_files_init (JitFiles *self, Pump *pump)
{
  *self = (JitFiles){ .pump = pump, .finder = JIT_FINDER_INIT };
  /* Of a machine that is a tree of files there is nothing to be had. */
  self->finder.is_broken =
      *sysprof_privilege_get_root (sysprof_pump_get_privilege (pump)) != '\0';
}

void
sysprof_jit_files_note (JitFiles *self, int32_t pid, const char *path)
{
  CodeMappingKind kind = sysprof_code_mapping_kind (path, strlen (path));

  if (kind != CODE_MAPPING_OF_FILE)
    sysprof_jit_finder_tell (&self->finder, pid, kind == CODE_MAPPING_OF_DUMP ? path : NULL);
}

void
sysprof_jit_files_take_log (JitFiles *self)
{
  ProcessLog *log;
  const GeneratingProcess *process;

  if (self->pump == NULL) /* the recording did not begin */
    return;

  log = sysprof_pump_get_process_log (self->pump);
  while ((process = sysprof_process_log_take_generating (log)) != NULL)
    sysprof_jit_files_note (self, process->pid, process->path);
}

static void
report_refused (const JitFiles *self, const JitFound *found)
{
  if (found->reason >= G_N_ELEMENTS (refusals))
    return;
  if (found->reason == JIT_REFUSED_OLD) /* left behind by another one that had its number */
    g_debug ("'%s' of process %d is older than it", found->path, found->pid);
  else if (found->reason == JIT_REFUSED_OWNER)
    sysprof_pump_report (
        self->pump, DOMAIN, false,
        "The file '%s', which names code that process %d generates, is not used: it belongs to user "
        "%u, who is neither the process's nor root. Remove it and start the program again.",
        found->path, found->pid, found->uid);
  else
    sysprof_pump_report (
        self->pump, DOMAIN, false,
        "The file '%s', which names code that process %d generates, is not used: %s. Remove it and "
        "start the program again.",
        found->path, found->pid, refusals[found->reason]);
}

static void
report_status (const JitFiles *self, const JitFound *found, JitStatus status)
{
  /* Who still writes has half a record in its buffer. */
  bool is_usual = status == JIT_TRUNCATED && (kill (found->pid, 0) == 0 || errno == EPERM);

  if (status != JIT_OK && !is_usual)
    sysprof_pump_report (
        self->pump, DOMAIN, false,
        "Of the file '%s', which names code that process %d generates, only a part is used: %s. "
        "Code that is named behind it has no names.",
        found->path, found->pid, sysprof_jit_status_to_string (status));
}

static void
read_found (JitFiles *self,
            ConfinedChild *reader,
            const JitFound *found,
            int envelope,
            GHashTable *lines_of_pid)
{
  JitLines lines = { 0 };
  JitStatus status = sysprof_jit_read_confined (
      reader, found->kind == JIT_DUMP ? JIT_DUMP : JIT_PERF_MAP, envelope, found->size, &lines);
  GByteArray *all = g_hash_table_lookup (lines_of_pid, GINT_TO_POINTER (found->pid));

  sysprof_confined_child_end (reader); /* nobody's file answers for another's */
  report_status (self, found, status);
  if (lines.size > 0 && all == NULL)
    {
      all = g_byte_array_new ();
      g_hash_table_insert (lines_of_pid, GINT_TO_POINTER (found->pid), all);
    }
  if (lines.size > 0)
    g_byte_array_append (all, (const uint8_t *) lines.text, (guint) lines.size);
  sysprof_jit_lines_clear (&lines);
}

static void
add_lines (JitFiles *self, GHashTable *lines_of_pid)
{
  GHashTableIter iter;
  void *pid, *lines;

  g_hash_table_iter_init (&iter, lines_of_pid);
  while (g_hash_table_iter_next (&iter, &pid, &lines))
    {
      const GByteArray *bytes = lines;
      char name[64];

      g_snprintf (name, sizeof name, "/proc/%d/jit-code", GPOINTER_TO_INT (pid));
      (void) sysprof_pump_add_file (self->pump, sysprof_pump_get_begin_time (self->pump),
                                    GPOINTER_TO_INT (pid), name, bytes->data, bytes->len,
                                    true); /* counted there */
    }
}

void
sysprof_jit_files_add (JitFiles *self)
{
  g_autoptr (GHashTable) lines_of_pid =
      g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_byte_array_unref);
  ConfinedChild reader = CONFINED_CHILD_INIT;
  JitFound found;
  int envelope;

  if (self->pump == NULL)
    return;

  sysprof_jit_finder_begin (&self->finder);
  while (sysprof_jit_finder_next (&self->finder, &found, &envelope))
    {
      if (envelope >= 0 && !sysprof_pump_is_augment_skipped (self->pump))
        read_found (self, &reader, &found, envelope, lines_of_pid);
      else if (found.found == JIT_FOUND_REFUSED)
        report_refused (self, &found);
      if (envelope >= 0)
        close (envelope);
    }
  add_lines (self, lines_of_pid);
}

void
sysprof_jit_files_clear (JitFiles *self)
{
  sysprof_jit_finder_clear (&self->finder);
}
