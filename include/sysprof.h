// SPDX-License-Identifier: GPL-3.0-or-later

/* Everything that libsysprof and the capture library offer.
 *
 *   recording   sysprof-profiler.h starts a SysprofRecording of the instruments it was given
 *   analysis    sysprof-document-loader.h opens a capture as a SysprofDocument
 *   capture     sysprof-capture.h reads and writes the file format, without GLib */

#pragma once

#include "sysprof-battery-charge.h"
#include "sysprof-capture.h"
#include "sysprof-cpu-usage.h"
#include "sysprof-dbus-monitor.h"
#include "sysprof-diagnostic.h"
#include "sysprof-disk-usage.h"
#include "sysprof-document-counter-value.h"
#include "sysprof-document-counter.h"
#include "sysprof-document-frame.h"
#include "sysprof-document-loader.h"
#include "sysprof-document-mark.h"
#include "sysprof-document-sample.h"
#include "sysprof-document-traceable.h"
#include "sysprof-document.h"
#include "sysprof-energy-usage.h"
#include "sysprof-enums.h"
#include "sysprof-instrument.h"
#include "sysprof-malloc-tracing.h"
#include "sysprof-memory-usage.h"
#include "sysprof-network-usage.h"
#include "sysprof-no-symbolizer.h"
#include "sysprof-power-profile.h"
#include "sysprof-profiler.h"
#include "sysprof-proxied-instrument.h"
#include "sysprof-recording-phase.h"
#include "sysprof-recording.h"
#include "sysprof-sampler.h"
#include "sysprof-scheduler-details.h"
#include "sysprof-spawnable.h"
#include "sysprof-subprocess-output.h"
#include "sysprof-symbolizer.h"
#include "sysprof-symbols-bundle.h"
#include "sysprof-system-logs.h"
#include "sysprof-time-span.h"
#include "sysprof-tracefd-consumer.h"
#include "sysprof-tracer.h"
#include "sysprof-user-sampler.h"
