// SPDX-License-Identifier: GPL-3.0-or-later

/* Matches replies to calls.
 *
 * A serial is unique only among the messages of its sender. A reply repeats the serial and is
 * addressed to that sender. On connections without a bus both names are empty. */

#include "analyze/analyze.h"

static char *
dup_key (unsigned bus, Text name, uint32_t serial)
{
  return g_strdup_printf ("%u %u %.*s", bus, serial, (int) sysprof_text_size (name), name.at);
}

uint32_t *
sysprof_dbus_find_replies (const Store *store)
{
  g_autoptr (GHashTable) open = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  uint32_t *partner = g_new0 (uint32_t, MAX (store->n_dbus, 1));

  for (uint32_t i = 0; i < store->n_dbus && sysprof_is_wanted_at (i); i++)
    {
      unsigned bus = store->dbus[i].bus;
      g_autofree char *key = NULL;
      DBusHeader header;
      uint32_t call;

      if (!sysprof_store_read_dbus_header (store, i, &header))
        continue;
      if (header.type == DBUS_CALL)
        {
          /* A serial that comes again belongs to the newest call. */
          g_hash_table_insert (open, dup_key (bus, header.sender, header.serial),
                               GUINT_TO_POINTER (i + 1));
          continue;
        }
      if (header.type != DBUS_REPLY && header.type != DBUS_ERROR)
        continue;

      key = dup_key (bus, header.destination, header.reply_serial);
      call = GPOINTER_TO_UINT (g_hash_table_lookup (open, key));
      if (call == 0)
        continue;
      partner[i] = call;
      partner[call - 1] = i + 1;
      g_hash_table_remove (open, key);
    }

  return partner;
}
