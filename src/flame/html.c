// SPDX-License-Identifier: GPL-3.0-or-later

/* The flame graph as an interactive page: the page of src/web with the tree as data.
 * web/flamegraph.js describes the members. */

#include "flame/layout.h"
#include "util/hidden-text.h"
#include "web/web.h"

#include <string.h>

static const char *const kinds[] = { "user",    "kernel", "inline", "jit",
                                     "process", "thread", "root",   "marker" };

static size_t
index_of_kind (const char *kind)
{
  for (size_t i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (strcmp (kind, kinds[i]) == 0)
      return i;
  return 0;
}

/* The page shows its data unchanged, so make invisible characters visible here. */
static void
write_visible (TextWriter *writer, const char *text)
{
  g_autofree char *visible = sysprof_dup_visible (text);

  sysprof_text_writer_json (writer, visible);
}

/* Numbers functions by (name, binary, kind). Returns function_of[node] and fills
 * node_of[function] with the first node that shows it. */
static uint32_t *
write_functions (const Flame *flame, TextWriter *writer, GArray *node_of)
{
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  uint32_t *function_of = g_new0 (uint32_t, flame->tree.n);
  uint32_t n = 0;

  for (uint32_t i = 1; i < flame->tree.n && sysprof_is_wanted_at (i); i++)
    {
      const char *name = sysprof_flame_text (flame, i, flame->symbol);
      const char *binary = sysprof_flame_text (flame, i, flame->binary);
      size_t kind = index_of_kind (sysprof_flame_text (flame, i, flame->kind));
      g_autofree char *key = g_strdup_printf ("%zu\n%s\n%s", kind, binary, name);
      gpointer found;

      if (g_hash_table_lookup_extended (seen, key, NULL, &found))
        {
          function_of[i] = GPOINTER_TO_UINT (found);
          continue;
        }
      if (n > 0)
        sysprof_text_writer_puts (writer, ",\n");
      write_visible (writer, name[0] ? name : "[unknown]");
      sysprof_text_writer_puts (writer, ",");
      write_visible (writer, binary);
      sysprof_text_writer_printf (writer, ",%zu", kind);
      g_hash_table_insert (seen, g_steal_pointer (&key), GUINT_TO_POINTER (n));
      g_array_append_val (node_of, i);
      function_of[i] = n++;
    }
  return function_of;
}

/* Writes only known source locations: usually few or none. */
static void
write_files (const Flame *flame, TextWriter *writer, const GArray *node_of)
{
  const char *separator = "";

  for (uint32_t i = 0; i < node_of->len && sysprof_is_wanted_at (i); i++)
    {
      g_autofree char *location =
          sysprof_flame_dup_whole_location (flame, g_array_index (node_of, uint32_t, i));

      if (location == NULL)
        continue;
      sysprof_text_writer_printf (writer, "%s\"%u\":", separator, i);
      write_visible (writer, location);
      separator = ",\n";
    }
}

static bool
is_drawn (const Flame *flame, uint32_t node)
{
  uint64_t weight = sysprof_flame_weight (flame, node);

  return weight > 0 &&
         (double) weight >= flame->request->min_percent / 100 * (double) flame->total;
}

static void
write_nodes (const Flame *flame, TextWriter *writer, const uint32_t *function_of)
{
  const RowTree *tree = &flame->tree;
  const char *separator = "";

  for (uint32_t at = sysprof_row_tree_next (tree, 0);
       at && sysprof_text_writer_is_open (writer); at = sysprof_row_tree_next (tree, at))
    {
      if (!is_drawn (flame, at))
        continue;
      sysprof_text_writer_printf (writer, "%s%u,%u,%" G_GUINT64_FORMAT, separator,
                                  function_of[at], tree->depth[at] - 1,
                                  sysprof_flame_weight (flame, at));
      separator = ",";
    }
}

/* Numbers of the nodes off the CPU, in the order of write_nodes(). */
static void
write_off_cpu (const Flame *flame, TextWriter *writer)
{
  const char *separator = "";
  uint32_t n = 0;

  for (uint32_t at = sysprof_row_tree_next (&flame->tree, 0);
       at && sysprof_text_writer_is_open (writer);
       at = sysprof_row_tree_next (&flame->tree, at))
    {
      if (!is_drawn (flame, at))
        continue;
      if (sysprof_flame_is_off_cpu (flame, at))
        {
          sysprof_text_writer_printf (writer, "%s%u", separator, n);
          separator = ",";
        }
      n++;
    }
}

bool
sysprof_flame_draw_html (const Flame *flame, GOutputStream *stream, GError **error)
{
  const ViewRequest *request = flame->request;
  g_autoptr (GArray) node_of = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  g_autofree uint32_t *function_of = NULL;
  TextWriter writer;

  sysprof_text_writer_init (&writer, stream);
  sysprof_text_writer_puts (&writer, sysprof_web_flamegraph_before_title);
  sysprof_text_writer_xml (&writer, flame->title);
  sysprof_text_writer_puts (&writer, sysprof_web_flamegraph_before_data);
  sysprof_text_writer_puts (&writer, "{\"title\":");
  write_visible (&writer, flame->title);
  sysprof_text_writer_puts (&writer, ",\"subtitle\":");
  write_visible (&writer, flame->subtitle);
  sysprof_text_writer_puts (&writer, ",\"weight\":");
  sysprof_text_writer_json (&writer, flame->rows->weight_name);
  sysprof_text_writer_puts (&writer, ",\"unit\":");
  sysprof_text_writer_json (&writer, flame->rows->weight_unit);
  sysprof_text_writer_printf (
      &writer, ",\"icicle\":%s,\"heavy\":%s,\"colors\":", request->icicle ? "true" : "false",
      request->left_heavy ? "true" : "false");
  sysprof_text_writer_json (&writer, request->colors ? request->colors : "kind");
  sysprof_text_writer_puts (&writer, ",\"kinds\":[");
  for (size_t i = 0; i < G_N_ELEMENTS (kinds); i++)
    sysprof_text_writer_printf (&writer, "%s\"%s\"", i ? "," : "", kinds[i]);
  sysprof_text_writer_puts (&writer, "],\n\"functions\":[");
  function_of = write_functions (flame, &writer, node_of);
  sysprof_text_writer_puts (&writer, "],\n\"files\":{");
  write_files (flame, &writer, node_of);
  sysprof_text_writer_puts (&writer, "},\n\"nodes\":[");
  write_nodes (flame, &writer, function_of);
  sysprof_text_writer_puts (&writer, "],\n\"waits\":[");
  write_off_cpu (flame, &writer);
  sysprof_text_writer_puts (&writer, "]}");
  sysprof_text_writer_puts (&writer, sysprof_web_flamegraph_after_data);
  return sysprof_text_writer_finish (&writer, error);
}
