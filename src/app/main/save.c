// SPDX-License-Identifier: GPL-3.0-or-later

/* Saving of recordings. */

#include "app/main/save.h"

#include "app/recording/unsaved.h"
#include "app/widgets/button.h"

#include <glib/gi18n.h>

#define CLOSES "closes" /* the window closes when it is saved */

static void
show_failure (AppWindow *window, const char *message)
{
  GtkWidget *dialog =
      adw_message_dialog_new (GTK_WINDOW (window), _ ("Recording Not Saved"), message);

  adw_message_dialog_add_response (ADW_MESSAGE_DIALOG (dialog), "close", _ ("_Close"));
  app_button_present_dialog (dialog);
}

typedef struct
{
  AppWindow *window;
  GFile *file;
  bool closes;
} Save;

static void
on_saved (GObject *object, GAsyncResult *result, gpointer data)
{
  Save *self = data;
  g_autoptr (GError) error = NULL;

  if (!sysprof_document_save_finish (SYSPROF_DOCUMENT (object), result, &error))
    show_failure (self->window, error->message);
  else
    {
      app_window_set_saved (self->window, self->file);
      if (self->closes)
        gtk_window_destroy (GTK_WINDOW (self->window));
    }
  g_object_unref (self->window);
  g_object_unref (self->file);
  g_free (self);
}

static void
on_response (GtkNativeDialog *dialog, int response, AppWindow *window)
{
  AppSession *session = app_window_get_session (window);

  if (response == GTK_RESPONSE_ACCEPT && session != NULL)
    {
      Save *self = g_new0 (Save, 1);

      *self =
          (Save){ g_object_ref (window), gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog)),
                  g_object_get_data (G_OBJECT (dialog), CLOSES) != NULL };
      sysprof_document_save_async (app_session_get_document (session), self->file, NULL,
                                   on_saved, self);
    }
  g_object_unref (dialog);
}

static void
choose_file (AppWindow *window, bool closes)
{
  GtkFileChooserNative *dialog = gtk_file_chooser_native_new (
      _ ("Save Recording"), GTK_WINDOW (window), GTK_FILE_CHOOSER_ACTION_SAVE, NULL, NULL);

  gtk_file_chooser_set_current_name (GTK_FILE_CHOOSER (dialog), "capture.syscap");
  gtk_native_dialog_set_modal (GTK_NATIVE_DIALOG (dialog), TRUE);
  g_object_set_data (G_OBJECT (dialog), CLOSES, closes ? window : NULL);
  g_signal_connect_object (dialog, "response", G_CALLBACK (on_response), window, 0);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (dialog));
}

void
app_save_as (AppWindow *window)
{
  if (app_window_get_session (window) != NULL)
    choose_file (window, false);
}

static void
on_answer (AdwMessageDialog *dialog, const char *response, AppWindow *window)
{
  if (g_str_equal (response, "save"))
    choose_file (window, true);
  else if (g_str_equal (response, "discard"))
    {
      app_unsaved_delete (app_window_get_file (window));
      /* The dialog still uses its parent. */
      g_idle_add_once ((GSourceOnceFunc) (void (*) (void)) gtk_window_destroy, window);
    }
}

bool
app_save_ask (AppWindow *window)
{
  GFile *file = app_window_get_file (window);
  GtkWidget *dialog;

  /* One that cannot be shown stays where it is: the greeter offers it again. */
  if (file == NULL || app_window_get_session (window) == NULL || !app_unsaved_contains (file))
    return false;
  dialog = adw_message_dialog_new (GTK_WINDOW (window), _ ("Save Recording?"),
                                   _ ("If it is discarded, it cannot be restored."));
  adw_message_dialog_add_responses (ADW_MESSAGE_DIALOG (dialog), "cancel", _ ("_Cancel"),
                                    "discard", _ ("_Discard"), "save", _ ("_Save…"), NULL);
  adw_message_dialog_set_response_appearance (ADW_MESSAGE_DIALOG (dialog), "discard",
                                              ADW_RESPONSE_DESTRUCTIVE);
  adw_message_dialog_set_response_appearance (ADW_MESSAGE_DIALOG (dialog), "save",
                                              ADW_RESPONSE_SUGGESTED);
  adw_message_dialog_set_default_response (ADW_MESSAGE_DIALOG (dialog), "save");
  g_signal_connect_object (dialog, "response", G_CALLBACK (on_answer), window, 0);
  app_button_present_dialog (dialog);
  return true;
}
