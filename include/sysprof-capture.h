// SPDX-License-Identifier: BSD-2-Clause

/* Reads and writes captures (.syscap), and reports data from inside a recorded program.
 *
 *   SysprofCaptureWriter *writer = sysprof_capture_writer_new ("run.syscap", 0);
 *   sysprof_capture_writer_add_mark (writer, SYSPROF_CAPTURE_CURRENT_TIME, -1, getpid (), 0,
 *                                    "group", "name", "message");
 *   sysprof_capture_writer_unref (writer);
 */

#pragma once

#include "sysprof-address.h"
#include "sysprof-capture-condition.h"
#include "sysprof-capture-cursor.h"
#include "sysprof-capture-reader.h"
#include "sysprof-capture-types.h"
#include "sysprof-capture-writer.h"
#include "sysprof-clock.h"
#include "sysprof-collector.h"
#include "sysprof-macros.h"
#include "sysprof-platform.h"
#include "sysprof-version-macros.h"
#include "sysprof-version.h"
