// SPDX-License-Identifier: GPL-3.0-or-later

/* Storages laid out as containers-storage(1) says: which layers a container has, and for how long they are looked for. */

#include "locate/container-storage.h"

#include <glib.h>
#include <glib/gstdio.h>

#define MOST_MSEC 10000 /* as the header says */

/* 64 hexadecimal digits each. */
#define TIMES_16(text) \
  text text text text text text text text text text text text text text text text
#define CONTAINER TIMES_16 ("c0de")
#define OWN       TIMES_16 ("0001")
#define IMAGE     TIMES_16 ("abcd")
#define TOP       TIMES_16 ("0002")
#define BASE      TIMES_16 ("0003")

static char *storage; /* of this user */

static void
write_list (const char *kind, const char *json)
{
  g_autofree char *directory = g_strdup_printf ("%s/overlay-%s", storage, kind);
  g_autofree char *path = g_strdup_printf ("%s/%s.json", directory, kind);

  g_assert_cmpint (g_mkdir_with_parents (directory, 0700), ==, 0);
  g_assert_true (g_file_set_contents (path, json, -1, NULL));
}

/* Behind `n` entries of others. */
static void
write_containers (unsigned n)
{
  g_autoptr (GString) json = g_string_new ("[");

  for (unsigned i = 0; i < n; i++)
    g_string_append_printf (
        json, "{\"id\":\"%064x\",\"names\":[\"n%u\"],\"layer\":\"%064x\",\"metadata\":\"{}\"},",
        i, i, i);
  g_string_append (json, "{\"id\":\"" CONTAINER "\",\"image\":\"" IMAGE "\",\"layer\":\"" OWN
                         "\",\"flags\":{\"MountLabel\":\"\"}}]");
  write_list ("containers", json->str);
}

static void
write_storage (unsigned n_others)
{
  write_containers (n_others);
  write_list ("images", "[{\"id\":\"" IMAGE "\",\"layer\":\"" TOP "\"}]");
  write_list ("layers", "[{\"id\":\"" BASE "\"},{\"id\":\"" TOP "\",\"parent\":\"" BASE
                        "\"},{\"id\":\"" OWN "\",\"parent\":\"" TOP "\"}]");
}

static GArray *
find (ContainerStorage *self)
{
  static const char cgroup[] = "0::/machine.slice/libpod-" CONTAINER ".scope/container\n";

  return sysprof_container_storage_find (self, (Text){ cgroup, cgroup + sizeof cgroup - 1 });
}

/* On a machine that has much else to do a child may take longer than it is waited for. */
static GArray *
find_patiently (ContainerStorage *self)
{
  GArray *layers;

  sysprof_container_storage_init (self, -1);
  for (unsigned i = 0; (layers = find (self)) == NULL && i < 10; i++)
    {
      sysprof_container_storage_clear (self);
      sysprof_container_storage_init (self, -1);
    }
  g_assert_nonnull (layers);
  return layers;
}

static void
assert_layer (GArray *layers, guint i, const char *id)
{
  g_autofree char *path = g_strdup_printf ("%s/overlay/%s/diff", storage, id);

  g_assert_cmpuint (layers->len, >, i);
  g_assert_cmpstr (g_array_index (layers, OverlayLayer, i).source, ==, path);
  g_assert_cmpstr (g_array_index (layers, OverlayLayer, i).target, ==, "/");
}

static void
test_lists_layers_from_the_topmost (void)
{
  ContainerStorage self;
  GArray *layers;

  write_storage (3);
  layers = find_patiently (&self);
  assert_layer (layers, 0, OWN);
  assert_layer (layers, 1, TOP);
  assert_layer (layers, 2, BASE);
  sysprof_container_storage_clear (&self);
}

/* No list is opened again, however many paths are looked up. */
static void
test_asks_nothing_when_its_time_is_over (void)
{
  ContainerStorage self;

  write_storage (0);
  sysprof_container_storage_init (&self, -1);
  self.left_msec = 0;
  g_assert_null (find (&self));
  g_assert_cmpint (self.opener.child.pid, ==, 0);
  g_assert_cmpint (self.left_msec, ==, 0);
  sysprof_container_storage_clear (&self);
}

/* A list that takes its time leaves less for all others. */
static void
test_time_is_that_of_all (void)
{
  ContainerStorage self;

  write_storage (40000);
  sysprof_container_storage_init (&self, -1);
  g_assert_cmpint (self.left_msec, ==, MOST_MSEC);
  (void) find (&self);
  g_assert_cmpint (self.left_msec, <, MOST_MSEC);
  sysprof_container_storage_clear (&self);
}

/* A chain that comes back to where it began. */
static void
test_cycle_of_parents_ends (void)
{
  ContainerStorage self;
  GArray *layers;

  write_storage (0);
  write_list ("layers", "[{\"id\":\"" TOP "\",\"parent\":\"" OWN "\"},{\"id\":\"" OWN
                        "\",\"parent\":\"" TOP "\"}]");
  layers = find_patiently (&self);
  g_assert_cmpuint (layers->len, <=, 512);
  sysprof_container_storage_clear (&self);
}

static void
remove_list (const char *kind)
{
  g_autofree char *directory = g_strdup_printf ("%s/overlay-%s", storage, kind);
  g_autofree char *path = g_strdup_printf ("%s/%s.json", directory, kind);

  (void) g_unlink (path);
  (void) g_rmdir (directory);
}

int
main (int argc, char **argv)
{
  g_autofree char *home = g_dir_make_tmp ("sysprof-storage-XXXXXX", NULL);
  g_autofree char *containers = g_build_filename (home, "containers", NULL);
  int status;

  g_assert_nonnull (home);
  g_assert_true (g_setenv ("XDG_DATA_HOME", home, TRUE));
  storage = g_build_filename (containers, "storage", NULL);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/container-storage/lists-layers-from-the-topmost",
                   test_lists_layers_from_the_topmost);
  g_test_add_func ("/container-storage/asks-nothing-when-its-time-is-over",
                   test_asks_nothing_when_its_time_is_over);
  g_test_add_func ("/container-storage/time-is-that-of-all", test_time_is_that_of_all);
  g_test_add_func ("/container-storage/cycle-of-parents-ends", test_cycle_of_parents_ends);
  status = g_test_run ();

  remove_list ("containers");
  remove_list ("images");
  remove_list ("layers");
  (void) g_rmdir (storage);
  (void) g_rmdir (containers);
  (void) g_rmdir (home);
  g_free (storage);
  return status;
}
