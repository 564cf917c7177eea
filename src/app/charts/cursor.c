// SPDX-License-Identifier: GPL-3.0-or-later

/* The cursor of charts. */

#include <stdbool.h>

#include "app/charts/cursor.h"

#include "app/widgets/naming.h"
#define APP_TYPE_CURSOR_ITEM (app_cursor_item_get_type ())
G_DECLARE_FINAL_TYPE (AppCursorItem, app_cursor_item, APP, CURSOR_ITEM, GtkWidget)

struct _AppCursorItem
{
  GtkWidget parent_instance;
};

G_DEFINE_FINAL_TYPE (AppCursorItem, app_cursor_item, GTK_TYPE_WIDGET)

struct AppCursor
{
  GtkWidget *chart; /* borrowed: it owns the cursor */
  GtkWidget *items[2];
  GdkRectangle areas[2];
  unsigned present;
};

static void
app_cursor_item_class_init (AppCursorItemClass *class)
{
  gtk_widget_class_set_accessible_role (GTK_WIDGET_CLASS (class),
                                        GTK_ACCESSIBLE_ROLE_LIST_ITEM);
  gtk_widget_class_set_css_name (GTK_WIDGET_CLASS (class), "chartcursor");
}

static void
app_cursor_item_init (AppCursorItem *self)
{
}

AppCursor *
app_cursor_new (GtkWidget *chart)
{
  AppCursor *self = g_new0 (AppCursor, 1);

  self->chart = chart;
  for (unsigned i = 0; i < 2; i++)
    {
      self->items[i] = g_object_new (APP_TYPE_CURSOR_ITEM, "can-target", FALSE, "focusable",
                                     TRUE, "visible", FALSE, NULL);
      gtk_widget_set_parent (self->items[i], chart);
    }
  return self;
}

void
app_cursor_free (AppCursor *self)
{
  for (unsigned i = 0; i < 2; i++)
    gtk_widget_unparent (self->items[i]);
  g_free (self);
}

void
app_cursor_move (AppCursor *self, const GdkRectangle *area, const char *text)
{
  unsigned next = 1 - self->present;

  app_set_name (GTK_WIDGET (self->items[next]), text);
  self->areas[next] = *area;
  gtk_widget_show (self->items[next]);
  gtk_widget_queue_allocate (self->chart);
  gtk_widget_grab_focus (self->items[next]);
  gtk_widget_hide (self->items[self->present]);
  self->present = next;
}

void
app_cursor_place (AppCursor *self, const GdkRectangle *area)
{
  self->areas[self->present] = *area;
}

void
app_cursor_allocate (AppCursor *self)
{
  for (unsigned i = 0; i < 2; i++)
    if (gtk_widget_get_visible (self->items[i]))
      {
        GtkAllocation area = self->areas[i];

        area.width = MAX (area.width, 1);
        area.height = MAX (area.height, 1);
        gtk_widget_size_allocate (self->items[i], &area, -1);
      }
}

bool
app_cursor_is_active (const AppCursor *self)
{
  return gtk_widget_get_visible (self->items[self->present]) &&
         gtk_widget_has_focus (self->items[self->present]);
}
