// SPDX-License-Identifier: GPL-3.0-or-later

/* The compiled BPF programs as ELF files, embedded by the build. */

#pragma once

#include <stddef.h>

extern const unsigned char sysprof_walk_object[]; /* [sysprof_walk_object_size] */
extern const size_t sysprof_walk_object_size;
extern const unsigned char sysprof_waits_object[]; /* [sysprof_waits_object_size] */
extern const size_t sysprof_waits_object_size;
