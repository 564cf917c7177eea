// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads the build IDs of the kernel and its modules from the ELF notes in /sys. Source: elf(5),
 * "Notes". */

#include "access/kernel-build-ids.h"

#include "access/module-sections.h"
#include "util/util.h"

#include <elf.h>
#include <fcntl.h>
#include <glib.h>
#include <string.h>
#include <unistd.h>

#define KERNEL_NOTES   "/sys/kernel/notes"
#define MOST_NOTES     4096 /* bytes */
#define MOST_BUILD_ID  64   /* bytes */
#define NOTE_ALIGNMENT 4

static size_t
align_note (size_t size)
{
  return (size + NOTE_ALIGNMENT - 1) / NOTE_ALIGNMENT * NOTE_ALIGNMENT;
}

static char *
dup_hex (const uint8_t *bytes, size_t size)
{
  GString *hex = g_string_new (NULL);

  for (size_t i = 0; i < size; i++)
    g_string_append_printf (hex, "%02x", bytes[i]);
  return g_string_free (hex, FALSE);
}

char *
sysprof_dup_build_id_of_notes (const uint8_t *notes, size_t size)
{
  Elf64_Nhdr head; /* 32-bit headers are the same */

  for (size_t at = 0; size - at >= sizeof head;)
    {
      size_t left = size - at - sizeof head, name_size;

      memcpy (&head, notes + at, sizeof head);
      at += sizeof head;
      if (head.n_namesz > left || head.n_descsz > left)
        return NULL;
      name_size = align_note (head.n_namesz);
      if (name_size > left || head.n_descsz > left - name_size)
        return NULL;
      if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == sizeof ELF_NOTE_GNU &&
          memcmp (notes + at, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0)
        return head.n_descsz > 0 && head.n_descsz <= MOST_BUILD_ID
                   ? dup_hex (notes + at + name_size, head.n_descsz)
                   : NULL;
      /* The padding of the last note may be missing. */
      at += name_size + MIN (align_note (head.n_descsz), left - name_size);
    }
  return NULL;
}

static char *
dup_build_id_in (const char *path)
{
  autofd fd = open (path, O_RDONLY | O_CLOEXEC);
  uint8_t notes[MOST_NOTES];
  ssize_t size = fd >= 0 ? read (fd, notes, sizeof notes) : -1;

  return size > 0 ? sysprof_dup_build_id_of_notes (notes, (size_t) size) : NULL;
}

char *
sysprof_dup_kernel_build_id (void)
{
  return dup_build_id_in (KERNEL_NOTES);
}

static int
compare_names (const void *a, const void *b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

char *
sysprof_dup_module_build_id (const char *modules_dir, const char *name)
{
  g_autofree char *path =
      g_build_filename (modules_dir, name, "notes", ".note.gnu.build-id", NULL);

  return dup_build_id_in (path);
}

char *
sysprof_dup_module_build_ids (void)
{
  g_autoptr (GDir) dir = g_dir_open (MODULES_DIR, 0, NULL);
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func (g_free);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *build_id = sysprof_dup_module_build_id (MODULES_DIR, name);

      if (build_id != NULL)
        g_ptr_array_add (lines, g_strdup_printf ("%s %s", name, build_id));
    }
  if (lines->len == 0)
    return NULL;

  g_ptr_array_sort (lines, compare_names);
  g_ptr_array_add (lines, NULL);
  return g_strjoinv ("\n", (char **) lines->pdata);
}
