// SPDX-License-Identifier: GPL-3.0-or-later

/* A capture read the obvious way: frame by frame, each sample followed through a tree of hash tables.
 *
 *   naive-reader functions|tree CAPTURE
 *
 * It is spared names: what it prints are addresses. */

#include <sysprof-capture.h>

#include <glib.h>
#include <stdio.h>
#include <string.h>

typedef struct
{
  uint64_t address;
  uint64_t self;
  uint64_t total;
  GHashTable *children; /* address → Node */
} Node;

typedef struct
{
  uint64_t address;
  uint64_t self;
  uint64_t total;
} Function;

static Node root;
static GHashTable *functions; /* address → Function */

static Node *
child_of (Node *node, uint64_t address)
{
  Node *child;

  if (node->children == NULL)
    node->children = g_hash_table_new (g_int64_hash, g_int64_equal);
  child = g_hash_table_lookup (node->children, &address);
  if (child == NULL)
    {
      child = g_new0 (Node, 1);
      child->address = address;
      g_hash_table_insert (node->children, &child->address, child);
    }
  return child;
}

static Function *
function_at (uint64_t address)
{
  Function *function = g_hash_table_lookup (functions, &address);

  if (function == NULL)
    {
      function = g_new0 (Function, 1);
      function->address = address;
      g_hash_table_insert (functions, &function->address, function);
    }
  return function;
}

static void
add_to_tree (const SysprofCaptureSample *sample)
{
  Node *node = child_of (&root, (uint64_t) (uint32_t) sample->frame.pid);

  root.total++;
  node->total++;
  for (unsigned i = sample->n_addrs; i-- > 0;)
    {
      node = child_of (node, sample->addrs[i]);
      node->total++;
    }
  node->self++;
}

static void
add_to_functions (const SysprofCaptureSample *sample)
{
  for (unsigned i = 0; i < sample->n_addrs; i++)
    {
      Function *function = function_at (sample->addrs[i]);
      gboolean is_again = FALSE;

      function->self += i == 0;
      for (unsigned before = 0; before < i && !is_again; before++)
        is_again = sample->addrs[before] == sample->addrs[i];
      function->total += !is_again;
    }
}

static int
compare_nodes (gconstpointer a, gconstpointer b)
{
  const Node *left = *(Node *const *) a, *right = *(Node *const *) b;

  return left->total < right->total ? 1 : left->total > right->total ? -1 : 0;
}

static int
compare_functions (gconstpointer a, gconstpointer b)
{
  const Function *left = *(Function *const *) a, *right = *(Function *const *) b;

  return left->self < right->self ? 1 : left->self > right->self ? -1 : 0;
}

static void
print_node (const Node *node, int level)
{
  g_autoptr (GPtrArray) children = g_ptr_array_new ();
  GHashTableIter iter;
  gpointer child;

  printf ("%6.2f %% %10" G_GUINT64_FORMAT " %10" G_GUINT64_FORMAT "  %*s0x%" G_GINT64_MODIFIER
          "x\n",
          100.0 * (double) node->total / (double) root.total, node->self, node->total,
          2 * level, "", node->address);
  if (node->children == NULL)
    return;

  g_hash_table_iter_init (&iter, node->children);
  while (g_hash_table_iter_next (&iter, NULL, &child))
    g_ptr_array_add (children, child);
  g_ptr_array_sort (children, compare_nodes);
  for (guint i = 0; i < children->len; i++)
    print_node (children->pdata[i], level + 1);
}

static void
print_functions (void)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new ();
  GHashTableIter iter;
  gpointer row;

  g_hash_table_iter_init (&iter, functions);
  while (g_hash_table_iter_next (&iter, NULL, &row))
    g_ptr_array_add (rows, row);
  g_ptr_array_sort (rows, compare_functions);
  for (guint i = 0; i < rows->len; i++)
    {
      const Function *function = rows->pdata[i];

      printf ("%10" G_GUINT64_FORMAT " %10" G_GUINT64_FORMAT "  0x%" G_GINT64_MODIFIER "x\n",
              function->self, function->total, function->address);
    }
}

int
main (int argc, char **argv)
{
  SysprofCaptureReader *reader;
  SysprofCaptureFrameType type;
  gboolean is_tree = argc == 3 && strcmp (argv[1], "tree") == 0;

  if (argc != 3 || (!is_tree && strcmp (argv[1], "functions") != 0))
    {
      fprintf (stderr, "usage: %s functions|tree CAPTURE\n", argv[0]);
      return 2;
    }
  reader = sysprof_capture_reader_new (argv[2]);
  if (reader == NULL)
    {
      perror (argv[2]);
      return 1;
    }

  functions = g_hash_table_new (g_int64_hash, g_int64_equal);
  while (sysprof_capture_reader_peek_type (reader, &type))
    {
      const SysprofCaptureSample *sample;

      if (type != SYSPROF_CAPTURE_FRAME_SAMPLE)
        {
          if (!sysprof_capture_reader_skip (reader))
            break;
          continue;
        }
      sample = sysprof_capture_reader_read_sample (reader);
      if (sample == NULL)
        break;
      if (is_tree)
        add_to_tree (sample);
      else
        add_to_functions (sample);
    }

  if (is_tree)
    print_node (&root, 0);
  else
    print_functions ();
  sysprof_capture_reader_unref (reader);
  return 0;
}
