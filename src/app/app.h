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
 * What to add for a new
 *
 *   section   a Section in sections/NAME.c, its name in sections.h, sections.c and meson.build
 *   view      a SectionView in its section. Without `make` it is a table of the rows of its
 *             query. With it, it is a pane of panes/, made of tables and charts
 *   column    in the view of src/views; tables follow the kinds of columns
 *   track     a row in `sources` of views/tracks/tracks.c, and its name in `tracks` of a section
 *   chart of spans  a row in `sources` of views/tracks/span-chart.c, and its name in a SectionView
 *   way to draw tracks  a TrackKind, and its function in charts/track-draw.c
 *   option    a row in main/options.c; options that select are in document/selection
 *   key       a row in main/shortcuts.c
 *   action on rows of tables and flame graphs  a row in widgets/row-actions.c
 *   setting of recordings  a row in recording/settings.c; its use in recording/recorder.c */

#pragma once

/* Runs the application; the exit status. */
int app_main (int argc, char **argv);
