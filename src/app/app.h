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
 * times, filters, root, weight and options. A widget follows its signal "focus-changed" and
 * runs a query (session/query.h): rows of a view (session/row-query.h) or tracks
 * (charts/track-query.h). Results are frozen.
 *
 *   New section:  a Section in sections/NAME.c, its name in sections/sections.h, sections.c
 *     and meson.build.
 *   New view:     a SectionView in its section. Without `make` it is a table of the rows of
 *     its query; with it, a pane of
 *                 panes/, which is made of tables and charts.
 *   New columns:  in the view of src/views. Tables follow the kinds of columns
 *     (widgets/table-cells.c).
 *   New track:    a row in `sources` of views/tracks/tracks.c; name it in `tracks` of a
 *     section.
 *   New drawing of tracks: a TrackKind, and its function in charts/track-draw.c.
 *   New option:   a row in main/options.c. Options that select are rows of
 *     document/selection/selection.c.
 *   New action on rows of tables and flame graphs: a row in widgets/row-actions.c.
 *   New setting of recordings: a row in recording/settings.c, and its use in
 *     recording/recorder.c. */

#pragma once

/* Runs the application; the exit status. */
int app_main (int argc, char **argv);
