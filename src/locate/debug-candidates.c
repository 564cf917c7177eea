// SPDX-License-Identifier: GPL-3.0-or-later

/* Lists the paths where a debug file may be on this machine. It only makes paths; it never
 * opens the debug files. */

#include "locate/debug-candidates.h"

#include <string.h>

#define SYSTEM_DEBUG_DIR  "/usr/lib/debug"
#define DEBUG_SUFFIX      ".debug"
#define DWZ_DIR           ".dwz"  /* directory of supplements, below a debug directory */
#define APP_PREFIX        "/app/" /* where a Flatpak application sees its own files */
#define APP_DEBUG_DIR     "/app/lib/debug"
#define MOST_FLATPAK_DIRS 64 /* limit, because each one is searched for each file */

/* --- Flatpak's directories of debug files --- */

/* Adds the entries of `path`; with a `suffix`, only those whose names end in it. */
static void
add_below (GPtrArray *dirs, const char *path, const char *suffix)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && dirs->len < MOST_FLATPAK_DIRS && (name = g_dir_read_name (dir)) != NULL)
    if (suffix == NULL || g_str_has_suffix (name, suffix))
      g_ptr_array_add (dirs, g_build_filename (path, name, NULL));
}

/* Replaces the directories by their subdirectories. */
static GPtrArray *
descend (GPtrArray *dirs)
{
  GPtrArray *lower = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < dirs->len; i++)
    add_below (lower, dirs->pdata[i], NULL);
  g_ptr_array_unref (dirs);
  return lower;
}

