// SPDX-License-Identifier: GPL-3.0-or-later

/* Stores and symbols for the tests of analyze. See fixture.h. */

#include "fixture.h"

typedef struct
{
  SymbolId symbol;
  AddressKind kind;
} FixtureAddress;

void
fixture_init (Fixture *self)
{
  *self = (Fixture){
    .samples = g_array_new (FALSE, TRUE, sizeof (PlainSample)),
    .processes = g_array_new (FALSE, TRUE, sizeof (Process)),
    .rows = g_array_new (FALSE, TRUE, sizeof (Symbol)),
    .addresses = g_array_new (FALSE, TRUE, sizeof (FixtureAddress)),
  };
  sysprof_intern_init (&self->store.strings);
  sysprof_intern_init (&self->symbols.strings);
  g_array_set_size (self->processes, 1);
  g_array_set_size (self->rows, 1);
  g_array_set_size (self->addresses, 1);
}

ProcessId
fixture_add_process (Fixture *self, int32_t pid, const char *comm)
{
  Process process = { .pid = pid, .comm = sysprof_intern_string (&self->store.strings, comm) };

  process.command_line = process.comm;
  g_array_append_val (self->processes, process);
  return self->processes->len - 1;
}

SymbolId
fixture_add_symbol (Fixture *self, const char *name, const char *binary, SymbolKind kind)
{
  g_autofree char *path = g_strconcat ("/usr/lib/", binary, NULL);
  Symbol symbol = {
    .name = sysprof_intern_string (&self->symbols.strings, name),
    .binary = sysprof_intern_string (&self->symbols.strings, binary),
    .path = kind == SYMBOL_KERNEL ? 0 : sysprof_intern_string (&self->symbols.strings, path),
    .kind = (uint8_t) kind,
  };

  g_array_append_val (self->rows, symbol);
  return self->rows->len - 1;
}

AddressId
fixture_add_address (Fixture *self, SymbolId symbol, AddressKind kind)
{
  FixtureAddress address = { symbol, kind };

  g_array_append_val (self->addresses, address);
  return self->addresses->len - 1;
}

void
fixture_add_sample (Fixture *self, PlainSample sample)
{
  self->is_weighted |= sample.weight != 1;
  g_array_append_val (self->samples, sample);
}

static SymbolId
find_symbol (const GArray *rows, const Intern *strings, const char *name)
{
  for (SymbolId i = 1; i < rows->len; i++)
    if (g_str_equal (sysprof_intern_get (strings, g_array_index (rows, Symbol, i).name), name))
      return i;

  return 0;
}

static AddressId
address_of_function (Fixture *self, const char *name)
{
  bool is_kernel = g_str_has_suffix (name, "_[k]");
  SymbolId symbol = find_symbol (self->rows, &self->symbols.strings, name);

  if (symbol == 0)
    {
      symbol = fixture_add_symbol (self, name, is_kernel ? "[kernel]" : "app",
                                   is_kernel ? SYMBOL_KERNEL : SYMBOL_USER);
      return fixture_add_address (self, symbol, is_kernel ? ADDRESS_KERNEL : ADDRESS_USER);
    }

  for (AddressId i = 1; i < self->addresses->len; i++)
    if (g_array_index (self->addresses, FixtureAddress, i).symbol == symbol)
      return i;
  g_assert_not_reached ();
}

void
fixture_add_stack (Fixture *self,
                   ProcessId process,
                   int32_t tid,
                   const char *text,
                   uint64_t weight)
{
  g_auto (GStrv) names = text[0] != 0 ? g_strsplit (text, " ", -1) : g_new0 (char *, 1);
  PlainSample sample = {
    .time = self->samples->len,
    .process = process,
    .tid = tid,
    .weight = weight,
    .n = g_strv_length (names),
  };

  sample.addresses = g_new (AddressId, MAX (sample.n, 1));
  for (uint32_t i = 0; i < sample.n; i++)
    sample.addresses[i] = address_of_function (self, names[i]);
  fixture_add_sample (self, sample);
}

