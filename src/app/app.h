// SPDX-License-Identifier: GPL-3.0-or-later

/* app: the desktop application `sysprof`: GTK 4.8, libadwaita 1.2.
 *
 *   main/        start, application, capture window, options, loading
 *   session/     focus and its history; queries on other threads
 *   widgets/     the table of all views, its rows and cells; filters
 *   charts/      timeline, tracks, flame graph
 *   sections/    one file per section of the sidebar: a table of tracks and views
 *   panes/       views that are more than one table
 *   recording/   greeter, settings, recording pad
 *
 * Widgets do not compute. A window has one session (session/session.h) with an immutable focus:
 * times, filters, root, weight and options. A widget follows its signal "focus-changed", or
 * "selection-changed" if the visible time does not matter to it, and runs a query
 * (session/query.h): rows of a view (session/row-query.h) or tracks (charts/track.h). Results
 * are frozen.
 *
 * Each new part is a row of one table:
 *
 *   A section is a Section in sections/NAME.c, with its name in sections.h and sections.c.
 *   A view is a SectionView in its section: a table, or a pane of panes/ with `make`.
 *   A column is in a view of src/views. Tables follow the kinds of columns.
 *   A track is a row of `sources` in views/tracks/tracks.c. Sections name their tracks.
 *   A way to draw tracks is a TrackKind, and a function in charts/track-draw.c.
 *   An option is a row in main/options.c. Options that select are in document/selection.
 *   A key is a row in main/shortcuts.c.
 *   An action on rows of tables and flame graphs is a row in widgets/row-actions.c.
 *   A setting of recordings is a row in recording/settings.c, for recording/recorder.c. */

#pragma once

/* Runs the application; the exit status. */
int app_main (int argc, char **argv);
