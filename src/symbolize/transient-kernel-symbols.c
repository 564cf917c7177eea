// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads lines `ADDRESS SIZE BEGIN END NAME` (docs/format.md), each for code that was at an
 * address during a time. The kernel soon reuses the memory of unloaded code. An address has
 * only one row in the store, independent of time. So the times at which the address was sampled
 * decide. If they match several pieces of code, the symbol contains the names of all of
 * them. */

#include "symbolize/transient-kernel-symbols.h"

#include <inttypes.h>

#define PASSING_CODE_FILE "__ksymbols__"
#define MOST_LIVES        (1u << 20)
/* limit on the candidates for one address */
#define MOST_AT_ONE_PLACE 16
#define SLACK             (100 * G_GINT64_CONSTANT (1000000)) /* ns */
#define MOST_NAMES_OF_ONE 4
#define LINES_BETWEEN     0x4000 /* between two checks for cancelation */

typedef struct
{
  uint64_t start;
  uint64_t end;
  uint64_t most_end; /* maximum of `end` up to and including this entry */
  int64_t begin;     /* ns */
  int64_t until;
  Text name;
} SymbolLifetime;

/* The first and last time an address was sampled, at least 0; never sampled: first > last. */
typedef struct
{
  int64_t first;
  int64_t last;
} Span;

typedef struct
{
  Symbolization *symbolization;
  SymbolLifetime *lifetime; /* [n] sorted by start, then time */
  uint32_t n;
  Span *span; /* [addresses.n] NULL = not computed yet */
} TransientKernelSymbols;

typedef struct
{
  const SymbolLifetime *lifetime[MOST_AT_ONE_PLACE];
  unsigned n;
} Candidates;

static bool
parse_line (Text line, SymbolLifetime *lifetime)
{
  uint64_t size, begin, end;

  if (!sysprof_text_hex (&line, &lifetime->start) || !sysprof_text_skip (&line, " ") ||
      !sysprof_text_hex (&line, &size) || !sysprof_text_skip (&line, " ") ||
      !sysprof_text_u64 (&line, &begin) || !sysprof_text_skip (&line, " ") ||
      !sysprof_text_u64 (&line, &end) || !sysprof_text_skip (&line, " ") ||
      __builtin_add_overflow (lifetime->start, size, &lifetime->end))
    return false;

  lifetime->begin = (int64_t) MIN (begin, (uint64_t) INT64_MAX);
  lifetime->until = end == 0 ? INT64_MAX : (int64_t) MIN (end, (uint64_t) INT64_MAX);
  lifetime->name = line;
  return size > 0 && sysprof_text_size (line) > 0;
}

static int
compare_lives (const void *a, const void *b, void *data)
{
  const SymbolLifetime *left = a, *right = b;

  if (left->start != right->start)
    return left->start < right->start ? -1 : 1;
  return (left->begin > right->begin) - (left->begin < right->begin);
}

static void
load_lives (TransientKernelSymbols *self, Text text, Progress *progress)
{
  GArray *lifetimes = g_array_new (FALSE, FALSE, sizeof (SymbolLifetime));
  uint64_t most_end = 0;
  Text line;

  while (lifetimes->len < MOST_LIVES && sysprof_text_next_line (&text, &line))
    {
      SymbolLifetime lifetime = { 0 };

      if (lifetimes->len % LINES_BETWEEN == 0 && sysprof_progress_is_cancelled (progress))
        break;
      if (parse_line (line, &lifetime))
        g_array_append_val (lifetimes, lifetime);
    }
  self->n = lifetimes->len;
  self->lifetime = (SymbolLifetime *) (void *) g_array_free (lifetimes, FALSE);
  (void) sysprof_progress_sort (progress, self->lifetime, self->n, sizeof *self->lifetime,
                                compare_lives, NULL); /* the caller checks for cancelation */
  for (uint32_t i = 0; i < self->n; i++)
    self->lifetime[i].most_end = most_end = MAX (most_end, self->lifetime[i].end);
}

static void
find_candidates (const TransientKernelSymbols *self, uint64_t address, Candidates *found)
{
  uint32_t low = 0, n_seen = 0;

  for (uint32_t high = self->n; low < high;)
    {
      uint32_t middle = low + (high - low) / 2;

      if (self->lifetime[middle].start <= address)
        low = middle + 1;
      else
        high = middle;
    }
  found->n = 0;
  for (uint32_t i = low;
       i-- > 0 && self->lifetime[i].most_end > address && n_seen < MOST_AT_ONE_PLACE; n_seen++)
    if (self->lifetime[i].end > address)
      found->lifetime[found->n++] = &self->lifetime[i];
}

static bool
is_same_name (const SymbolLifetime *left, const SymbolLifetime *right)
{
  size_t size = sysprof_text_size (left->name);

  return size == sysprof_text_size (right->name) &&
         memcmp (left->name.at, right->name.at, size) == 0;
}

static void
sort_by_time (Candidates *candidates)
{
  for (unsigned i = 1; i < candidates->n; i++)
    for (unsigned k = i;
         k > 0 && candidates->lifetime[k]->begin < candidates->lifetime[k - 1]->begin; k--)
      {
        const SymbolLifetime *later = candidates->lifetime[k - 1];

        candidates->lifetime[k - 1] = candidates->lifetime[k];
        candidates->lifetime[k] = later;
      }
}

