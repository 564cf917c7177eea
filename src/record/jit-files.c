// SPDX-License-Identifier: GPL-3.0-or-later

/* Adds symbols of generated code to the capture. The files are untrusted: one child process
 * opens them, and another one without privileges parses them. This process must never parse
 * them; it only copies the results. */

#include "record/jit-files.h"

#include "record/privilege.h"
#include "record/pump-private.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>

#define DOMAIN "Processes"

/* Any user may write such files, as many and as long as they like. A reader unpacks at most 256
 * MiB of an embedded file. */
#define MOST_OF_PROCESS ((size_t) 192 << 20) /* bytes of lines */
#define MOST_OF_ALL     ((size_t) 512 << 20)
#define MOST_READING    60 /* s, for all files together */

/* *Owned* by sysprof_jit_files_add(). */
typedef struct
{
  GHashTable *of_pid; /* GByteArray of lines, by pid */
  GHashTable *owners; /* GString with one user ID per line, by pid */
  size_t size;        /* bytes, of all processes */
  int64_t until;      /* when reading ends */
  ConfinedChild reader;
  unsigned n_left; /* files skipped for lack of space or time */
  bool is_late;    /* time ran out, so more files may be missing that are not in n_left */
} Reading;

static const char *const refusals[] = {
  [JIT_REFUSED_LINK] = "there is a symbolic link in its place",
  [JIT_REFUSED_NO_FILE] = "it is not a regular file",
  [JIT_REFUSED_OWNER] = "it belongs to another user",
  [JIT_REFUSED_RIGHTS] = "the user whose process it is may not read it",
  [JIT_REFUSED_OLD] = "it is older than the process",
  [JIT_REFUSED_OTHER] = "it cannot be opened",
};

void
sysprof_jit_files_init (JitFiles *self, Pump *pump)
{
  *self = (JitFiles){ .pump = pump, .finder = JIT_FINDER_INIT };
  /* A test machine in a file tree has no such files. */
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

  if (self->pump == NULL) /* the recording did not start */
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
  if (found->reason == JIT_REFUSED_OLD) /* left by an earlier process with the same PID */
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
  /* A process that is still writing has an incomplete record in its buffer. */
  bool is_usual = status == JIT_TRUNCATED && (kill (found->pid, 0) == 0 || errno == EPERM);

  if (status != JIT_OK && !is_usual)
    sysprof_pump_report (
        self->pump, DOMAIN, false,
        "Of the file '%s', which names code that process %d generates, only a part is used: %s. "
        "Code that is named behind it has no names.",
        found->path, found->pid, sysprof_jit_status_to_string (status));
}

static bool
is_time_over (const Reading *reading)
{
  return sysprof_confined_child_deadline (0) >= reading->until;
}

/* In bytes. */
static size_t
room_for (const Reading *reading, int32_t pid)
{
  const GByteArray *all = g_hash_table_lookup (reading->of_pid, GINT_TO_POINTER (pid));
  size_t of_process = MOST_OF_PROCESS - (all != NULL ? all->len : 0);

  return MIN (of_process, MOST_OF_ALL - reading->size);
}

/* The size of the complete lines within `room` bytes. */
static size_t
cut_lines (const char *text, size_t size, size_t room)
{
  const char *end = size > room ? memrchr (text, '\n', room) : NULL;

  if (size <= room)
    return size;
  return end != NULL ? (size_t) (end + 1 - text) : 0;
}

static void
append_lines (Reading *reading, int32_t pid, const char *text, size_t size)
{
  GByteArray *all = g_hash_table_lookup (reading->of_pid, GINT_TO_POINTER (pid));

  if (size == 0)
    return;
  if (all == NULL)
    {
      all = g_byte_array_new ();
      g_hash_table_insert (reading->of_pid, GINT_TO_POINTER (pid), all);
    }
  g_byte_array_append (all, (const uint8_t *) text, (guint) size);
  reading->size += size;
}

/* Readers of the capture may look into jitdumps again; they only accept files of these
 * users. */
static void
note_owner (Reading *reading, const JitFound *found)
{
  GString *owners = g_hash_table_lookup (reading->owners, GINT_TO_POINTER (found->pid));
  g_autofree char *line = g_strdup_printf ("%u\n", found->uid);

  if (owners == NULL)
    {
      owners = g_string_new (NULL);
      g_hash_table_insert (reading->owners, GINT_TO_POINTER (found->pid), owners);
    }
  /* Files belong to root or to the user of the process, so there are few lines. */
  for (const char *at = owners->str; *at != '\0'; at = strchr (at, '\n') + 1)
    if (g_str_has_prefix (at, line))
      return;
  g_string_append (owners, line);
}

