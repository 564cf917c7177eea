// SPDX-License-Identifier: GPL-3.0-or-later

/* The directories of which the overlays of a mount namespace are made, topmost first: where the files of a container lie on the host.
 *
 * They stand in the options of the mounts, as who made the mount wrote them; what is not an absolute path is known to nobody else
 * and left out. */

#pragma once

#include "util/text.h"

#include <glib.h>

typedef struct
{
  char *source;  /* directory on the host */
  char *target;  /* where it stands in the namespace */
  uint8_t layer; /* 0 = topmost */
} OverlayLayer;

/* Of a /proc/PID/mountinfo. Lines that make no sense are skipped. *(full)*, of OverlayLayer; NULL where there are none */
GArray *sysprof_overlay_layers_parse (Text mountinfo);
