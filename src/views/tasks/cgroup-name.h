// SPDX-License-Identifier: GPL-3.0-or-later

/* Short names of control groups: the application, container or unit in a path of systemd,
 * Podman, Docker or Kubernetes. */

#pragma once

/* Returns a name found in the path: "org.gnome.Foo", "container 0123456789ab",
 * "sshd.service"; "" if the path has none. *(full)* */
char *sysprof_dup_cgroup_name (const char *path);
