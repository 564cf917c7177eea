// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds short names for control groups in their paths.
 *
 * Sources: XDG standardization for applications (systemd.io/DESKTOP_ENVIRONMENTS);
 * systemd-escape(1); the names that Docker, Podman, CRI-O, containerd and the kubelet give
 * their groups. */

#include "views/tasks/cgroup-name.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

#define SHORT_ID_SIZE 12 /* as docker ps and podman ps print it */
#define LONG_ID_SIZE  64

typedef enum
{
  NAME_CONTAINER, /* PREFIX, 64 hexadecimal digits, SUFFIX */
  NAME_POD,       /* PREFIX, UID, SUFFIX */
  NAME_APP,       /* app-LAUNCHER-ID-RANDOM.scope, app-LAUNCHER-ID@RANDOM.service */
  NAME_UNIT,      /* the component itself */
} NameKind;

/* The first row that matches a component is used. */
static const struct
{
  const char *prefix;
  const char *suffix;
  NameKind kind;
} rules[] = {
  { "docker-", ".scope", NAME_CONTAINER },
  { "libpod-", ".scope", NAME_CONTAINER },
  { "crio-", ".scope", NAME_CONTAINER },
  { "cri-containerd-", ".scope", NAME_CONTAINER },
  { "libpod-", "", NAME_CONTAINER },
  { "crio-", "", NAME_CONTAINER },
  { "", "", NAME_CONTAINER },
  { "kubepods-pod", ".slice", NAME_POD },
  { "kubepods-burstable-pod", ".slice", NAME_POD },
  { "kubepods-besteffort-pod", ".slice", NAME_POD },
  { "pod", "", NAME_POD },
  { "app-", ".scope", NAME_APP },
  { "app-", ".service", NAME_APP },
  { "", ".service", NAME_UNIT },
  { "", ".scope", NAME_UNIT },
  { "", ".slice", NAME_UNIT },
};

/* Replaces the escapes of systemd, such as "\x2d" for "-". */
static char *
unescape (const char *text, size_t size)
{
  GString *out = g_string_sized_new (size);

  for (size_t i = 0; i < size; i++)
    if (i + 3 < size && text[i] == '\\' && text[i + 1] == 'x' &&
        g_ascii_isxdigit (text[i + 2]) && g_ascii_isxdigit (text[i + 3]))
      {
        g_string_append_c (out, (char) (g_ascii_xdigit_value (text[i + 2]) * 16 +
                                        g_ascii_xdigit_value (text[i + 3])));
        i += 3;
      }
    else
      g_string_append_c (out, text[i]);
  return g_string_free (out, FALSE);
}

static char *
dup_container (const char *id, size_t size)
{
  if (size != LONG_ID_SIZE)
    return NULL;
  for (size_t i = 0; i < size; i++)
    if (!g_ascii_isxdigit (id[i]))
      return NULL;
  return g_strdup_printf ("container %.*s", SHORT_ID_SIZE, id);
}

/* Groups of systemd have underscores in the UID. */
static char *
dup_pod (const char *uid, size_t size)
{
  g_autofree char *text = g_strndup (uid, size);

  if (size == 0 || strspn (text, "0123456789abcdef-_") != size)
    return NULL;
  return g_strconcat ("pod ", g_strdelimit (text, "_", '-'), NULL);
}

/* The launcher, such as "flatpak", contains no "-". An escaped ID does not either. */
static char *
dup_app (const char *text, size_t size, bool is_scope)
{
  const char *end = text + size;
  const char *random =
      is_scope ? g_strrstr_len (text, (gssize) size, "-") : memchr (text, '@', size);
  const char *id;

  if (random != NULL)
    end = random;
  id = g_strrstr_len (text, end - text, "-");
  id = id != NULL ? id + 1 : text;
  return end > id ? unescape (id, (size_t) (end - id)) : NULL;
}

static char *
apply (size_t i, const char *component)
{
  size_t prefix = strlen (rules[i].prefix), suffix = strlen (rules[i].suffix);
  size_t size = strlen (component);
  const char *middle = component + prefix;

  if (size <= prefix + suffix || !g_str_has_prefix (component, rules[i].prefix) ||
      !g_str_has_suffix (component, rules[i].suffix))
    return NULL;

  size -= prefix + suffix;
  switch (rules[i].kind)
    {
    case NAME_CONTAINER:
      return dup_container (middle, size);
    case NAME_POD:
      return dup_pod (middle, size);
    case NAME_APP:
      return dup_app (middle, size, g_str_equal (rules[i].suffix, ".scope"));
    case NAME_UNIT:
    default:
      return unescape (component, strlen (component));
    }
}

/* A container has priority over the units that run in it; otherwise the innermost component
 * is used. */
char *
sysprof_dup_cgroup_name (const char *path)
{
  g_auto (GStrv) component = g_strsplit (path, "/", -1);
  g_autofree char *name = NULL;
  g_autofree char *pod = NULL;

  for (size_t at = 0; component[at] != NULL; at++)
    for (size_t i = 0; i < G_N_ELEMENTS (rules); i++)
      {
        char *found = apply (i, component[at]);

        if (found == NULL)
          continue;
        if (rules[i].kind == NAME_CONTAINER)
          {
            char *both =
                pod != NULL ? g_strdup_printf ("%s, %s", pod, found) : g_strdup (found);

            g_free (found);
            return both;
          }
        if (rules[i].kind == NAME_POD)
          {
            g_free (pod);
            pod = g_strdup (found);
          }
        g_free (name);
        name = found;
        break;
      }
  return name != NULL ? g_steal_pointer (&name) : g_strdup ("");
}
