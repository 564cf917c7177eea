// SPDX-License-Identifier: GPL-3.0-or-later

/* Writes what a widget shows as SVG or PNG: it draws the widget's render nodes with cairo. */

#include "app/charts/chart-export.h"

#include <adwaita.h>
#include <cairo-svg.h>
#include <glib/gi18n.h>

#define PNG_SCALE 2

/* cairo draws the nodes on a background in the color of the window. */
static void
draw (GtkWidget *chart, cairo_t *cairo)
{
  g_autoptr (GdkPaintable) paintable = gtk_widget_paintable_new (chart);
  GtkSnapshot *snapshot = gtk_snapshot_new ();
  int width = gtk_widget_get_width (chart), height = gtk_widget_get_height (chart);
  bool is_dark = adw_style_manager_get_dark (adw_style_manager_get_default ());
  g_autoptr (GskRenderNode) node = NULL;

  cairo_set_source_rgb (cairo, is_dark ? 0.12 : 1, is_dark ? 0.12 : 1, is_dark ? 0.12 : 1);
  cairo_paint (cairo);
  gdk_paintable_snapshot (paintable, snapshot, width, height);
  node = gtk_snapshot_free_to_node (snapshot);
  if (node != NULL)
    gsk_render_node_draw (node, cairo);
}

static const char *
write_picture (GtkWidget *chart, const char *path)
{
  bool is_png = g_str_has_suffix (path, ".png");
  int width = gtk_widget_get_width (chart), height = gtk_widget_get_height (chart);
  cairo_surface_t *surface =
      is_png ? cairo_image_surface_create (CAIRO_FORMAT_ARGB32, width * PNG_SCALE,
                                           height * PNG_SCALE)
             : cairo_svg_surface_create (path, width, height);
  cairo_t *cairo = cairo_create (surface);
  cairo_status_t status;

  if (is_png)
    cairo_scale (cairo, PNG_SCALE, PNG_SCALE);
  draw (chart, cairo);
  cairo_destroy (cairo);
  if (is_png)
    status = cairo_surface_write_to_png (surface, path);
  else
    {
      cairo_surface_finish (surface);
      status = cairo_surface_status (surface);
    }
  cairo_surface_destroy (surface);
  return status == CAIRO_STATUS_SUCCESS ? _ ("Picture written")
                                        : cairo_status_to_string (status);
}

static void
on_response (GtkNativeDialog *dialog, int response, GtkWidget *chart)
{
  GtkWidget *overlay = gtk_widget_get_ancestor (chart, ADW_TYPE_TOAST_OVERLAY);

  if (response == GTK_RESPONSE_ACCEPT && overlay != NULL)
    {
      g_autoptr (GFile) file = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog));

      adw_toast_overlay_add_toast (
          ADW_TOAST_OVERLAY (overlay),
          adw_toast_new (write_picture (chart, g_file_peek_path (file))));
    }
  g_object_unref (dialog);
}

void
app_chart_export (GtkWidget *chart, const char *name)
{
  GtkFileChooserNative *dialog = gtk_file_chooser_native_new (
      _ ("Export Chart as SVG or PNG"), GTK_WINDOW (gtk_widget_get_root (chart)),
      GTK_FILE_CHOOSER_ACTION_SAVE, NULL, NULL);
  g_autofree char *file = g_strconcat (name, ".svg", NULL);

  g_strdelimit (file, "/", '-');
  gtk_file_chooser_set_current_name (GTK_FILE_CHOOSER (dialog), file);
  gtk_native_dialog_set_modal (GTK_NATIVE_DIALOG (dialog), TRUE);
  g_signal_connect_object (dialog, "response", G_CALLBACK (on_response), chart, 0);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (dialog));
}
