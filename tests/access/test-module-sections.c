// SPDX-License-Identifier: GPL-3.0-or-later

/* Addresses of module sections from a made-up /sys/module. */

#include "access/module-sections.h"

#include <elf.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>

typedef struct
{
  char *dir;
} Fixture;

static void
set_up (Fixture *self, const void *data)
{
  self->dir = g_dir_make_tmp ("modules-XXXXXX", NULL);
  g_assert_nonnull (self->dir);
}

static void
remove_all (const char *path)
{
  GDir *dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *inner = g_build_filename (path, name, NULL);

      remove_all (inner);
    }
  g_clear_pointer (&dir, g_dir_close);
  g_assert_cmpint (g_remove (path), ==, 0);
}

static void
tear_down (Fixture *self, const void *data)
{
  remove_all (self->dir);
  g_free (self->dir);
}

static void
put (Fixture *self,
     const char *module,
     const char *part,
     const char *name,
     const void *bytes,
     size_t size)
{
  g_autofree char *dir = g_build_filename (self->dir, module, part, NULL);
  g_autofree char *path = g_build_filename (dir, name, NULL);

  g_assert_cmpint (g_mkdir_with_parents (dir, 0700), ==, 0);
  g_assert_true (g_file_set_contents (path, bytes, (gssize) size, NULL));
}

static void
put_section (Fixture *self, const char *module, const char *name, const char *text)
{
  put (self, module, "sections", name, text, strlen (text));
}

static void
put_build_id (Fixture *self, const char *module)
{
  struct
  {
    Elf64_Nhdr head;
    char name[4];
    uint8_t id[4];
  } note = { { 4, 4, NT_GNU_BUILD_ID }, "GNU", { 0xab, 0xcd, 0xef, 0x01 } };

  put (self, module, "notes", ".note.gnu.build-id", &note, sizeof note);
}

static void
test_sections_with_code (Fixture *self, const void *data)
{
  g_autofree char *text = NULL;

  put_section (self, "second", ".text", "0xffffffffc0123000\n");
  put_section (self, "second", ".exit.text", "0xffffffffc0138000\n");
  put_section (self, "second", ".init.text", "0xffffffffc0140000\n");
  put_section (self, "second", ".data", "0xffffffffc0150000\n");
  put_section (self, "second", "__ksymtab_text", "0xffffffffc0160000\n");
  put_build_id (self, "second");
  put_section (self, "first", ".text.unlikely", "ffffffffc0001000");
  text = sysprof_dup_module_sections (self->dir);
  g_assert_cmpstr (text, ==,
                   "first - .text.unlikely=ffffffffc0001000\n"
                   "second abcdef01 .exit.text=ffffffffc0138000 .text=ffffffffc0123000\n");
}

static void
test_hidden (Fixture *self, const void *data)
{
  g_autofree char *none = g_build_filename (self->dir, "none", NULL);

  g_assert_null (sysprof_dup_module_sections (self->dir));
  g_assert_null (sysprof_dup_module_sections (none));
  put_section (self, "first", ".text", "0x0000000000000000\n");
  put_section (self, "second", ".text", "\n");
  put_section (self, "third", ".text", "");
  put_build_id (self, "built-in");
  g_assert_null (sysprof_dup_module_sections (self->dir));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/access/module-sections/with-code", Fixture, NULL, set_up,
              test_sections_with_code, tear_down);
  g_test_add ("/access/module-sections/hidden", Fixture, NULL, set_up, test_hidden, tear_down);
  return g_test_run ();
}
