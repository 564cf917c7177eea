// SPDX-License-Identifier: GPL-3.0-or-later

/* The flame graph as one page: the page of src/web with the tree in it. Members: see web/flamegraph.js. */

#include "util/hidden-text.h"
#include "views/flame-draw.h"
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

/* The page shows its data as it is. */
static void
write_visible (Out *out, const char *text)
{
  g_autofree char *visible = sysprof_dup_visible (text);

  sysprof_out_json (out, visible);
}

/* Numbers functions by (name, binary, kind); function_of[node], and node_of[function]: the first that shows it. */
static uint32_t *
write_functions (const Flame *flame, Out *out, GArray *node_of)
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
        sysprof_out_text (out, ",\n");
      write_visible (out, name[0] ? name : "[unknown]");
      sysprof_out_text (out, ",");
      write_visible (out, binary);
      sysprof_out_printf (out, ",%zu", kind);
      g_hash_table_insert (seen, g_steal_pointer (&key), GUINT_TO_POINTER (n));
      g_array_append_val (node_of, i);
      function_of[i] = n++;
    }
  return function_of;
}

/* Only of functions of which it is known: mostly none or few. */
static void
write_files (const Flame *flame, Out *out, const GArray *node_of)
{
  const char *separator = "";

  for (uint32_t i = 0; i < node_of->len && sysprof_is_wanted_at (i); i++)
    {
      g_autofree char *place =
          sysprof_flame_dup_whole_place (flame, g_array_index (node_of, uint32_t, i));

      if (place == NULL)
        continue;
      sysprof_out_printf (out, "%s\"%u\":", separator, i);
      write_visible (out, place);
      separator = ",\n";
    }
}

static void
write_nodes (const Flame *flame, Out *out, const uint32_t *function_of)
{
  const RowTree *tree = &flame->tree;
  double least = flame->request->min_percent / 100 * (double) flame->total;
  const char *separator = "";

  for (uint32_t at = sysprof_row_tree_next (tree, 0); at && sysprof_out_goes_on (out);
       at = sysprof_row_tree_next (tree, at))
    {
      uint64_t weight = sysprof_flame_weight (flame, at);

      if (weight == 0 || (double) weight < least)
        continue;
      sysprof_out_printf (out, "%s%u,%u,%" G_GUINT64_FORMAT, separator, function_of[at],
                          tree->depth[at] - 1, weight);
      separator = ",";
    }
}

bool
sysprof_flame_draw_html (const Flame *flame, GOutputStream *stream, GError **error)
{
  const ViewRequest *request = flame->request;
  g_autoptr (GArray) node_of = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  g_autofree uint32_t *function_of = NULL;
  Out out;

  sysprof_out_init (&out, stream);
  sysprof_out_text (&out, sysprof_web_flamegraph_before_title);
  sysprof_out_xml (&out, flame->title);
  sysprof_out_text (&out, sysprof_web_flamegraph_before_data);
  sysprof_out_text (&out, "{\"title\":");
  write_visible (&out, flame->title);
  sysprof_out_text (&out, ",\"subtitle\":");
  write_visible (&out, flame->subtitle);
  sysprof_out_text (&out, ",\"weight\":");
  sysprof_out_json (&out, flame->rows->weight_name);
  sysprof_out_printf (
      &out, ",\"icicle\":%s,\"heavy\":%s,\"colors\":", request->icicle ? "true" : "false",
      request->left_heavy ? "true" : "false");
  sysprof_out_json (&out, request->colors ? request->colors : "kind");
  sysprof_out_text (&out, ",\"kinds\":[");
  for (size_t i = 0; i < G_N_ELEMENTS (kinds); i++)
    sysprof_out_printf (&out, "%s\"%s\"", i ? "," : "", kinds[i]);
  sysprof_out_text (&out, "],\n\"functions\":[");
  function_of = write_functions (flame, &out, node_of);
  sysprof_out_text (&out, "],\n\"files\":{");
  write_files (flame, &out, node_of);
  sysprof_out_text (&out, "},\n\"nodes\":[");
  write_nodes (flame, &out, function_of);
  sysprof_out_text (&out, "]}");
  sysprof_out_text (&out, sysprof_web_flamegraph_after_data);
  return sysprof_out_finish (&out, error);
}
