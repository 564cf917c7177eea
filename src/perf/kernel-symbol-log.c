// SPDX-License-Identifier: GPL-3.0-or-later

/* Collects load and unload events of transient kernel code and writes them as text (see
 * kernel-symbol-log.h). */

#include "perf/kernel-symbol-log.h"

#include "util/util.h"

#include <inttypes.h>
#include <string.h>

typedef struct
{
  int64_t time;
  uint64_t address;
  uint32_t size;
  bool is_gone;
  const char *name;
} Event;

typedef struct
{
  uint64_t address;
  uint32_t size;
  int64_t begin; /* ns; 0 = before the recording */
  int64_t end;   /* ns; 0 = after the recording */
  const char *name;
} SymbolLifetime;

void
sysprof_kernel_symbol_log_clear (KernelSymbolLog *self)
{
  g_clear_pointer (&self->events, g_array_unref);
  g_clear_pointer (&self->names, g_string_chunk_free);
}

/* Names are single words, as in /proc/kallsyms. */
static const char *
keep_name (KernelSymbolLog *self, const char *name, size_t size)
{
  g_autofree char *word = g_strndup (name, size);

  for (char *at = word; *at != '\0'; at++)
    if (!g_ascii_isgraph (*at))
      *at = '?';
  return g_string_chunk_insert_const (self->names, word);
}

void
sysprof_kernel_symbol_log_add (KernelSymbolLog *self,
                               int64_t time,
                               uint64_t address,
                               uint32_t size,
                               bool is_gone,
                               const char *name,
                               size_t name_size)
{
  Event event = { .time = time, .address = address, .size = size, .is_gone = is_gone };

  name_size = strnlen (name, name_size);
  if (size == 0 || name_size == 0)
    return;
  if (self->events == NULL)
    {
      self->events = g_array_new (FALSE, FALSE, sizeof (Event));
      self->names = g_string_chunk_new (4096);
    }
  if (self->events->len >= KERNEL_SYMBOL_LOG_MOST)
    {
      self->n_missed++;
      return;
    }
  event.name = keep_name (self, name, name_size);
  g_array_append_val (self->events, event);
}

/* By address and time; an unload sorts before a load. */
static int
compare_events (const void *a, const void *b)
{
  const Event *left = a, *right = b;

  if (left->address != right->address)
    return left->address < right->address ? -1 : 1;
  if (left->time != right->time)
    return left->time < right->time ? -1 : 1;
  return (int) right->is_gone - (int) left->is_gone;
}

/* Events come from the rings of several CPUs, so they need not arrive in order. If code is
 * loaded at an address that is still in use, the unload event of the previous code was lost. */
static GArray *
list_lives (KernelSymbolLog *self)
{
  GArray *lifetimes = g_array_new (FALSE, FALSE, sizeof (SymbolLifetime));
  SymbolLifetime *open = NULL; /* the last, while it has no end */

  if (self->events == NULL)
    return lifetimes;
  g_array_sort (self->events, compare_events);
  for (guint i = 0; i < self->events->len; i++)
    {
      const Event *event = &g_array_index (self->events, Event, i);
      SymbolLifetime lifetime = { event->address, event->size, event->time, 0, event->name };

      if (open != NULL && open->address == event->address)
        {
          open->end = event->time;
          if (event->is_gone)
            {
              open = NULL;
              continue;
            }
        }
      else if (event->is_gone)
        {
          lifetime.begin = 0;
          lifetime.end = event->time;
        }
      g_array_append_val (lifetimes, lifetime);
      open = event->is_gone ? NULL
                            : &g_array_index (lifetimes, SymbolLifetime, lifetimes->len - 1);
    }
  return lifetimes;
}

GString *
sysprof_kernel_symbol_log_to_text (KernelSymbolLog *self)
{
  g_autoptr (GArray) lifetimes = list_lives (self);
  GString *text;

  if (lifetimes->len == 0)
    return NULL;
  text = g_string_new (NULL);
  for (guint i = 0; i < lifetimes->len; i++)
    {
      const SymbolLifetime *lifetime = &g_array_index (lifetimes, SymbolLifetime, i);

      g_string_append_printf (text, "%" PRIx64 " %" PRIx32 " %" PRId64 " %" PRId64 " %s\n",
                              lifetime->address, lifetime->size, lifetime->begin, lifetime->end,
                              lifetime->name);
    }
  return text;
}

/* The addresses in /proc/kallsyms that are also in `lifetimes`. */
static GHashTable *
find_listed (const GArray *lifetimes, const GByteArray *kallsyms)
{
  g_autoptr (GHashTable) wanted = g_hash_table_new (g_int64_hash, g_int64_equal);
  GHashTable *listed = g_hash_table_new (g_int64_hash, g_int64_equal);
  Text text = { (const char *) kallsyms->data, (const char *) kallsyms->data + kallsyms->len };
  Text line;

  for (guint i = 0; i < lifetimes->len; i++)
    (void) g_hash_table_add (wanted, &g_array_index (lifetimes, SymbolLifetime, i).address);
  while (kallsyms->len > 0 && sysprof_text_next_line (&text, &line))
    {
      uint64_t address;
      uint64_t *key;

      if (sysprof_text_hex (&line, &address) &&
          (key = g_hash_table_lookup (wanted, &address)) != NULL)
        (void) g_hash_table_add (listed, key);
    }
  return listed;
}

void
sysprof_kernel_symbol_log_append_gone (KernelSymbolLog *self, GByteArray *kallsyms)
{
  g_autoptr (GArray) lifetimes = list_lives (self);
  g_autoptr (GHashTable) listed = find_listed (lifetimes, kallsyms);
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < lifetimes->len; i++)
    {
      const SymbolLifetime *lifetime = &g_array_index (lifetimes, SymbolLifetime, i);

      /* Code that was unloaded between the last event and the reading of the list has no end
       * time. */
      if (lifetime->end != 0 || !g_hash_table_contains (listed, &lifetime->address))
        g_string_append_printf (text, "%016" PRIx64 " t %s\t[bpf]\n", lifetime->address,
                                lifetime->name);
    }
  g_byte_array_append (kallsyms, (const uint8_t *) text->str, (guint) text->len);
}
