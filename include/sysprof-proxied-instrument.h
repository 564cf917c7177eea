// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofProxiedInstrument: another program on a message bus that writes its own capture, which
 * is merged at the end. */

#pragma once

#include "sysprof-instrument.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_PROXIED_INSTRUMENT (sysprof_proxied_instrument_get_type ())

SYSPROF_DECLARE_INSTRUMENT (SysprofProxiedInstrument,
                            sysprof_proxied_instrument,
                            PROXIED_INSTRUMENT,
                            SYSPROF_AVAILABLE_IN_ALL)

/* The object at `object_path` of `bus_name` implements org.gnome.Sysprof3.Profiler. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofInstrument *sysprof_proxied_instrument_new (GBusType bus_type,
                                                   const char *bus_name,
                                                   const char *object_path);

/* `options` is the a{sv} for its Start method; a floating reference is consumed. NULL passes
 * none. *(full)* Since 49. */
SYSPROF_AVAILABLE_IN_49
SysprofInstrument *sysprof_proxied_instrument_new_with_options (GBusType bus_type,
                                                                const char *bus_name,
                                                                const char *object_path,
                                                                GVariant *options);

G_END_DECLS