static void
read_found (JitFiles *self, Reading *reading, const JitFound *found, int envelope)
{
  size_t room = room_for (reading, found->pid);
  JitLines lines = { 0 };
  JitStatus status;
  size_t size;

  if (room == 0 || is_time_over (reading))
    {
      reading->n_left++;
      return;
    }

  status = sysprof_jit_read_confined (&reading->reader,
                                      found->kind == JIT_DUMP ? JIT_DUMP : JIT_PERF_MAP,
                                      envelope, found->size, reading->until, &lines);
  /* each file gets a new child, so that no file can affect another */
  sysprof_confined_child_end (&reading->reader);
  size = cut_lines (lines.text, lines.size, room);
  report_status (self, found, size < lines.size ? JIT_TOO_LARGE : status);
  append_lines (reading, found->pid, lines.text, size);
  if (found->kind == JIT_DUMP)
    note_owner (reading, found);
  sysprof_jit_lines_clear (&lines);
}

static void
report_no_room (const JitFiles *self, uint64_t n)
{
  if (n > 0)
    sysprof_pump_report (self->pump, DOMAIN, false,
                         "For code that processes generate, names were not looked for %" PRIu64
                         " times: at most %u files with such names are awaited at once. Record "
                         "fewer processes at a time.",
                         n, JIT_FINDER_MOST_FILES);
}

static void
report_left (const JitFiles *self, const Reading *reading)
{
  if (reading->n_left > 0 || reading->is_late)
    sysprof_pump_report (
        self->pump, DOMAIN, false,
        "%u files%s that name code that processes generate are left out: of one process at most %u "
        "MiB of names are kept, of all at most %u MiB, and reading them takes at most %d s. Record "
        "fewer processes at a time.",
        reading->n_left, reading->is_late ? ", and more that nobody counted," : "",
        (unsigned) (MOST_OF_PROCESS >> 20), (unsigned) (MOST_OF_ALL >> 20), MOST_READING);
}

static void
add_lines (JitFiles *self, const Reading *reading)
{
  GHashTableIter iter;
  void *pid, *lines;

  g_hash_table_iter_init (&iter, reading->of_pid);
  while (g_hash_table_iter_next (&iter, &pid, &lines))
    {
      const GByteArray *bytes = lines;
      char name[64];

      g_snprintf (name, sizeof name, "/proc/%d/jit-code", GPOINTER_TO_INT (pid));
      /* sysprof_pump_add_file() counts a failure. */
      (void) sysprof_pump_add_file (self->pump, sysprof_pump_get_begin_time (self->pump),
                                    GPOINTER_TO_INT (pid), name, bytes->data, bytes->len,
                                    true);
    }
}

static void
add_owners (JitFiles *self, const Reading *reading)
{
  GHashTableIter iter;
  void *pid, *owners;

  g_hash_table_iter_init (&iter, reading->owners);
  while (g_hash_table_iter_next (&iter, &pid, &owners))
    {
      const GString *text = owners;
      char name[64];

      g_snprintf (name, sizeof name, "/proc/%d/jit-owners", GPOINTER_TO_INT (pid));
      /* sysprof_pump_add_file() counts a failure. */
      (void) sysprof_pump_add_file (self->pump, sysprof_pump_get_begin_time (self->pump),
                                    GPOINTER_TO_INT (pid), name, (const uint8_t *) text->str,
                                    text->len, false);
    }
}

static void
free_text (void *text)
{
  g_string_free (text, TRUE);
}

void
sysprof_jit_files_add (JitFiles *self)
{
  g_autoptr (GHashTable) lines_of_pid =
      g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_byte_array_unref);
  g_autoptr (GHashTable) owners = g_hash_table_new_full (NULL, NULL, NULL, free_text);
  Reading reading = { .of_pid = lines_of_pid,
                      .owners = owners,
                      .until = sysprof_confined_child_deadline (MOST_READING * 1000),
                      .reader = CONFINED_CHILD_INIT };
  JitFound found = { .found = JIT_FOUND_FILE };
  int envelope;

  if (self->pump == NULL)
    return;

  sysprof_jit_finder_begin (&self->finder);
  while (!(reading.is_late = is_time_over (&reading)) &&
         sysprof_jit_finder_next (&self->finder, &found, &envelope))
    {
      if (envelope >= 0 && !sysprof_pump_is_augment_skipped (self->pump))
        read_found (self, &reading, &found, envelope);
      else if (found.found == JIT_FOUND_REFUSED)
        report_refused (self, &found);
      if (envelope >= 0)
        close (envelope);
    }
  if (!reading.is_late && found.found == JIT_FOUND_END)
    report_no_room (self, found.size);
  report_left (self, &reading);
  add_lines (self, &reading);
  add_owners (self, &reading);
}

void
sysprof_jit_files_clear (JitFiles *self)
{
  sysprof_jit_finder_clear (&self->finder);
}
