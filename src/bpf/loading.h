// SPDX-License-Identifier: GPL-3.0-or-later

/* What loader.c and waits-loader.c share. Not for other files. */

#pragma once

#include "bpf/bpf.h"

#include <bpf/libbpf.h>

/* Names of the maps in both objects. The index is a section. */
#define INDEX_NAME  "walk.bss"
#define SLABS_NAME  "walk_slabs"
#define EVENTS_NAME "walk_events"

/* Suppresses libbpf's messages for the whole process: its setting is global, and programs are
 * loaded on several threads. */
void sysprof_bpf_be_quiet (void);
/* The number of possible CPU numbers, including unused ones. 0 with errno. */
unsigned sysprof_bpf_n_cpus (void);

/* Sets the walker's constants and its number of scratch spaces. FALSE with errno. */
bool sysprof_bpf_prepare_walker (struct bpf_object *object, const WalkProgramOptions *options);
/* Makes the object use an existing map. FALSE with errno. */
bool sysprof_bpf_use_map (struct bpf_object *object, const char *name, int fd);
