// SPDX-License-Identifier: GPL-3.0-or-later

/* Selects the weight of --weight, or the default one, for a filter. */

#include "views/weight.h"

#include "util/util.h"

#include <string.h>

static const char *
name_of (const Store *store, uint32_t event)
{
  return sysprof_store_string (store, store->sampled_events[event].name);
}

/* "page-faults, cpu-clock". *(full)* */
static char *
dup_event_names (const Store *store)
{
  GString *names = g_string_new (NULL);

  for (uint32_t i = 0; i < store->n_sampled_events; i++)
    g_string_append_printf (names, "%s%s", i > 0 ? ", " : "", name_of (store, i));
  return g_string_free (names, FALSE);
}

G_GNUC_PRINTF (3, 4)
static bool
refuse (const WeightChoice *choice, GError **error, const char *format, ...)
{
  g_autofree char *why = NULL;
  va_list arguments;

  va_start (arguments, format);
  why = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED, "--weight period%s%s: '%s' %s",
               choice->event != NULL ? ":" : "", choice->event != NULL ? choice->event : "",
               choice->path, why);
  return false;
}

/* Finds the named event, or the only one. */
static bool
find_event (const WeightChoice *choice, const Store *store, uint32_t *event, GError **error)
{
  g_autofree char *names = dup_event_names (store);

  if (store->n_sampled_events == 0)
    return refuse (choice, error,
                   "has no sampling event: another program or version recorded it. --weight "
                   "samples counts them.");

  if (choice->event == NULL)
    {
      *event = 0;
      return store->n_sampled_events == 1 ||
             refuse (choice, error,
                     "has samples of several events: %s. Name one, as --weight period:EVENT.",
                     names);
    }

  for (*event = 0; *event < store->n_sampled_events; ++*event)
    if (strcmp (name_of (store, *event), choice->event) == 0)
      return true;
  return refuse (choice, error, "has no samples of that event. It has those of %s.", names);
}

static bool
weigh_periods (const WeightChoice *choice,
               const Store *store,
               SampleFilter *filter,
               WeighedEvent *weighed,
               GError **error)
{
  uint32_t event = 0;

  /* Weights of imported samples are those of the other profiler. */
  if (store->n_sampled_events == 0 && store->samples.weight != NULL && choice->event == NULL)
    return true;
  if (!find_event (choice, store, &event, error))
    return false;
  if (!sysprof_store_weigh_event (store, event, weighed))
    return refuse (choice, error,
                   "has no periods of '%s', which vary. Record with --event %s to keep them; "
                   "--weight samples counts the samples.",
                   name_of (store, event), name_of (store, event));

  filter->events = &weighed->samples;
  filter->event_is_in = weighed->is_in;
  filter->weight_name = name_of (store, event);
  filter->weight_unit = store->sampled_events[event].is_time ? "ns" : "count";
  return true;
}

static bool
weigh_waits (const WeightChoice *choice,
             const Store *store,
             const SymbolTable *symbols,
             SampleFilter *filter,
             WeighedWaits *weighed,
             GError **error)
{
  bool is_wall = choice->weight == WEIGHT_WALL;
  const char *name = is_wall ? "wall" : "time";

  if (!store->waits.is_recorded)
    {
      g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
                   "--weight %s: '%s' has no off-CPU data. Record with sysprof-cli "
                   "--off-cpu, or use --weight samples.",
                   name, choice->path);
      return false;
    }
  if (!is_wall)
    sysprof_waits_weigh (weighed, store, symbols, filter);
  else if (!sysprof_waits_weigh_wall (weighed, store, symbols, filter))
    {
      g_set_error (
          error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
          "--weight wall: '%s' has samples of unknown duration. Record with "
          "--event cpu-clock beside --off-cpu; --weight time sums what is off the CPU.",
          choice->path);
      return false;
    }

  filter->events = &weighed->events;
  filter->event_is_in = weighed->is_in;
  filter->weight_name = name;
  filter->weight_unit = "ns";
  return true;
}

bool
sysprof_weigh (const WeightChoice *choice,
               const Store *store,
               const SymbolTable *symbols,
               SampleFilter *filter,
               ChosenWeights *weights,
               GError **error)
{
  if (choice->weight == WEIGHT_PERIOD)
    return weigh_periods (choice, store, filter, &weights->event, error);
  if (choice->weight == WEIGHT_TIME || choice->weight == WEIGHT_WALL)
    return weigh_waits (choice, store, symbols, filter, &weights->waits, error);

  if (choice->weight >= WEIGHT_BYTES)
    filter->events = &store->allocations;
  filter->weigh_one = choice->weight == WEIGHT_COUNT;
  return true;
}

void
sysprof_chosen_weights_clear (ChosenWeights *self)
{
  sysprof_weighed_event_clear (&self->event);
  sysprof_weighed_waits_clear (&self->waits);
}
