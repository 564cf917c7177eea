// SPDX-License-Identifier: GPL-3.0-or-later

/* Folded stacks: `comm;function;function COUNT`, root first, one line per distinct stack,
 * sorted by bytes.
 *
 * Characters that readers misunderstand are replaced: ';' separates names, control characters
 * end lines, and '#' starts a comment. Readers take a word at the end of a line that starts
 * with a digit for a number, and `-PID` or `-PID/TID` at the end of a command for process and
 * thread IDs.
 *
 * Readers compare and show the whole text of a function. So it is the bare name unless the
 * user asks for more. Kinds are annotated in the form that flamegraph.pl reads and removes. */

#include "render/renderers.h"
#include "util/hidden-text.h"

#include <string.h>

static void
append_name (GString *line, const char *name, bool is_comm)
{
  g_autofree char *valid = sysprof_dup_visible (name);
  size_t begin = line->len;

  for (const char *at = valid; *at; at++)
    {
      char c = *at;

      /* U+0080 to U+009f are control characters. */
      if ((unsigned char) c == 0xc2 && (unsigned char) at[1] < 0xa0)
        {
          c = ' ';
          at++;
        }
      if (c == ';')
        c = ':';
      else if ((unsigned char) c < 0x20 || c == 0x7f)
        c = ' ';
      if (is_comm && c == ' ')
        c = '_';
      g_string_append_c (line, c);
    }
  if (line->len == begin)
    g_string_append (line, "[unknown]");
}

/* Protects a leaf name that ends in a blank and a number, which would be read as the count,
 * or in blanks. */
static void
protect_leaf (GString *line)
{
  char *blank = strrchr (line->str, ' ');

  if (blank != NULL && (blank[1] == '\0' || blank[1] == '.' || g_ascii_isdigit (blank[1])) &&
      blank[1 + strspn (blank + 1, "0123456789.eE+-")] == '\0')
    *blank = '_';
}

/* Index of the first of the digits before `at`; `at` if there are none. */
static size_t
skip_digits_back (const GString *line, size_t at)
{
  while (at > 0 && g_ascii_isdigit (line->str[at - 1]))
    at--;
  return at;
}

/* Protects a command at the start of `line`. */
static void
protect_command (GString *line)
{
  size_t at = skip_digits_back (line, line->len);

  if (line->str[0] == '#')
    line->str[0] = '_';
  if (at > 0 && at < line->len && line->str[at - 1] == '/')
    at = skip_digits_back (line, at - 1);
  if (at > 1 && at < line->len && g_ascii_isdigit (line->str[at]) && line->str[at - 1] == '-')
    line->str[at - 1] = '_';
}

static const char *const annotations[] = {
  [SYMBOL_KERNEL] = "_[k]",
  [SYMBOL_INLINE] = "_[i]",
  [SYMBOL_JIT] = "_[j]",
};

/* Appends the name of a node and the properties that the user asked for. */
static void
append_node (GString *line, const CallTree *tree, const ViewRequest *request, CallNodeId node)
{
  const SymbolTable *symbols = request->symbols;
  SymbolKind kind = (SymbolKind) tree->kind[node];
  SymbolId symbol = tree->symbol[node];
  const Symbol *row = &symbols->row[symbol];
  bool is_binary =
      symbol && request->shape && sysprof_shape_collapses (request->shape, symbols, symbol);
  g_autofree char *label =
      is_binary ? g_strdup_printf ("[%s]", sysprof_symbol_binary (symbols, symbol))
                : sysprof_call_tree_dup_label (tree, request->store, request->symbols, node);

  append_name (line, label, kind == SYMBOL_PROCESS);
  if (kind == SYMBOL_PROCESS)
    protect_command (line);
  if (symbol == 0 || is_binary)
    return;
  if (request->with_lines)
    {
      g_autofree char *place = sysprof_dup_source_location (
          sysprof_intern_get (&symbols->strings, row->file), row->line, false);
      g_autofree char *bracketed = place != NULL ? g_strdup_printf (" (%s)", place) : NULL;

      if (place != NULL)
        append_name (line, bracketed, false);
    }
  if (request->annotates && (size_t) kind < G_N_ELEMENTS (annotations) &&
      annotations[kind] != NULL)
    g_string_append (line, annotations[kind]);
}