/* Stacks get ids in the order in which they are met, so a parent's is smaller. */
static void
fill_stacks (Fixture *self)
{
  g_autoptr (GHashTable) known =
      g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  GArray *parent = g_array_new (FALSE, TRUE, sizeof (StackId));
  GArray *address = g_array_new (FALSE, TRUE, sizeof (AddressId));
  GArray *depth = g_array_new (FALSE, TRUE, sizeof (uint16_t));
  StackEvents *events = &self->store.samples;

  g_array_set_size (parent, self->processes->len);
  g_array_set_size (address, self->processes->len);
  g_array_set_size (depth, self->processes->len);

  for (uint32_t i = 0; i < self->samples->len; i++)
    {
      const PlainSample *sample = &g_array_index (self->samples, PlainSample, i);
      StackId at = sample->process;

      for (uint32_t j = 0; j < sample->n; j++)
        {
          /* The hash of a number is its low half. */
          int64_t key = ((int64_t) sample->addresses[j] << 32) | at;
          StackId next = GPOINTER_TO_UINT (g_hash_table_lookup (known, &key));

          if (next == 0)
            {
              uint16_t level = (uint16_t) (j + 1);

              next = parent->len;
              g_array_append_val (parent, at);
              g_array_append_val (address, sample->addresses[j]);
              g_array_append_val (depth, level);
              g_hash_table_insert (known, g_memdup2 (&key, sizeof key),
                                   GUINT_TO_POINTER (next));
            }
          at = next;
        }

      events->time[i] = sample->time;
      events->pid[i] = self->store.processes.row[sample->process].pid;
      events->tid[i] = sample->tid;
      events->cpu[i] = sample->cpu;
      events->stack[i] = at;
      events->process[i] = sample->process;
      if (events->weight != NULL)
        events->weight[i] = (int64_t) sample->weight;
    }

  self->store.stacks.n = parent->len;
  self->store.stacks.parent = (StackId *) g_array_free (parent, FALSE);
  self->store.stacks.address = (AddressId *) g_array_free (address, FALSE);
  self->store.stacks.depth = (uint16_t *) g_array_free (depth, FALSE);
}

void
fixture_finish (Fixture *self)
{
  uint32_t n = self->samples->len;

  self->store.processes.n = self->processes->len;
  self->store.processes.row = (Process *) self->processes->data;
  self->symbols.n = self->rows->len;
  self->symbols.row = (Symbol *) self->rows->data;

  self->store.addresses.n = self->addresses->len;
  self->store.addresses.kind = g_new0 (uint8_t, self->addresses->len);
  self->store.addresses.mapping = g_new0 (MappingId, self->addresses->len);
  self->store.mappings = g_new0 (Mapping, 1);
  self->symbols.of_address = g_new0 (SymbolId, self->addresses->len);
  for (AddressId i = 0; i < self->addresses->len; i++)
    {
      const FixtureAddress *address = &g_array_index (self->addresses, FixtureAddress, i);

      self->store.addresses.kind[i] = (uint8_t) address->kind;
      self->symbols.of_address[i] = address->symbol;
    }

  self->store.samples = (StackEvents){
    .time = g_new0 (int64_t, MAX (n, 1)),
    .pid = g_new0 (int32_t, MAX (n, 1)),
    .tid = g_new0 (int32_t, MAX (n, 1)),
    .cpu = g_new0 (int16_t, MAX (n, 1)),
    .stack = g_new0 (StackId, MAX (n, 1)),
    .process = g_new0 (ProcessId, MAX (n, 1)),
    .weight = self->is_weighted ? g_new0 (int64_t, MAX (n, 1)) : NULL,
    .n = n,
  };
  fill_stacks (self);
}

void
fixture_clear (Fixture *self)
{
  for (uint32_t i = 0; i < self->samples->len; i++)
    g_free (g_array_index (self->samples, PlainSample, i).addresses);
  g_array_unref (self->samples);
  g_array_unref (self->processes);
  g_array_unref (self->rows);
  g_array_unref (self->addresses);
  g_free (self->store.addresses.kind);
  g_free (self->store.addresses.mapping);
  g_free (self->store.mappings);
  g_free (self->symbols.of_address);
  g_free (self->symbols.categories);
  g_free (self->store.samples.time);
  g_free (self->store.samples.pid);
  g_free (self->store.samples.tid);
  g_free (self->store.samples.cpu);
  g_free (self->store.samples.stack);
  g_free (self->store.samples.process);
  g_free (self->store.samples.weight);
  g_free (self->store.stacks.parent);
  g_free (self->store.stacks.address);
  g_free (self->store.stacks.depth);
  sysprof_intern_clear (&self->store.strings);
  sysprof_intern_clear (&self->symbols.strings);
  *self = (Fixture){ 0 };
}

SymbolId
fixture_find_symbol (const Fixture *self, const char *name)
{
  return find_symbol (self->rows, &self->symbols.strings, name);
}

static uint32_t
below (GRand *random, uint32_t n)
{
  return (uint32_t) g_rand_int_range (random, 0, (int32_t) n);
}

/* Walks at random over user functions, then perhaps over kernel ones. */
static void
add_random_sample (Fixture *self,
                   GRand *random,
                   int64_t time,
                   uint32_t n_user,
                   uint32_t n_kernel)
{
  uint32_t user_depth = below (random, 8) == 0 ? 0 : below (random, 12);
  uint32_t kernel_depth = below (random, 2) == 0 ? below (random, 5) : 0;
  PlainSample sample = {
    .time = time,
    .process = 1 + below (random, self->processes->len - 1),
    .cpu = (int16_t) ((int) below (random, 4) - 1),
    .weight = self->is_weighted ? below (random, 5) : 1,
    .n = user_depth + kernel_depth,
  };

  sample.tid = (int32_t) (sample.process * 10 + below (random, 3)) - 11;
  sample.addresses = g_new (AddressId, MAX (sample.n, 1));
  for (uint32_t i = 0; i < user_depth; i++)
    sample.addresses[i] = 1 + below (random, MIN (n_user, 2 + i));
  for (uint32_t i = 0; i < kernel_depth; i++)
    sample.addresses[user_depth + i] = 1 + n_user + below (random, n_kernel);
  g_array_append_val (self->samples, sample);
}

