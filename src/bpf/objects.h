// SPDX-License-Identifier: GPL-3.0-or-later

/* The compiled programs, as files that libbpf reads; made while building. */

#pragma once

#include <stddef.h>

extern const unsigned char sysprof_walk_object[]; /* [sysprof_walk_object_size] */
extern const size_t sysprof_walk_object_size;
extern const unsigned char sysprof_waits_object[]; /* [sysprof_waits_object_size] */
extern const size_t sysprof_waits_object_size;
