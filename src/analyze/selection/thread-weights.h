// SPDX-License-Identifier: GPL-3.0-or-later

/* Weights by (stack, thread) while they are summed up. *Owned* by the fold. */

#pragma once

#include "analyze/selection/selection.h"

typedef struct ThreadWeights ThreadWeights;

ThreadWeights *sysprof_thread_weights_new (void);
void
sysprof_thread_weights_add (ThreadWeights *self, StackId stack, int32_t tid, uint64_t weight);

/* Gives the sums to `weights`, by ascending tid, then stack, and releases everything but `self`, which is g_free()d. */
void sysprof_thread_weights_finish (ThreadWeights *self, StackWeights *weights);