/* Each inlined call is one more address of the samples that have the one it is in. */
static void
insert_into_samples (Fixture *self, const uint16_t *n_inner, const AddressId *first)
{
  for (uint32_t i = 0; i < self->samples->len; i++)
    {
      PlainSample *sample = &g_array_index (self->samples, PlainSample, i);
      g_autoptr (GArray) addresses = g_array_new (FALSE, FALSE, sizeof (AddressId));

      for (uint32_t j = 0; j < sample->n; j++)
        {
          g_array_append_val (addresses, sample->addresses[j]);
          for (AddressId k = 0; k < n_inner[sample->addresses[j]]; k++)
            {
              AddressId inner = first[sample->addresses[j]] + k;

              g_array_append_val (addresses, inner);
            }
        }
      g_free (sample->addresses);
      sample->n = addresses->len;
      sample->addresses = g_memdup2 (addresses->data, MAX (sample->n, 1) * sizeof (AddressId));
    }
}

static void
inline_some (Fixture *self, GRand *random, SymbolId first_symbol, uint32_t n_symbols)
{
  uint32_t n = self->store.addresses.n, n_new = 0;
  g_autofree uint16_t *n_inner = g_new0 (uint16_t, n);
  g_autofree AddressId *first = g_new0 (AddressId, n);

  for (AddressId i = 1; i < n; i++)
    {
      first[i] = n + n_new;
      if (self->store.addresses.kind[i] == ADDRESS_USER)
        n_inner[i] = (uint16_t) below (random, 4);
      n_new += n_inner[i];
    }
  if (!sysprof_store_insert_inlined_calls (&self->store, n_inner))
    return;

  g_assert_cmpuint (self->store.addresses.n, ==, n + n_new);
  self->symbols.of_address = g_renew (SymbolId, self->symbols.of_address, n + n_new);
  for (AddressId i = n; i < n + n_new; i++)
    self->symbols.of_address[i] = first_symbol + below (random, n_symbols);
  insert_into_samples (self, n_inner, first);
}

void
fixture_init_random (Fixture *self, uint32_t seed)
{
  static const char *const comms[] = { "bash", "make", "gcc", "Xorg" };
  static const char *const names[] = { "main", "read", "Read_all", "g_free", "alloc", "x" };
  static const char *const binaries[] = { "libc.so.6", "app", "libglib.so" };
  g_autoptr (GRand) random = g_rand_new_with_seed (seed);
  uint32_t n_processes = 1 + below (random, 6);
  uint32_t n_user = 1 + below (random, 24);
  uint32_t n_kernel = 1 + below (random, 4);
  uint32_t n_samples = below (random, 300);
  SymbolId first_inlined;
  int64_t time = 1000;

  fixture_init (self);
  self->is_weighted = below (random, 2) == 0;

  for (uint32_t i = 0; i < n_processes; i++)
    fixture_add_process (self, (int32_t) i + 100, comms[below (random, G_N_ELEMENTS (comms))]);
  for (uint32_t i = 0; i < G_N_ELEMENTS (names); i++)
    for (uint32_t j = 0; j < G_N_ELEMENTS (binaries); j++)
      fixture_add_symbol (self, names[i], binaries[j], SYMBOL_USER);
  for (uint32_t i = 0; i < 3; i++)
    fixture_add_symbol (self,
                        i == 0   ? "read"
                        : i == 1 ? "do_idle"
                                 : "sys_read",
                        "[kernel]", SYMBOL_KERNEL);

  for (uint32_t i = 0; i < n_user; i++)
    fixture_add_address (self, 1 + below (random, 18), ADDRESS_USER);
  for (uint32_t i = 0; i < n_kernel; i++)
    fixture_add_address (self, 19 + below (random, 3), ADDRESS_KERNEL);
  for (uint32_t i = 0; i < n_samples; i++)
    add_random_sample (self, random, time += below (random, 3), n_user, n_kernel);
  first_inlined = fixture_add_symbol (self, "read_at", "app", SYMBOL_INLINE);
  fixture_add_symbol (self, "inlined", "app", SYMBOL_INLINE);
  fixture_add_symbol (self, "xx", "libglib.so", SYMBOL_INLINE);
  fixture_finish (self);
  if (seed % 2 != 0)
    inline_some (self, random, first_inlined, 3);
}
