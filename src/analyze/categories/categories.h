// SPDX-License-Identifier: GPL-3.0-or-later

/* Categories: the kind of work that a function does, by rules in a text file (data/categories
 * explains the format).
 *
 * A rule gives a function a category. A rule marked `inherit` also gives it to all callees that
 * have none. Functions without a category are in the kernel, unwindable, or uncategorized. */

#pragma once

#include "analyze/fold/fold.h"

#include "util/util.h"

/* In the order of the public SysprofCallgraphCategory. */
typedef enum
{
  CATEGORY_NONE, /* for nodes that are no functions: processes, threads, the root */
  CATEGORY_UNCATEGORIZED,
  CATEGORY_PRESENTATION,
  CATEGORY_A11Y,
  CATEGORY_ACTIONS,
  CATEGORY_CONTEXT_SWITCH,
  CATEGORY_COREDUMP,
  CATEGORY_CSS,
  CATEGORY_GRAPHICS,
  CATEGORY_ICONS,
  CATEGORY_INPUT,
  CATEGORY_IO,
  CATEGORY_IPC,
  CATEGORY_JAVASCRIPT,
  CATEGORY_KERNEL,
  CATEGORY_LAYOUT,
  CATEGORY_LOCKING,
  CATEGORY_MAIN_LOOP,
  CATEGORY_MEMORY,
  CATEGORY_PAINT,
  CATEGORY_TYPE_SYSTEM,
  CATEGORY_UNWINDABLE,
  CATEGORY_WINDOWING,
} Category;
#define N_CATEGORIES (CATEGORY_WINDOWING + 1)

/* As rules and reports spell it: "main-loop"; "" for none. */
const char *sysprof_category_to_string (Category category);

/* Rules, the first that fits counts. *Owned* while they are read, then *frozen*. */
typedef struct CategoryRules CategoryRules;

CategoryRules *sysprof_category_rules_new (void);
void sysprof_category_rules_free (CategoryRules *self);
/* Adds the rules of a text behind those there are. A line that is none is left out and, unless `complaints` is NULL,
 * told there: a line of text that names `file`, the line, what is wrong and what to write (char *, to be freed). */
void sysprof_category_rules_read (CategoryRules *self,
                                  Text text,
                                  const char *file,
                                  GPtrArray *complaints);
/* The user's own rules, then those that are built in. `complaints` may be NULL. *(full)* */
CategoryRules *sysprof_category_rules_load (GPtrArray *complaints);
/* Where the user's own are: "categories" in a folder "sysprof" of the user's configuration. *(full)* */
char *sysprof_category_rules_dup_path (void);
uint32_t sysprof_category_rules_n (const CategoryRules *self);

/* What the rules say of a function: its category, or CATEGORY_NONE; with this bit, all below inherit it. */
#define CATEGORY_IS_INHERITED 0x80
uint8_t sysprof_category_rules_find (const CategoryRules *self,
                                     const char *binary,
                                     const char *function);
/* [symbols->n] the same for each symbol. *(full)* */
uint8_t *sysprof_category_rules_apply (const CategoryRules *self, const SymbolTable *symbols);

/* [symbols->n] by the rules loaded at the first call. Borrowed from the table; any thread. */
const uint8_t *sysprof_symbol_categories (const SymbolTable *symbols);

/* On the way from the outermost function inwards: the category of a function below one that handed on `*inherited`,
 * which becomes what it hands on itself. Begin with CATEGORY_NONE. */
static inline Category
sysprof_category_enter (uint8_t found, SymbolKind kind, uint8_t *inherited)
{
  Category own = (Category) (found & ~CATEGORY_IS_INHERITED);

  if (own == CATEGORY_NONE)
    own = (Category) *inherited;
  else if (found & CATEGORY_IS_INHERITED)
    *inherited = (uint8_t) own;

  if (own != CATEGORY_NONE)
    return own;
  return kind == SYMBOL_KERNEL   ? CATEGORY_KERNEL
         : kind == SYMBOL_MARKER ? CATEGORY_UNWINDABLE
                                 : CATEGORY_UNCATEGORIZED;
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CategoryRules, sysprof_category_rules_free)

/* [tree->n] the Category of each node. Top down, what callers hand on counts; bottom up, each function's own does: its
 * callers are many. *(full)* */
uint8_t *sysprof_call_tree_categorize (const CallTree *self,
                                       const SymbolTable *symbols,
                                       const Shape *shape);
/* [stacks.n] the Category of the innermost function that shows, as its callers make it. `shape` may be NULL. *(full)* */
uint8_t *
sysprof_stacks_categorize (const Store *store, const SymbolTable *symbols, const Shape *shape);
/* [symbols->n] what the rules say of each function as it is shown, as sysprof_symbol_categories(): of one that stands for
 * its binary, what they say of all of it. `shape` may be NULL. *(full)* */
uint8_t *sysprof_shown_categories_new (const SymbolTable *symbols, const Shape *shape);
