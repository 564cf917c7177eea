// SPDX-License-Identifier: GPL-3.0-or-later

/* The public API of libsysprof and of the capture library.
 *
 *   recording   sysprof-profiler.h starts a SysprofRecording with its instruments
 *   analysis    sysprof-document-loader.h opens a capture as a SysprofDocument
 *   capture     sysprof-capture.h reads and writes the file format, without GLib
 *
 * Comments write ownership as in introspection. *(full)* is transfer full: the caller owns the
 * result and frees it. *(none)* is transfer none: the object owns the result. *(nullable)*: the
 * result may be NULL. */

#pragma once

#include "sysprof-bundled-symbolizer.h"
#include "sysprof-callgraph-frame.h"
#include "sysprof-callgraph-symbol.h"
#include "sysprof-callgraph.h"
#include "sysprof-capture.h"
#include "sysprof-category-summary.h"
#include "sysprof-cpu-info.h"
#include "sysprof-debuginfod-symbolizer.h"
#include "sysprof-diagnostic.h"
#include "sysprof-document-allocation.h"
#include "sysprof-document-column.h"
#include "sysprof-document-counter-value.h"
#include "sysprof-document-counter.h"
#include "sysprof-document-ctrdef.h"
#include "sysprof-document-ctrset.h"
#include "sysprof-document-dbus-message.h"
#include "sysprof-document-exit.h"
#include "sysprof-document-file-chunk.h"
#include "sysprof-document-file.h"
#include "sysprof-document-fork.h"
#include "sysprof-document-frame.h"
#include "sysprof-document-jitmap.h"
#include "sysprof-document-loader.h"
#include "sysprof-document-log.h"
#include "sysprof-document-mark.h"
#include "sysprof-document-metadata.h"
#include "sysprof-document-mmap.h"
#include "sysprof-document-overlay.h"
#include "sysprof-document-process.h"
#include "sysprof-document-sample.h"
#include "sysprof-document-task.h"
#include "sysprof-document-traceable.h"
#include "sysprof-document.h"
#include "sysprof-elf-symbolizer.h"
#include "sysprof-enums.h"
#include "sysprof-instrument.h"
#include "sysprof-instruments.h"
#include "sysprof-jitmap-symbolizer.h"
#include "sysprof-kallsyms-symbolizer.h"
#include "sysprof-mark-catalog.h"
#include "sysprof-mount.h"
#include "sysprof-multi-symbolizer.h"
#include "sysprof-no-symbolizer.h"
#include "sysprof-profiler.h"
#include "sysprof-recording-phase.h"
#include "sysprof-recording.h"
#include "sysprof-spawnable.h"
#include "sysprof-symbol.h"
#include "sysprof-symbolizer.h"
#include "sysprof-thread-info.h"
#include "sysprof-time-span.h"
