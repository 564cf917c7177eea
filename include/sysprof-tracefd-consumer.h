// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofTracefdConsumer: merges a capture that another process wrote. */

#pragma once

#include "sysprof-instrument.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_TRACEFD_CONSUMER (sysprof_tracefd_consumer_get_type ())

SYSPROF_DECLARE_INSTRUMENT (SysprofTracefdConsumer,
                            sysprof_tracefd_consumer,
                            TRACEFD_CONSUMER,
                            SYSPROF_AVAILABLE_IN_ALL)

/* Takes ownership of `trace_fd`, a capture file. Its contents are merged into the recording
 * when it has stopped. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofInstrument *sysprof_tracefd_consumer_new (int trace_fd);

G_END_DECLS
