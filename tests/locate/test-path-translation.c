// SPDX-License-Identifier: GPL-3.0-or-later

/* Tables of mounts as containers, sandboxes and hosts have them, and where their files lie on the host by what those programs document
 * of their directories. */

#include "locate/path-translation.h"

#define STORAGE "/home/u/.local/share/containers/storage/overlay/"
#define FLATPAK "/var/lib/flatpak/"

/* An ordinary host: one disk, another one for /home. */
#define HOST                                                     \
  "27 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"      \
  "28 27 8:2 / /home rw,relatime shared:2 - ext4 /dev/sda2 rw\n" \
  "30 27 0:27 / /run rw shared:3 - tmpfs tmpfs rw\n"

typedef struct
{
  const char *name;
  const char *process;
  const char *own;
  const char *path;
  bool is_other_boot;
  const char *expected[6]; /* all of them, in this order */
  bool is_unidentified;
} Case;

/* clang-format off */
static const Case cases[] = {
  { "same namespace", HOST, HOST, "/usr/bin/x", false, { "/usr/bin/x" } },
  { "bind mount",
    "40 39 8:1 /srv/tree /opt rw - ext4 /dev/sda1 rw\n" HOST, HOST, "/opt/bin/x", false,
    { "/srv/tree/bin/x", "/opt/bin/x" } },
  { "bind mount of one file",
    HOST "41 27 8:2 /u/x /usr/bin/x rw - ext4 /dev/sda2 rw\n", HOST, "/usr/bin/x", false, { "/home/u/x", "/usr/bin/x" } },
  { "bind mount with a blank in its name",
    "40 39 8:1 /srv/a\\040tree /opt\\134 rw - ext4 /dev/sda1 rw\n", HOST, "/opt\\/x", false, { "/srv/a tree/x" } },
  { "directory whose name only begins like a mount point",
    "40 39 8:1 /srv/tree /opt rw - ext4 /dev/sda1 rw\n", HOST, "/option/x", false, { NULL } },
  { "file system that we have not mounted", "40 39 8:9 / /mnt rw - ext4 /dev/sdz9 rw\n", HOST, "/mnt/x", false, { NULL } },
  { "mount over a mount: what is on top first",
    HOST "40 27 8:1 /below /mnt rw - ext4 /dev/sda1 rw\n41 40 8:1 /above /mnt rw - ext4 /dev/sda1 rw\n", HOST, "/mnt/x", false,
    { "/above/x", "/below/x", "/mnt/x" } },

  /* A process that was started in a directory of ours: of its root it shows what is mounted. */
  { "chroot into a mount", "40 27 8:2 /jail / rw - ext4 /dev/sda2 rw\n", HOST, "/bin/x", false, { "/home/jail/bin/x" } },
  { "chroot into a directory has no mounts", "", HOST, "/bin/x", false, { NULL } },

  { "podman as root, overlayfs",
    "726 602 0:52 / / rw,relatime - overlay overlay rw,lowerdir=" STORAGE "l/ABC:" STORAGE "l/DEF,upperdir=" STORAGE "8a1b/diff,workdir="
    STORAGE "8a1b/work\n"
    "727 726 8:2 /u/volume /data rw - ext4 /dev/sda2 rw\n",
    HOST, "/usr/bin/x", false, { STORAGE "8a1b/diff/usr/bin/x", STORAGE "l/ABC/usr/bin/x", STORAGE "l/DEF/usr/bin/x" } },
  { "volume of a container",
    "726 602 0:52 / / rw,relatime - overlay overlay rw,lowerdir=/l,upperdir=/u,workdir=/w\n"
    "727 726 8:2 /u/volume /data rw - ext4 /dev/sda2 rw\n",
    HOST, "/data/x", false, { "/home/u/volume/x", "/u/data/x", "/l/data/x" } },
  { "overlay that we see, too",
    "726 602 0:52 / / rw,relatime - overlay overlay rw,lowerdir=/l,upperdir=/u,workdir=/w\n",
    HOST "99 27 0:52 / /var/merged rw - overlay overlay rw,lowerdir=/l,upperdir=/u,workdir=/w\n", "/bin/x", false,
    { "/var/merged/bin/x", "/u/bin/x", "/l/bin/x" } },
  /* Its mount options name no layers; see the case with recorded layers. */
  { "fuse-overlayfs", "726 602 0:52 / / rw,relatime - fuse.fuse-overlayfs fuse-overlayfs rw,user_id=0,group_id=0\n", HOST, "/bin/x",
    false, { NULL } },

  { "flatpak",
    "500 400 8:1 " FLATPAK "runtime/org.gnome.Platform/x86_64/44/0123/files /newroot/usr ro - ext4 /dev/sda1 rw\n"
    "501 400 8:1 " FLATPAK "app/org.example.App/x86_64/stable/4567/files /app ro - ext4 /dev/sda1 rw\n"
    "502 500 8:1 " FLATPAK "runtime/org.gnome.Platform/x86_64/44/0123/files /usr ro - ext4 /dev/sda1 rw\n",
    HOST, "/app/bin/x", false, { FLATPAK "app/org.example.App/x86_64/stable/4567/files/bin/x" } },
  { "new root, as seen from outside",
    "502 500 8:1 " FLATPAK "runtime/org.gnome.Platform/x86_64/44/0123/files /usr ro - ext4 /dev/sda1 rw\n",
    HOST, "/newroot/usr/lib/x.so", false, { FLATPAK "runtime/org.gnome.Platform/x86_64/44/0123/files/lib/x.so" } },
  { "new root that is no sandbox's", HOST, HOST, "/newroots/x", false, { "/newroots/x" } },

  /* Both subvolumes belong to one device; the kernel gives it no number of its own. */
  { "subvolume of Btrfs",
    "60 1 0:24 /@work/.snapshots/3 /mnt rw - btrfs /dev/sdb1 rw,subvolid=260,subvol=/@work/.snapshots/3\n",
    "27 1 0:24 /@ / rw - btrfs /dev/sdb1 rw,subvolid=256,subvol=/@\n"
    "28 27 0:24 /@work /work rw - btrfs /dev/sdb1 rw,subvolid=257,subvol=/@work\n",
    "/mnt/bin/x", false, { "/work/.snapshots/3/bin/x" } },
  { "subvolume after a start of the machine",
    "60 1 0:24 /@ / rw - btrfs /dev/sdb1 rw,subvolid=256,subvol=/@\n",
    "27 1 0:31 / / rw - btrfs /dev/sdc1 rw,subvolid=5,subvol=/\n"
    "28 27 0:33 / /mnt/all rw - btrfs /dev/sdb1 rw,subvolid=5,subvol=/\n",
    "/usr/bin/x", true, { "/mnt/all/@/usr/bin/x" } },

  /* Recorded in one deployment, read in the next. */
  { "deployment of OSTree",
    "27 1 8:1 /ostree/deploy/os/deploy/aaaa.0 / rw - xfs /dev/sda1 rw\n"
    "28 27 8:1 /ostree/deploy/os/deploy/aaaa.0/usr /usr ro - xfs /dev/sda1 rw\n",
    "27 1 8:1 /ostree/deploy/os/deploy/bbbb.0 / rw - xfs /dev/sda1 rw\n"
    "28 27 8:1 /ostree/deploy/os/deploy/bbbb.0/usr /usr ro - xfs /dev/sda1 rw\n"
    "29 27 8:1 / /sysroot ro - xfs /dev/sda1 rw\n",
    "/usr/bin/x", true, { "/sysroot/ostree/deploy/os/deploy/aaaa.0/usr/bin/x" } },
  { "memory of another start is gone",
    "27 1 0:30 / /tmp rw - tmpfs tmpfs rw\n", "27 1 0:30 / /tmp rw - tmpfs tmpfs rw\n", "/tmp/x", true, { NULL } },
  { "directory of a server",
    "27 1 0:40 /sub /mnt rw - nfs4 server:/export rw\n", "27 1 0:50 / /net rw - nfs4 server:/export rw\n", "/mnt/x", true,
    { "/net/sub/x" } },
  { "no path", HOST, HOST, "x", false, { NULL } },

  /* Nothing says which file it was: only what cannot be another one counts. */
  { "unidentified, on a disk",
    "40 39 8:1 /srv/tree /opt rw - ext4 /dev/sda1 rw\n", HOST, "/opt/bin/x", false, { "/srv/tree/bin/x" }, true },
  { "unidentified, number that memory had before",
    "40 39 0:27 / /mnt rw - tmpfs tmpfs rw\n", HOST, "/mnt/x", false, { NULL }, true },
  { "unidentified, number that another overlay has now",
    "726 602 0:52 / / rw,relatime - overlay overlay rw,lowerdir=/l,upperdir=/u,workdir=/w\n",
    "99 27 0:52 / /var/merged rw - overlay overlay rw,lowerdir=/a,upperdir=/b,workdir=/c\n", "/bin/x", false,
    { "/u/bin/x", "/l/bin/x" }, true },
  { "unidentified, number that another image has now",
    "40 39 7:5 / /mnt ro - squashfs /dev/loop5 ro\n", "41 27 7:5 / /snap/other/2 ro - squashfs /dev/loop5 ro\n", "/mnt/x", false,
    { NULL }, true },
  { "unidentified, subvolume",
    "60 1 0:24 /@ / rw - btrfs /dev/sdb1 rw\n",
    "27 1 0:24 / /a rw - btrfs /dev/sdb1 rw\n28 1 0:24 / /b rw - btrfs /dev/sdc1 rw\n29 1 0:24 / /c rw - tmpfs tmpfs rw\n",
    "/x", false, { "/a/@/x" }, true },
  { "unidentified, disk after a start of the machine", HOST, HOST, "/usr/bin/x", true, { NULL }, true },
  { "unidentified, below a mount that hid it",
    "27 1 8:1 / / rw - ext4 /dev/sda1 rw\n40 27 8:9 / /data rw - ext4 /dev/sdz9 rw\n", HOST, "/data/x", false, { NULL }, true },
  { "unidentified, under another mount of the same directory",
    HOST "40 27 8:1 /below /mnt rw - ext4 /dev/sda1 rw\n41 40 8:1 /above /mnt rw - ext4 /dev/sda1 rw\n", HOST, "/mnt/x", false,
    { "/above/x" }, true },
  { "unidentified, volume that hid what the overlay has there",
    "726 602 0:52 / / rw,relatime - overlay overlay rw,lowerdir=/l,upperdir=/u,workdir=/w\n"
    "727 726 8:2 /u/volume /data rw - ext4 /dev/sda2 rw\n",
    HOST, "/data/x", false, { "/home/u/volume/x" }, true },
};
/* clang-format on */

