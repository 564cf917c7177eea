// SPDX-License-Identifier: GPL-3.0-or-later

/* Recordings that have no name yet. Their files stay in a folder of the user until they are
 * saved or discarded, so that they survive a closed window and a crash. The process that shows
 * or writes one holds a lock. */

#pragma once

#include <adwaita.h>
#include <stdbool.h>

/* A path for a new one. *(full)* */
char *app_unsaved_dup_path (void);
/* The same for a recording that gets the name `target` when it is complete. Until then it is
 * beside, under another name, and the path is that of a link. *(full)* */
char *app_unsaved_dup_path_for (GFile *target, GError **error);
/* Gives a complete recording its name, in place of an older file. */
bool app_unsaved_move (GFile *file, GFile *target, GError **error);
bool app_unsaved_contains (GFile *file);
/* The descriptor of the lock; -1 if the file is not in the folder, or if somebody else has it.
 * */
int app_unsaved_lock (GFile *file);
void app_unsaved_delete (GFile *file);
/* A group of the greeter with a row for each of them. *(full)* */
GtkWidget *app_unsaved_group_new (void);
