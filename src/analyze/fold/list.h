// SPDX-License-Identifier: GPL-3.0-or-later

/* Lists that grow at their end within loops of few instructions, where a call for each item would be seen. *Owned*. */

#pragma once

#include <glib.h>
#include <stdint.h>

#define FOLD_DEFINE_LIST(Name, prefix, Item)                                            \
  typedef struct                                                                        \
  {                                                                                     \
    Item *item; /* [n] */                                                               \
    uint32_t n;                                                                         \
    uint32_t capacity;                                                                  \
  } Name;                                                                               \
                                                                                        \
  G_GNUC_UNUSED static inline void prefix##_reserve (Name *self, uint32_t n)            \
  {                                                                                     \
    if (self->capacity - self->n >= n)                                                  \
      return;                                                                           \
    self->capacity = MAX (self->n + n, MAX (64, self->capacity * 2));                   \
    self->item = (Item *) g_realloc_n (self->item, self->capacity, sizeof *self->item); \
  }                                                                                     \
                                                                                        \
  G_GNUC_UNUSED static inline void prefix##_add (Name *self, Item item)                 \
  {                                                                                     \
    prefix##_reserve (self, 1);                                                         \
    self->item[self->n++] = item;                                                       \
  }                                                                                     \
                                                                                        \
  G_GNUC_UNUSED static inline void prefix##_clear (Name *self)                          \
  {                                                                                     \
    g_free (self->item);                                                                \
    *self = (Name){ 0 };                                                                \
  }

FOLD_DEFINE_LIST (NumberList, number_list, uint32_t)