static void
extend (Span *span, Span other)
{
  span->first = MIN (span->first, other.first);
  span->last = MAX (span->last, other.last);
}

/* A caller is active while its callee runs, so the span of a stack includes those of its
 * callees. */
static void
find_spans (TransientKernelSymbols *self)
{
  const Store *store = self->symbolization->store;
  const StackTree *stacks = &store->stacks;
  g_autofree Span *of_stack = g_new (Span, MAX (stacks->n, 1));

  self->span = g_new (Span, MAX (store->addresses.n, 1));
  for (AddressId address = 0; address < store->addresses.n; address++)
    self->span[address] = (Span){ INT64_MAX, INT64_MIN };
  for (StackId stack = 0; stack < stacks->n; stack++)
    of_stack[stack] = (Span){ INT64_MAX, INT64_MIN };
  for (uint32_t i = 0; i < store->samples.n; i++)
    extend (&of_stack[store->samples.stack[i]],
            (Span){ store->samples.time[i], store->samples.time[i] });
  for (StackId stack = stacks->n; stack-- > 0;)
    {
      extend (&self->span[stacks->address[stack]], of_stack[stack]);
      extend (&of_stack[stacks->parent[stack]], of_stack[stack]);
    }
}

static const char *
binary_of (const char *name)
{
  if (g_str_has_prefix (name, "bpf_"))
    return "[bpf]";
  if (g_str_has_prefix (name, "ftrace_"))
    return "[__builtin__ftrace]";
  return g_str_has_prefix (name, "kprobe") ? "[__builtin__kprobes]" : "[kernel]";
}

/* Joins the names of the candidates that existed at the time, without duplicates. */
static char *
dup_names (const Candidates *candidates, Span span)
{
  GString *names = g_string_new (NULL);
  const SymbolLifetime *named[MOST_NAMES_OF_ONE];
  unsigned n = 0;

  for (unsigned i = 0; i < candidates->n && n < MOST_NAMES_OF_ONE; i++)
    {
      const SymbolLifetime *lifetime = candidates->lifetime[i];
      bool is_new = lifetime->begin <= span.last && lifetime->until >= span.first;

      for (unsigned k = 0; k < n && is_new; k++)
        is_new = !is_same_name (named[k], lifetime);
      if (!is_new)
        continue;
      if (n > 0)
        g_string_append (names, " or ");
      g_string_append_len (names, lifetime->name.at,
                           (gssize) sysprof_text_size (lifetime->name));
      named[n++] = lifetime;
    }
  return g_string_free (names, FALSE);
}

/* Code may still run for a moment after the kernel reports its removal, so the span has some
 * slack. If no candidate matches the time, as in joined captures, the address is left for other
 * symbolizers. */
static void
name_address (TransientKernelSymbols *self, AddressId address, Candidates *candidates)
{
  Symbolization *symbolization = self->symbolization;
  const SymbolLifetime *lifetime = candidates->lifetime[0];
  g_autofree char *name = NULL;
  Span span;

  if (self->span == NULL)
    find_spans (self);
  span = self->span[address];
  sort_by_time (candidates);
  name = dup_names (candidates, span);
  if (name[0] == '\0')
    {
      if (span.first > span.last) /* the stack has no samples */
        span = (Span){ INT64_MIN, INT64_MAX };
      else
        span.first = MAX (span.first, INT64_MIN + SLACK) - SLACK;
      g_free (name);
      name = dup_names (candidates, span);
    }
  if (name[0] == '\0')
    return;
  sysprof_symbolization_name (symbolization, address,
                              &(SymbolAnswer){
                                  .name = name,
                                  .raw_name = name,
                                  .binary = binary_of (name),
                                  .kind = SYMBOL_KERNEL,
                                  .start = lifetime->start,
                                  .end = lifetime->end,
                              });
}

void
sysprof_name_transient_kernel_symbols (Symbolization *symbolization)
{
  const AddressTable *addresses = &symbolization->store->addresses;
  TransientKernelSymbols self = { .symbolization = symbolization };
  g_autoptr (GBytes) bytes = NULL;
  Candidates candidates;
  const char *data;
  size_t size;

  bytes = sysprof_store_read_file_cancellable (symbolization->store, PASSING_CODE_FILE,
                                               symbolization->progress->cancellable, NULL);
  if (bytes == NULL)
    return;

  data = g_bytes_get_data (bytes, &size);
  load_lives (&self, (Text){ data, data + size }, symbolization->progress);
  for (AddressId address = 1;
       address < addresses->n && sysprof_symbolization_goes_on (symbolization, address);
       address++)
    {
      if (addresses->kind[address] != ADDRESS_KERNEL ||
          !sysprof_symbolization_is_open (symbolization, address))
        continue;
      find_candidates (&self, sysprof_symbolization_lookup_address (symbolization, address),
                       &candidates);
      if (candidates.n > 0)
        name_address (&self, address, &candidates);
    }
  g_free (self.lifetime);
  g_free (self.span);
}
