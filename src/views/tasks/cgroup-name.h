// SPDX-License-Identifier: GPL-3.0-or-later

/* Short names of control groups for people: the application, container or unit that a path of systemd, Podman, Docker or
 * Kubernetes stands for. */

#pragma once

/* From the path alone: "org.gnome.Foo", "container 0123456789ab", "sshd.service"; "" where the path says nothing of that
 * kind. Free with g_free(). */
char *sysprof_dup_cgroup_name (const char *path);
