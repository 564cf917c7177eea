// SPDX-License-Identifier: GPL-3.0-or-later

/* web: the self-contained interactive pages as constants, which flame and render fill with
 * data.
 *
 * A page is three texts, with the data written between them:
 *
 *   …_before_title   then the title, escaped for HTML
 *   …_before_data    then the content: JSON without < (flamegraph), or elements (table)
 *   …_after_data
 *
 * flamegraph.js describes the members of the flame graph's JSON. */

#pragma once

extern const char sysprof_web_flamegraph_before_title[];
extern const char sysprof_web_flamegraph_before_data[];
extern const char sysprof_web_flamegraph_after_data[];

extern const char sysprof_web_table_before_title[];
extern const char sysprof_web_table_before_data[];
extern const char sysprof_web_table_after_data[];

/* The script of an interactive SVG. It has no '<' and no '&', and finds the picture that
 * contains it. */
extern const char sysprof_web_svg_script[];
