// SPDX-License-Identifier: GPL-3.0-or-later

/* Keys. */

#include "app/main/shortcuts.h"

#include <glib/gi18n.h>
#include <stdbool.h>

typedef struct
{
  const char *group; /* translatable; NULL = that of the row before */
  const char *title;
  const char *action; /* NULL = a widget handles the key */
  const char *accels[3];
  /* A part of the window that lists the keys, without pages: GTK 4.8 complains of these. NULL =
   * that of the row before. */
  const char *section;
} Shortcut;

#define END_OBJECT "</object></child>"

static const Shortcut shortcuts[] = {
  { N_ ("General"),
    N_ ("New recording"),
    "app.new-recording",
    { "<Control>n" },
    N_ ("Windows") },
  { NULL, N_ ("Open recording"), "app.open", { "<Control>o" } },
  { NULL, N_ ("Save as"), "win.save-as", { "<Control>s" } },
  { NULL, N_ ("Left panel"), "win.toggle-left", { "F9" } },
  { NULL, N_ ("Right panel"), "win.toggle-right", { "<Control>F9" } },
  { NULL, N_ ("Close window"), "window.close", { "<Control>w" } },
  { NULL, N_ ("Quit"), "app.quit", { "<Control>q" } },
  { NULL, N_ ("Help"), "app.help", { "F1" } },
  { NULL, N_ ("Keyboard shortcuts"), "win.show-help-overlay", { "<Control>question" } },
  { N_ ("Navigation"), N_ ("Back"), "win.back", { "<Alt>Left" } },
  { NULL, N_ ("Forward"), "win.forward", { "<Alt>Right" } },
  { NULL, N_ ("Undo filter"), "win.back", { "<Control>z" } },
  { NULL, N_ ("Next region of the window"), "win.next-region", { "F6" } },
  { NULL, N_ ("Next view"), "win.next-view(1)", { "<Control>Tab", "<Control>Page_Down" } },
  { NULL,
    N_ ("Previous view"),
    "win.next-view(-1)",
    { "<Control><Shift>Tab", "<Control>Page_Up" } },
  { NULL, N_ ("Overview"), "win.section('overview')", { "<Alt>1" } },
  { NULL, N_ ("Time Profiler"), "win.section('time-profiler')", { "<Alt>2" } },
  { NULL, N_ ("Memory Allocations"), "win.section('memory')", { "<Alt>3" } },
  { NULL, N_ ("Logs"), "win.section('logs')", { "<Alt>4" } },
  { NULL, N_ ("Marks"), "win.section('marks')", { "<Alt>5" } },
  { NULL, N_ ("Processes"), "win.section('processes')", { "<Alt>6" } },
  { NULL, N_ ("D-Bus"), "win.section('dbus')", { "<Alt>7" } },
  { NULL, N_ ("CPU"), "win.section('cpu')", { "<Alt>8" } },
  { N_ ("Time"),
    N_ ("Zoom in"),
    "win.zoom-in",
    { "<Control>plus", "<Control>equal" },
    N_ ("Views") },
  { NULL, N_ ("Zoom out"), "win.zoom-out", { "<Control>minus" } },
  { NULL, N_ ("Reset zoom"), "win.zoom-reset", { "<Control>0" } },
  { NULL, N_ ("Seek backward"), "win.seek-backward", { "<Control>bracketleft" } },
  { NULL, N_ ("Seek forward"), "win.seek-forward", { "<Control>bracketright" } },
  { NULL, N_ ("Move the cursor"), NULL, { "Left Right Home End" } },
  { NULL, N_ ("Previous or next sample, mark or row"), NULL, { "comma period" } },
  { NULL, N_ ("Extend the selection"), NULL, { "<Shift>Left <Shift>Right" } },
  { NULL, N_ ("Begin or end the selection at the cursor"), NULL, { "i o" } },
  { NULL, N_ ("Zoom to the selection"), NULL, { "z" } },
  { NULL, N_ ("Pin the track"), NULL, { "p" } },
  { NULL, N_ ("Move the pinned track"), NULL, { "<Control><Shift>Up <Control><Shift>Down" } },
  { N_ ("Views"), N_ ("Go to"), "win.go-to", { "<Control>k" } },
  { NULL, N_ ("Add filter"), "win.add-filter", { "<Control>l" } },
  { NULL, N_ ("Search"), "win.find", { "<Control>f" } },
  { NULL, N_ ("Next match"), "win.find-next(1)", { "<Control>g" } },
  { NULL, N_ ("Previous match"), "win.find-next(-1)", { "<Control><Shift>g" } },
  { NULL, N_ ("Copy row"), NULL, { "<Control>c" } },
  { NULL, N_ ("Copy table as Markdown"), NULL, { "<Control><Shift>c" } },
  { NULL, N_ ("Make function the root"), NULL, { "Return" } },
  { NULL, N_ ("Only stacks through the function"), NULL, { "f" } },
  { NULL, N_ ("Drop stacks through the function"), NULL, { "x" } },
  { NULL, N_ ("Merge the function into its callers"), NULL, { "m" } },
  { NULL, N_ ("Show the library as one function"), NULL, { "l" } },
  { NULL, N_ ("Fold recursion"), NULL, { "r" } },
  { NULL, N_ ("Expand the heaviest path"), NULL, { "asterisk" } },
};

