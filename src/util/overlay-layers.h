// SPDX-License-Identifier: GPL-3.0-or-later

/* The directories of the overlays in a mount namespace, topmost first: they have the files of a
 * container on the host.
 *
 * The paths are in the mount options, as whoever made the mount wrote them. A relative path has
 * no known base and is skipped. */

#pragma once

#include "util/text.h"

#include <glib.h>

typedef struct
{
  char *source;  /* directory on the host */
  char *target;  /* mount point in the namespace */
  uint8_t layer; /* 0 = topmost */
} OverlayLayer;

/* Parses /proc/PID/mountinfo and skips invalid lines. *(full)*, of OverlayLayer; NULL if there
 * are none */
GArray *sysprof_overlay_layers_parse (Text mountinfo);
