// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofTracefdConsumer: joins a capture that another process wrote. */

#pragma once

#include "sysprof-instrument.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_TRACEFD_CONSUMER (sysprof_tracefd_consumer_get_type ())

SYSPROF_DECLARE_INSTRUMENT (SysprofTracefdConsumer,
                            sysprof_tracefd_consumer,
                            TRACEFD_CONSUMER,
                            SYSPROF_AVAILABLE_IN_ALL)

/* `trace_fd` (taken) is a capture file; what is in it when the recording has stopped is joined to the recording.
 * *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofInstrument *sysprof_tracefd_consumer_new (int trace_fd);

G_END_DECLS
