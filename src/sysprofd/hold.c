// SPDX-License-Identifier: GPL-3.0-or-later

/* Loans that last longer than a call: connections that children serve, and changed settings. A
 * setting has the value of its newest hold, and gets its former value when there is none. The
 * power profile is set by children. */

#include "sysprofd/sysprofd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_HOLDS 32u /* of one user */

bool
sysprof_hold_is_permitted (const Service *service, const Client *client)
{
  unsigned n = 0;

  for (const Hold *hold = service->holds; hold != NULL; hold = hold->next)
    n += hold->uid == client->uid;
  return n < MOST_HOLDS;
}

/* The newest hold is the first. */
static const Hold *
find_hold (const Service *service, Setting setting)
{
  const Hold *hold = service->holds;

  while (hold != NULL && hold->setting != setting)
    hold = hold->next;
  return hold;
}

void
sysprof_hold_end (Service *service, Hold *hold)
{
  Setting setting = hold->setting;
  Hold **at = &service->holds;
  const Hold *other;

  while (*at != hold)
    at = &(*at)->next;
  *at = hold->next;
  if (hold->fd >= 0)
    (void) close (hold->fd);
  free (hold);
  if (setting == N_SETTINGS)
    return;

  other = find_hold (service, setting);
  if (setting == SETTING_POWER_PROFILE)
    sysprof_child_change_profile (service, other != NULL ? other->value : NULL);
  else if (other == NULL)
    sysprof_setting_release (setting);
  else
    (void) sysprof_setting_hold (setting, other->value); /* else the value stays as it is */
}

void
sysprof_holds_end_of_client (Service *service, const Client *client)
{
  Hold *next;

  for (Hold *hold = service->holds; hold != NULL; hold = next)
    {
      next = hold->next;
      if (hold->client == client)
        sysprof_hold_end (service, hold);
    }
}

static bool
add_hold (Service *service, const Client *client, Setting setting, const char *value, int fd)
{
  Hold *hold = sysprof_hold_is_permitted (service, client) ? calloc (1, sizeof *hold) : NULL;

  if (hold == NULL)
    {
      errno = ENOSPC;
      return false;
    }
  if (setting != N_SETTINGS && setting != SETTING_POWER_PROFILE &&
      !sysprof_setting_hold (setting, value))
    {
      free (hold);
      return false;
    }
  *hold = (Hold){ .setting = setting,
                  .fd = fd,
                  .client = fd < 0 ? client : NULL,
                  .uid = client->uid,
                  .next = service->holds };
  (void) snprintf (hold->value, sizeof hold->value, "%s", value);
  service->holds = hold;
  return true;
}

bool
sysprof_hold_for_client (Service *service, Client *client, Setting setting, const char *value)
{
  bool is_held = add_hold (service, client, setting, value, -1);
  Hold *next;

  /* the new hold replaces the older ones of this client */
  for (Hold *hold = is_held ? service->holds->next : NULL; hold != NULL; hold = next)
    {
      next = hold->next;
      if (hold->client == client && hold->setting == setting)
        sysprof_hold_end (service, hold);
    }
  return is_held;
}

bool
sysprof_hold_for_fd (Service *service,
                     const Client *client,
                     Setting setting,
                     const char *value,
                     int fd)
{
  int saved;

  if (add_hold (service, client, setting, value, fd))
    return true;

  saved = errno;
  (void) close (fd);
  errno = saved;
  return false;
}