typedef struct
{
  const char *stack; /* borrowed */
  uint64_t weight;
} FoldedLine;

static int
compare_lines (gconstpointer left, gconstpointer right, gpointer data)
{
  return strcmp (((const FoldedLine *) left)->stack, ((const FoldedLine *) right)->stack);
}

/* Traverses the tree. `path` has the path to the current node; `begin` has the offset of
 * each node's name. Allocates lines in `texts`. */
static GArray *
collect_lines (const CallTree *tree, const ViewRequest *request, Arena *texts)
{
  GArray *lines = g_array_new (FALSE, FALSE, sizeof (FoldedLine));
  g_autoptr (GString) path = g_string_new (NULL);
  g_autofree size_t *begin = g_new0 (size_t, MAX (tree->n, 1));
  CallNodeId node = tree->n > 0 ? tree->first_child[0] : 0;
  uint64_t n_seen = 0;

  while (node && sysprof_is_wanted_at (n_seen++))
    {
      SymbolKind kind = (SymbolKind) tree->kind[node];

      begin[node] = path->len;
      if (kind != SYMBOL_MARKER)
        {
          if (path->len > 0)
            g_string_append_c (path, ';');
          append_node (path, tree, request, node);
        }
      if (tree->self[node] > 0)
        {
          g_autoptr (GString) stack = g_string_new_len (path->str, (gssize) path->len);
          FoldedLine line = { .weight = tree->self[node] };

          protect_leaf (stack);
          line.stack = sysprof_arena_strndup (texts, stack->str, stack->len);
          g_array_append_val (lines, line);
        }
      if (tree->first_child[node])
        {
          node = tree->first_child[node];
          continue;
        }
      while (node)
        {
          g_string_truncate (path, begin[node]);
          if (tree->next_sibling[node])
            break;
          node = tree->parent[node];
        }
      if (node)
        node = tree->next_sibling[node];
    }
  (void) sysprof_sort_if_wanted (lines->data, lines->len, sizeof (FoldedLine), compare_lines,
                                 NULL);
  return lines;
}

static bool
render_folded (const View *view,
               const ViewRequest *request,
               const Rows *rows,
               GOutputStream *stream,
               GError **error)
{
  StackWeights weights = { 0 };
  Shape shape = request->shape ? *request->shape : (Shape){ 0 };
  g_autoptr (CallTree) tree = NULL;
  g_autoptr (GArray) lines = NULL;
  Arena texts = { 0 };
  TextWriter writer;

  if (shape.focus && !sysprof_request_needs_focus (request, view->name, error))
    return false;
  shape.bottom_up = false; /* the format has root-first stacks only */
  shape.merge_processes = true;
  shape.no_processes = false;
  sysprof_stack_weights_fold (&weights, request->store, request->symbols, request->filter,
                              shape.threads);
  tree = sysprof_call_tree_new (request->store, request->symbols, &weights, &shape);
  lines = collect_lines (tree, request, &texts);
  sysprof_stack_weights_clear (&weights);

  sysprof_text_writer_init (&writer, stream);
  for (uint32_t i = 0; i < lines->len && sysprof_text_writer_is_open (&writer);)
    {
      const FoldedLine *line = &g_array_index (lines, FoldedLine, i);
      uint64_t weight = 0;

      for (; i < lines->len &&
             compare_lines (line, &g_array_index (lines, FoldedLine, i), NULL) == 0;
           i++)
        weight += g_array_index (lines, FoldedLine, i).weight;
      sysprof_text_writer_printf (&writer, "%s %" G_GUINT64_FORMAT "\n", line->stack, weight);
    }
  sysprof_arena_clear (&texts);
  return sysprof_text_writer_finish (&writer, error);
}

const RenderFormatRow sysprof_folded_format = {
  .name = "folded",
  .suffix = ".folded",
  .render = render_folded,
  .ignores_rows = true,
};
