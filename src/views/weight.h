// SPDX-License-Identifier: GPL-3.0-or-later

/* The weight that views sum: --weight. */

#pragma once

#include "analyze/analyze.h"

typedef enum
{
  WEIGHT_DEFAULT, /* default of the view */
  WEIGHT_SAMPLES,
  WEIGHT_PERIOD,
  WEIGHT_TIME, /* time off the CPU */
  WEIGHT_WALL, /* time on and off the CPU */
  WEIGHT_BYTES,
  WEIGHT_COUNT,
  N_WEIGHTS,
} Weight;

typedef struct
{
  Weight weight;
  const char *event; /* event with the periods to sum; NULL = the only one */
  const char *path;  /* of the capture, for messages */
} WeightChoice;

/* Columns that a filter borrows if they are not the store's. *Owned*. */
typedef struct
{
  WeighedEvent event;
  WeighedWaits waits;
} ChosenWeights;

/* Sets the weight of `filter`, whose selection must be complete. The filter borrows from
 * `weights`, which the caller owns. FALSE with `error` if the capture lacks the data. */
bool sysprof_weigh (const WeightChoice *choice,
                    const Store *store,
                    const SymbolTable *symbols,
                    SampleFilter *filter,
                    ChosenWeights *weights,
                    GError **error);
void sysprof_chosen_weights_clear (ChosenWeights *self);
