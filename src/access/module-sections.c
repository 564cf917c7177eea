// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads the load addresses of module sections from /sys. Without the privilege to see kernel
 * addresses, the files cannot be read or contain 0. Source: the kernel's
 * Documentation/ABI/testing/sysfs-module. */

#include "access/module-sections.h"

#include "access/kernel-build-ids.h"
#include "util/util.h"

#include <glib.h>
#include <stdint.h>
#include <string.h>

/* .text, .text.unlikely, .noinstr.text, .exit.text. Other sections contain no functions.
 * .init.text is skipped, because its memory is freed after initialization and may be reused by
 * other modules, although the kernel still shows its address. */
static bool
is_code (const char *section)
{
  return section[0] == '.' && !g_str_has_prefix (section, ".init") &&
         strstr (section, "text") != NULL && strpbrk (section, " \t\n=") == NULL;
}

/* `0xffffffffc0123000` */
static uint64_t
read_address (const char *path)
{
  g_autofree char *text = NULL;
  uint64_t address = 0;
  Text rest;

  if (!g_file_get_contents (path, &text, NULL, NULL))
    return 0;
  rest = sysprof_text_from_string (text);
  (void) sysprof_text_skip (&rest, "0x");
  return sysprof_text_hex (&rest, &address) ? address : 0;
}

static int
compare_texts (const void *a, const void *b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* " SECTION=ADDRESS" for each section. *(full)* */
static char *
dup_sections (const char *sections_dir)
{
  g_autoptr (GDir) dir = g_dir_open (sections_dir, 0, NULL);
  g_autoptr (GPtrArray) words = g_ptr_array_new_with_free_func (g_free);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (sections_dir, name, NULL);
      uint64_t address = is_code (name) ? read_address (path) : 0;

      if (address != 0)
        g_ptr_array_add (words, g_strdup_printf (" %s=%" G_GINT64_MODIFIER "x", name, address));
    }
  g_ptr_array_sort (words, compare_texts);
  g_ptr_array_add (words, NULL);
  return g_strjoinv ("", (char **) words->pdata);
}

char *
sysprof_dup_module_sections (const char *modules_dir)
{
  g_autoptr (GDir) dir = g_dir_open (modules_dir, 0, NULL);
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func (g_free);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (modules_dir, name, "sections", NULL);
      g_autofree char *sections = dup_sections (path);
      g_autofree char *build_id = NULL;

      if (sections[0] == '\0')
        continue;
      build_id = sysprof_dup_module_build_id (modules_dir, name);
      g_ptr_array_add (lines, g_strdup_printf ("%s %s%s\n", name,
                                               build_id != NULL ? build_id : "-", sections));
    }
  if (lines->len == 0)
    return NULL;

  g_ptr_array_sort (lines, compare_texts);
  g_ptr_array_add (lines, NULL);
  return g_strjoinv ("", (char **) lines->pdata);
}
