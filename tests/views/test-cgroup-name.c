// SPDX-License-Identifier: GPL-3.0-or-later

/* Names of applications, containers, pods and units from paths of control groups. */

#include "views/tasks/cgroup-name.h"

#include <glib.h>

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* Paths as systemd-cgls, podman and kubelets show them. */
static void
test_names (void)
{
  static const struct
  {
    const char *path;
    const char *name;
  } cases[] = {
    { "", "" },
    { "/", "" },
    { "/a/b", "" },
    { "/system.slice/sshd.service", "sshd.service" },
    { "/system.slice/system-getty.slice/getty@tty1.service", "getty@tty1.service" },
    { "/user.slice/user-1000.slice/session-3.scope", "session-3.scope" },
    { "/user.slice/user-1000.slice/user@1000.service/init.scope", "init.scope" },
    { "/user.slice/user-1000.slice/user@1000.service/app.slice/"
      "app-flatpak-org.gnome.Foo-1234.scope",
      "org.gnome.Foo" },
    { "/user.slice/user-1000.slice/user@1000.service/app.slice/"
      "app-gnome-org.gnome.Text\\x2dEditor-5.scope",
      "org.gnome.Text-Editor" },
    { "/user.slice/user-1000.slice/user@1000.service/app.slice/app-org.kde.kate@77.service",
      "org.kde.kate" },
    { "/user.slice/user-1000.slice/user@1000.service/app.slice/app-foo.service", "foo" },
    { "/system.slice/docker-" ID ".scope", "container 0123456789ab" },
    { "/system.slice/docker-" ID ".scope/init.scope", "container 0123456789ab" },
    { "/docker/" ID, "container 0123456789ab" },
    { "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope/container",
      "container 0123456789ab" },
    { "/libpod_parent/libpod-" ID, "container 0123456789ab" },
    { "/system.slice/libpod-conmon-" ID ".scope", "libpod-conmon-" ID ".scope" },
    { "/kubepods.slice/kubepods-burstable.slice/"
      "kubepods-burstable-pod1a2b_3c4d.slice/cri-containerd-" ID ".scope",
      "pod 1a2b-3c4d, container 0123456789ab" },
    { "/kubepods/besteffort/pod1a2b-3c4d/" ID, "pod 1a2b-3c4d, container 0123456789ab" },
    { "/kubepods.slice/kubepods-pod1a2b_3c4d.slice", "pod 1a2b-3c4d" },
    { "/kubepods.slice/kubepods-burstable.slice", "kubepods-burstable.slice" },
    { "/podman", "" },
    { "/.scope/.service", "" },
    { "/app-.scope", "app-.scope" },
    { "/app--.scope/app-\\x.service", "\\x" },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *name = sysprof_dup_cgroup_name (cases[i].path);

      g_assert_cmpstr (name, ==, cases[i].name);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/views/cgroup-name/names", test_names);
  return g_test_run ();
}
