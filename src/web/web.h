// SPDX-License-Identifier: GPL-3.0-or-later

/* web: the self-contained interactive pages, as constants that the renderers of views fill.
 *
 * A page is three texts, written one behind the other with what stands between them:
 *
 *   …_before_title   then the title, escaped for HTML
 *   …_before_data    then the content: JSON in which no < stands (flamegraph), or elements (table)
 *   …_after_data
 *
 * The members of the flame graph's JSON are described at the top of flamegraph.js. */

#pragma once

extern const char sysprof_web_flamegraph_before_title[];
extern const char sysprof_web_flamegraph_before_data[];
extern const char sysprof_web_flamegraph_after_data[];

extern const char sysprof_web_table_before_title[];
extern const char sysprof_web_table_before_data[];
extern const char sysprof_web_table_after_data[];

/* The script inside an interactive SVG: holds neither '<' nor '&'. It finds the picture that it stands in by itself. */
extern const char sysprof_web_svg_script[];