static void
check (const PathFacts *facts, const char *path, const char *const *expected)
{
  g_autoptr (GPtrArray) paths = sysprof_translate_path (facts, path);
  guint n = 0;

  for (; expected[n] != NULL; n++)
    g_assert_cmpstr (n < paths->len ? g_ptr_array_index (paths, n) : "(none)", ==, expected[n]);
  g_assert_cmpuint (paths->len, ==, n);
}

static void
test_translates (void)
{
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const Case *row = &cases[i];
      g_autoptr (MountTable) process =
          sysprof_mount_table_new (sysprof_text_from_string (row->process));
      g_autoptr (MountTable) own =
          sysprof_mount_table_new (sysprof_text_from_string (row->own));
      PathFacts facts = { .process = process,
                          .own = own,
                          .has_same_devices = !row->is_other_boot,
                          .is_elsewhere = row->is_other_boot,
                          .is_identified = !row->is_unidentified };

      g_test_message ("%s", row->name);
      check (&facts, row->path, row->expected);
    }
}

/* Of a container with unknown or empty mounts. */
static void
test_takes_layers_that_were_told (void)
{
  OverlayLayer rows[] = {
    { (char *) STORAGE "c/diff", (char *) "/", 0 },
    { (char *) STORAGE "b/diff", (char *) "/", 1 },
    { (char *) "/data", (char *) "/mnt", 0 },
  };
  g_autoptr (GArray) layers = g_array_new (FALSE, FALSE, sizeof (OverlayLayer));
  g_autoptr (MountTable) table = sysprof_mount_table_new (
      sysprof_text_from_string ("1 0 0:52 / / rw - fuse.fuse-overlayfs fuse-overlayfs rw\n"
                                "2 1 0:53 / /mnt rw - fuse.fuse-overlayfs fuse-overlayfs rw\n"
                                "3 1 8:9 / /volume rw - ext4 /dev/sdz9 rw\n"));
  PathFacts facts = { .layers = layers, .has_same_devices = true };

  g_array_append_vals (layers, rows, G_N_ELEMENTS (rows));
  check (&facts, "/usr/bin/x",
         (const char *const[]){ STORAGE "c/diff/usr/bin/x", STORAGE "b/diff/usr/bin/x", NULL });
  check (
      &facts, "/mnt/x",
      (const char *const[]){ STORAGE "c/diff/mnt/x", STORAGE "b/diff/mnt/x", "/data/x", NULL });

  /* Only the mount table shows which mount hides which. */
  facts.process = table;
  check (&facts, "/usr/bin/x",
         (const char *const[]){ STORAGE "c/diff/usr/bin/x", STORAGE "b/diff/usr/bin/x", NULL });
  check (&facts, "/mnt/x", (const char *const[]){ "/data/x", NULL });
  check (&facts, "/volume/x", (const char *const[]){ NULL });

  facts.has_same_devices = false;
  facts.is_elsewhere = true;
  check (&facts, "/usr/bin/x", (const char *const[]){ NULL });
}

