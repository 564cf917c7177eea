// SPDX-License-Identifier: GPL-3.0-or-later

/* Findings about what the recording lacks: stacks, samples, names. Nothing is reported while
 * all is well. */

#include "views/overview/findings.h"

/* Least percentage for a finding. */
#define MANY_LOST      1
#define MANY_TRUNCATED 5
#define MANY_UNNAMED   5

static void
find_truncated (Findings *self)
{
  const Quality *quality = self->quality;
  double percent = sysprof_findings_percent (self, quality->cut + quality->empty);
  const char *reason;

  if (quality->total == 0 || self->store->is_imported)
    return;
  if (self->store->is_not_unwound)
    {
      sysprof_findings_add (self,
                            &(Finding){ .kind = "truncated",
                                        .view = "quality",
                                        .share = 1,
                                        .remedy = "Record without --unwind none." },
                            "Stacks were not unwound, so functions have no callers.");
      return;
    }
  if (percent < MANY_TRUNCATED)
    return;
  reason = sysprof_find_most_common_cut (self->store, self->symbols, &self->weights);
  sysprof_findings_add (
      self,
      &(Finding){
          .kind = "truncated", .view = "quality", .reason = reason, .share = percent / 100 },
      "%.1f %% of the stacks are truncated%s%s%s, so totals of callers are "
      "too low.",
      percent, reason ? " (mostly: " : "", reason ? reason : "", reason ? ")" : "");
}

static void
find_unnamed (Findings *self)
{
  double percent = sysprof_findings_percent (self, self->quality->unnamed);

  if (percent >= MANY_UNNAMED)
    sysprof_findings_add (
        self, &(Finding){ .kind = "unnamed", .view = "quality", .share = percent / 100 },
        "%.1f %% of the %s %s in functions without a name.", percent,
        sysprof_findings_noun (self), sysprof_findings_verb (self, "was"));
}

static void
find_lost (Findings *self)
{
  uint64_t all = self->store->n_lost_samples + self->store->samples.n;
  const Store *store = self->store;
  bool has_period = store->n_sampled_events == 1 && !store->sampled_events[0].is_time &&
                    store->sampled_events[0].period > 0;
  double percent = sysprof_percent (self->store->n_lost_samples, all);

  if (percent >= MANY_LOST)
    sysprof_findings_add (
        self,
        &(Finding){ .kind = "lost",
                    .share = percent / 100,
                    .remedy = has_period
                                  ? "Record fewer: --event NAME:PERIOD with a larger period."
                                  : "Lower sysprof-cli --frequency to lose fewer." },
        "%.1f %% of samples were lost.", percent);
}

/* Symbols that were not resolved, while recording or now. */
static void
find_skipped_files (Findings *self)
{
  const Metadata *row =
      sysprof_store_find_metadata (self->store, "org.gnome.sysprof.lacks.symbols", NULL);
  uint32_t n = 0;

  for (uint32_t i = 0; i < self->symbols->n_gaps; i++)
    n += self->symbols->gap[i].kind == DEBUG_GAP_SKIPPED;
  if (row != NULL)
    sysprof_findings_add (self, &(Finding){ .kind = "unnamed", .view = "quality" },
                          "Some functions have no names: %s.",
                          sysprof_store_string (self->store, row->value));
  else if (n > 0)
    sysprof_findings_add (self, &(Finding){ .kind = "unnamed", .view = "quality" },
                          "Some functions may have no names: %u file%s of other users skipped.",
                          n, n == 1 ? " was" : "s were");
}

void
sysprof_find_quality (Findings *self)
{
  find_truncated (self);
  find_unnamed (self);
  find_lost (self);
  find_skipped_files (self);
}