static int
compare_paths (const void *a, const void *b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

/* Lists the directories of the `.Debug` runtimes in Flatpak's installations, both the user's
 * and the system's. */
static char **
list_flatpak_dirs (void)
{
  const char *system = g_getenv ("FLATPAK_SYSTEM_DIR");
  const char *user = g_getenv ("FLATPAK_USER_DIR");
  g_autofree char *in_home = g_build_filename (g_get_user_data_dir (), "flatpak", NULL);
  const char *installations[] = { user != NULL ? user : in_home,
                                  system != NULL ? system : "/var/lib/flatpak" };
  GPtrArray *dirs = g_ptr_array_new_with_free_func (g_free);

  /* Flatpak mounts INSTALLATION/runtime/ID.Debug/ARCHITECTURE/BRANCH/active/files over
   * /usr/lib/debug. */
  for (size_t i = 0; i < G_N_ELEMENTS (installations); i++)
    {
      g_autofree char *runtimes = g_build_filename (installations[i], "runtime", NULL);

      add_below (dirs, runtimes, ".Debug");
    }
  dirs = descend (descend (dirs));
  g_ptr_array_sort (dirs, compare_paths);
  for (guint i = 0; i < dirs->len; i++)
    {
      g_autofree char *branch = dirs->pdata[i];

      dirs->pdata[i] = g_build_filename (branch, "active", "files", NULL);
    }
  g_ptr_array_add (dirs, NULL);
  return (char **) g_ptr_array_free (dirs, FALSE);
}

/* With a sysroot, this machine's runtimes are not searched. */
static char *const *
find_flatpak_dirs (FileLocator *self)
{
  if (self->flatpak_dirs == NULL)
    self->flatpak_dirs =
        self->options.sysroot == NULL ? list_flatpak_dirs () : g_new0 (char *, 1);
  return self->flatpak_dirs;
}

/* --- candidates --- */

bool
sysprof_is_build_id (Text hex)
{
  size_t size = sysprof_text_size (hex);

  if (size < 4 || size >= BUILD_ID_TEXT_SIZE || size % 2 != 0)
    return false;
  for (const char *at = hex.at; at < hex.end; at++)
    if (!g_ascii_isxdigit (*at) || g_ascii_isupper (*at))
      return false;
  return true;
}

static void
add_candidate (GArray *candidates, int root, char *path)
{
  DebugCandidate candidate = { root, path };

  for (guint i = 0; i < candidates->len; i++)
    {
      const DebugCandidate *known = &g_array_index (candidates, DebugCandidate, i);

      if (known->root == root && strcmp (known->path, path) == 0)
        {
          g_free (path);
          return;
        }
    }
  g_array_append_val (candidates, candidate);
}

static void
clear_candidate (void *candidate)
{
  g_free (((DebugCandidate *) candidate)->path);
}

static void
add_by_build_id (GArray *candidates,
                 int root,
                 const char *debug_dir,
                 const char *build_id,
                 const char *suffix)
{
  if (strlen (build_id) >= 4)
    add_candidate (
        candidates, root,
        g_strdup_printf ("%s/.build-id/%.2s/%s%s", debug_dir, build_id, build_id + 2, suffix));
}

/* A directory like /usr/lib/debug. */
typedef struct
{
  int root; /* borrowed */
  const char *path;
} DebugDir;

/* Lists all debug directories, except Flatpak's, for a file that was found below `root` at
 * `path`. */
static GArray *
list_debug_dirs (const LocateOptions *options, int root, const char *path)
{
  GArray *dirs = g_array_new (FALSE, FALSE, sizeof (DebugDir));
  DebugDir dir = { root, SYSTEM_DEBUG_DIR };

  g_array_append_val (dirs, dir);
  for (size_t i = 0; options->debug_dirs != NULL && options->debug_dirs[i] != NULL; i++)
    {
      dir = (DebugDir){ -1, options->debug_dirs[i] };
      g_array_append_val (dirs, dir);
    }
  for (size_t i = 0; options->inner_debug_dirs != NULL && options->inner_debug_dirs[i] != NULL;
       i++)
    {
      dir = (DebugDir){ root, options->inner_debug_dirs[i] };
      g_array_append_val (dirs, dir);
    }
  /* A container without debug files may run the same build that is installed on the host. */
  if (root >= 0 && options->sysroot == NULL)
    {
      dir = (DebugDir){ -1, SYSTEM_DEBUG_DIR };
      g_array_append_val (dirs, dir);
    }
  if (g_str_has_prefix (path, APP_PREFIX))
    {
      dir = (DebugDir){ root, APP_DEBUG_DIR };
      g_array_append_val (dirs, dir);
    }
  return dirs;
}

static void
add_flatpak_dirs (GArray *dirs, char *const *flatpak_dirs)
{
  for (size_t i = 0; flatpak_dirs[i] != NULL; i++)
    {
      DebugDir dir = { -1, flatpak_dirs[i] };

      g_array_append_val (dirs, dir);
    }
}

static void
add_by_build_id_everywhere (GArray *candidates,
                            const GArray *dirs,
                            const char *build_id,
                            const char *suffix)
{
  for (guint i = 0; i < dirs->len; i++)
    {
      const DebugDir *dir = &g_array_index (dirs, DebugDir, i);

      add_by_build_id (candidates, dir->root, dir->path, build_id, suffix);
    }
}

static void
add_by_link (GArray *candidates,
             const LocateOptions *options,
             int root,
             const char *directory,
             const char *link)
{
  if (link[0] == 0)
    return;

  add_candidate (candidates, root, g_build_filename (directory, link, NULL));
  add_candidate (candidates, root, g_build_filename (directory, ".debug", link, NULL));
  add_candidate (candidates, root, g_build_filename (SYSTEM_DEBUG_DIR, directory, link, NULL));
  for (size_t i = 0; options->debug_dirs != NULL && options->debug_dirs[i] != NULL; i++)
    add_candidate (candidates, -1,
                   g_build_filename (options->debug_dirs[i], directory, link, NULL));
  for (size_t i = 0; options->inner_debug_dirs != NULL && options->inner_debug_dirs[i] != NULL;
       i++)
    add_candidate (candidates, root,
                   g_build_filename (options->inner_debug_dirs[i], directory, link, NULL));
}

/* The debug file of a file built as /app/bin/x is bin/x.debug in there. For files of a runtime
 * some builders keep the /usr prefix. */
static void
add_flatpak (GArray *candidates,
             char *const *dirs,
             const char *directory,
             const DebugLink *debug)
{
  const char *below = strchr (directory + (directory[0] == '/'), '/');

  for (size_t i = 0; dirs[i] != NULL; i++)
    {
      add_by_build_id (candidates, -1, dirs[i], debug->build_id, DEBUG_SUFFIX);
      if (debug->name[0] == 0)
        continue;
      add_candidate (candidates, -1, g_build_filename (dirs[i], directory, debug->name, NULL));
      if (below != NULL)
        add_candidate (candidates, -1, g_build_filename (dirs[i], below, debug->name, NULL));
    }
}

static GArray *
new_candidates (void)
{
  GArray *candidates = g_array_new (FALSE, FALSE, sizeof (DebugCandidate));

  g_array_set_clear_func (candidates, clear_candidate);
  return candidates;
}

GArray *
sysprof_list_debug_candidates (FileLocator *self,
                               int root,
                               const char *path,
                               const DebugLink *debug,
                               bool with_flatpak)
{
  const LocateOptions *options = &self->options;
  g_autoptr (GArray) dirs = list_debug_dirs (options, root, path);
  g_autofree char *directory = g_path_get_dirname (path);
  GArray *candidates = new_candidates ();

  add_by_build_id_everywhere (candidates, dirs, debug->build_id, DEBUG_SUFFIX);
  add_by_link (candidates, options, root, directory, debug->name);
  if (with_flatpak)
    add_flatpak (candidates, find_flatpak_dirs (self), directory, debug);
  if (root < 0 && debug->name[0] != 0)
    {
      g_autofree char *real = sysprof_find_real_path (&self->opener, path);
      g_autofree char *real_directory = real != NULL ? g_path_get_dirname (real) : NULL;

      if (real != NULL)
        add_by_link (candidates, options, root, real_directory, debug->name);
    }

  return candidates;
}

/* --- supplements --- */

/* Returns the part of the link below a directory like /usr/lib/debug, or NULL if the link has
 * no such part. */
static const char *
find_dwz_part (const char *link)
{
  const char *part = strstr (link, "/" DWZ_DIR "/");

  return part == NULL && g_str_has_prefix (link, DWZ_DIR "/") ? link : part;
}

/* Resolves the link relative to the directory of the file that contains it. */
static void
add_by_alt_link (GArray *candidates, int root, const char *path, const char *link)
{
  g_autofree char *directory = g_path_get_dirname (path);

  if (g_path_is_absolute (link))
    add_candidate (candidates, root, g_strdup (link));
  else
    add_candidate (candidates, root, g_build_filename (directory, link, NULL));
}

GArray *
sysprof_list_supplement_candidates (FileLocator *self,
                                    int root,
                                    const char *path,
                                    const DebugLink *supplement,
                                    bool with_flatpak)
{
  g_autoptr (GArray) dirs = list_debug_dirs (&self->options, root, path);
  const char *part = find_dwz_part (supplement->name);
  GArray *candidates = new_candidates ();

  if (with_flatpak)
    add_flatpak_dirs (dirs, find_flatpak_dirs (self));
  add_by_build_id_everywhere (candidates, dirs, supplement->build_id, DEBUG_SUFFIX);
  add_by_alt_link (candidates, root, path, supplement->name);
  if (root < 0)
    {
      /* The file found by build ID may be a symbolic link to a file that is named after the
       * program. */
      g_autofree char *real = sysprof_find_real_path (&self->opener, path);

      if (real != NULL)
        add_by_alt_link (candidates, root, real, supplement->name);
    }
  for (guint i = 0; i < dirs->len && part != NULL; i++)
    {
      const DebugDir *dir = &g_array_index (dirs, DebugDir, i);

      add_candidate (candidates, dir->root, g_build_filename (dir->path, part, NULL));
    }
  return candidates;
}

/* --- split units --- */

GArray *
sysprof_list_package_candidates (FileLocator *self, const FoundFile *file, const char *build_id)
{
  static const char *const suffixes[] = { ".dwp", ".debug.dwp" };
  g_autoptr (GArray) dirs = list_debug_dirs (&self->options, file->root, file->path);
  GArray *candidates = new_candidates ();

  add_candidate (candidates, file->root, g_strconcat (file->path, ".dwp", NULL));
  add_candidate (candidates, file->debug_root, g_strconcat (file->debug_path, ".dwp", NULL));
  add_flatpak_dirs (dirs, find_flatpak_dirs (self));
  for (size_t i = 0; i < G_N_ELEMENTS (suffixes); i++)
    add_by_build_id_everywhere (candidates, dirs, build_id, suffixes[i]);
  for (guint i = 0; i < dirs->len; i++)
    {
      const DebugDir *dir = &g_array_index (dirs, DebugDir, i);
      g_autofree char *below = g_build_filename (dir->path, file->path, NULL);

      add_candidate (candidates, dir->root, g_strconcat (below, ".dwp", NULL));
    }
  return candidates;
}

GArray *
sysprof_list_split_candidates (const FileLocator *self,
                               const FoundFile *file,
                               const char *directory,
                               const char *name)
{
  const LocateOptions *options = &self->options;
  g_autofree char *compiled =
      g_path_is_absolute (name) ? g_strdup (name) : g_build_filename (directory, name, NULL);
  g_autofree char *base = g_path_get_basename (name);
  g_autofree char *own_directory = g_path_get_dirname (file->path);
  GArray *candidates = new_candidates ();

  if (g_path_is_absolute (compiled))
    add_candidate (candidates, file->root, g_strdup (compiled));
  /* A program that runs in a container may have been built outside of it. */
  if (g_path_is_absolute (compiled) && options->sysroot == NULL)
    add_candidate (candidates, -1, g_strdup (compiled));
  if (!g_path_is_absolute (name))
    add_candidate (candidates, file->root, g_build_filename (own_directory, name, NULL));
  add_candidate (candidates, file->root, g_build_filename (own_directory, base, NULL));
  for (size_t i = 0; options->debug_dirs != NULL && options->debug_dirs[i] != NULL; i++)
    {
      add_candidate (candidates, -1, g_build_filename (options->debug_dirs[i], compiled, NULL));
      add_candidate (candidates, -1, g_build_filename (options->debug_dirs[i], base, NULL));
    }
  return candidates;
}