static void
test_takes_deployments_of_flatpak (void)
{
  PathFacts facts = {
    .flatpak_info = sysprof_text_from_string (
        "[Application]\nname=org.example.App\nruntime=runtime/org.gnome.Platform/x86_64/44\n\n"
        "[Instance]\ninstance-id=1\napp-path=" FLATPAK "app/a/files\n"
        "runtime-path=" FLATPAK "runtime/r/files\n"),
    .is_identified = true,
  };

  check (&facts, "/app/bin/x", (const char *const[]){ FLATPAK "app/a/files/bin/x", NULL });
  check (&facts, "/newroot/usr/lib/x.so",
         (const char *const[]){ FLATPAK "runtime/r/files/lib/x.so", NULL });
  check (&facts, "/apple/x", (const char *const[]){ NULL });
}

/* We are in a container: the host's directories are elsewhere, homes are where they are. */
static void
test_prefixes_what_is_the_hosts (void)
{
  OverlayLayer rows[] = { { (char *) "/var/c/diff", (char *) "/", 0 },
                          { (char *) "/home/u/b/diff", (char *) "/", 1 } };
  g_autoptr (GArray) layers = g_array_new (FALSE, FALSE, sizeof (OverlayLayer));
  PathFacts facts = { .layers = layers, .is_identified = true, .host_prefix = "/var/run/host" };

  g_array_append_vals (layers, rows, G_N_ELEMENTS (rows));
  check (&facts, "/x",
         (const char *const[]){ "/var/run/host/var/c/diff/x", "/var/c/diff/x",
                                "/home/u/b/diff/x", NULL });
}