bool
app_shortcuts_get (size_t i, const char **title, const char **action)
{
  if (i >= G_N_ELEMENTS (shortcuts))
    return false;
  *title = _ (shortcuts[i].title);
  *action = shortcuts[i].action != NULL ? shortcuts[i].action : "";
  return true;
}

void
app_shortcuts_set_accels (GtkApplication *application)
{
  for (size_t i = 0; i < G_N_ELEMENTS (shortcuts); i++)
    if (shortcuts[i].action != NULL && !g_str_equal (shortcuts[i].accels[0], "<Control>z"))
      gtk_application_set_accels_for_action (application, shortcuts[i].action,
                                             shortcuts[i].accels);
  /* Two rows have the same action. */
  gtk_application_set_accels_for_action (
      application, "win.back", (const char *const[]){ "<Alt>Left", "<Control>z", NULL });
}

/* Ends what is open, and begins the section and the group of a row. */
static void
begin_group (GString *ui, const Shortcut *shortcut, bool is_first)
{
  bool begins_section = shortcut->section != NULL;

  if (!is_first)
    g_string_append (ui, begins_section ? END_OBJECT END_OBJECT : END_OBJECT);
  if (begins_section)
    {
      g_autofree char *text = g_markup_printf_escaped (
          "<child><object class='GtkShortcutsSection'><property name='section-name'>%s"
          "</property><property name='title'>%s</property>",
          shortcut->section, _ (shortcut->section));

      g_string_append (ui, text);
    }
  if (shortcut->group != NULL)
    {
      g_autofree char *text =
          g_markup_printf_escaped ("<child><object class='GtkShortcutsGroup'><property "
                                   "name='title'>%s</property>",
                                   _ (shortcut->group));

      g_string_append (ui, text);
    }
}

GtkShortcutsWindow *
app_shortcuts_window_new (void)
{
  g_autoptr (GtkBuilder) builder = NULL;
  GtkWindow *window;
  g_autoptr (GString) ui = g_string_new (
      "<interface><object class='GtkShortcutsWindow' id='window'><property name='modal'>1"
      "</property><property name='section-name'>Windows</property>");

  for (size_t i = 0; i < G_N_ELEMENTS (shortcuts); i++)
    {
      g_autofree char *accels = g_strjoinv (" ", (char **) shortcuts[i].accels);
      g_autofree char *text =
          g_markup_printf_escaped ("<child><object class='GtkShortcutsShortcut'><property "
                                   "name='title'>%s</property><property name='accelerator'>%s"
                                   "</property>" END_OBJECT,
                                   _ (shortcuts[i].title), accels);

      if (shortcuts[i].group != NULL)
        begin_group (ui, &shortcuts[i], i == 0);
      g_string_append (ui, text);
    }
  g_string_append (ui, END_OBJECT END_OBJECT "</object></interface>");
  builder = gtk_builder_new_from_string (ui->str, (gssize) ui->len);
  window = GTK_WINDOW (gtk_builder_get_object (builder, "window"));
  gtk_window_set_title (window, _ ("Keyboard Shortcuts"));
  return g_object_ref (GTK_SHORTCUTS_WINDOW (window));
}
