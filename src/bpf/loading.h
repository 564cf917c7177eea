// SPDX-License-Identifier: GPL-3.0-or-later

/* What the loaders of the programs that walk stacks have in common; for them alone. */

#pragma once

#include "bpf/bpf.h"

#include <bpf/libbpf.h>

/* As the programs call them; of the index, its section. */
#define INDEX_NAME  "walk.bss"
#define SLABS_NAME  "walk_slabs"
#define EVENTS_NAME "walk_events"

/* libbpf's own words are for nobody, from now on: programs are loaded on several threads, and it has one setting for all. */
void sysprof_bpf_be_quiet (void);
/* As many as there are numbers of CPUs that there can be, also where some are left out. 0 with errno. */
unsigned sysprof_bpf_n_cpus (void);

/* Gives the walker in `object` its constants and as many scratch spaces as there can be CPUs. FALSE with errno. */
bool sysprof_bpf_prepare_walker (struct bpf_object *object, const WalkProgramOptions *options);
/* Has the object use a map that is there, instead of making one. FALSE with errno. */
bool sysprof_bpf_use_map (struct bpf_object *object, const char *name, int fd);