static void
test_has_a_limit (void)
{
  g_autoptr (GString) mounts = g_string_new ("");
  g_autoptr (MountTable) table = NULL;
  g_autoptr (GPtrArray) paths = NULL;

  for (int i = 0; i < 300; i++)
    g_string_append_printf (mounts, "1 2 8:1 /%d / rw - ext4 /dev/sda1 rw\n", i);
  g_string_append (mounts, "1 2 8:1 / / rw - ext4 /dev/sda1 rw\n");
  table = sysprof_mount_table_new (sysprof_text_from_string (mounts->str));
  paths = sysprof_translate_path (
      &(PathFacts){
          .process = table, .own = table, .has_same_devices = true, .is_identified = true },
      "/x");
  g_assert_cmpuint (paths->len, ==, TRANSLATION_MOST_PATHS);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/locate/path-translation/translates", test_translates);
  g_test_add_func ("/locate/path-translation/takes-layers-that-were-told",
                   test_takes_layers_that_were_told);
  g_test_add_func ("/locate/path-translation/takes-deployments-of-flatpak",
                   test_takes_deployments_of_flatpak);
  g_test_add_func ("/locate/path-translation/prefixes-what-is-the-hosts",
                   test_prefixes_what_is_the_hosts);
  g_test_add_func ("/locate/path-translation/has-a-limit", test_has_a_limit);
  return g_test_run ();
}
