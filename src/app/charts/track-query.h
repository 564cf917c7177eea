// SPDX-License-Identifier: GPL-3.0-or-later

/* The tracks of a focus: the query of the timeline. */

#pragma once

#include "app/session/query.h"
#include "views/tracks/tracks.h"

extern const QueryKind app_track_query_kind; /* input: TrackQuery *, result: TrackSet * */
