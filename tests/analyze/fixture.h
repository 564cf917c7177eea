// SPDX-License-Identifier: GPL-3.0-or-later

/* Stores and symbols for the tests of analyze, made by hand and at random.
 *
 * The inputs stay readable as plain samples, so that a test can compute its expected result in
 * the simplest way. */

#pragma once

#include "analyze/analyze.h"

typedef struct
{
  int64_t time;
  ProcessId process;
  int32_t tid;
  int16_t cpu;
  uint64_t weight;
  AddressId *addresses; /* [n] outermost first */
  uint32_t n;
} PlainSample;

typedef struct
{
  Store store;
  SymbolTable symbols;
  GArray *samples;   /* PlainSample, by time */
  GArray *processes; /* Process */
  GArray *rows;      /* Symbol */
  GArray *addresses; /* FixtureAddress */
  bool is_weighted;
} Fixture;

void fixture_init (Fixture *self);
ProcessId fixture_add_process (Fixture *self, int32_t pid, const char *comm);
SymbolId
fixture_add_symbol (Fixture *self, const char *name, const char *binary, SymbolKind kind);
AddressId fixture_add_address (Fixture *self, SymbolId symbol, AddressKind kind);
void fixture_add_sample (Fixture *self, PlainSample sample);
/* Text: "main a b_[k]": functions of the binary "app", outermost first, each made on first sight; a name that ends
 * in _[k] is the kernel's, "[kernel]". An address per function. */
void fixture_add_stack (Fixture *self,
                        ProcessId process,
                        int32_t tid,
                        const char *text,
                        uint64_t weight);
/* Fills `store` and `symbols`; nothing is added afterwards. */
void fixture_finish (Fixture *self);
void fixture_clear (Fixture *self);

SymbolId fixture_find_symbol (const Fixture *self, const char *name);

/* A few processes, threads, CPUs and functions; recursion, kernel parts, empty stacks, equal
 * names in several binaries. For every second seed some functions are inlined; the store
 * receives these chains after its stacks. */
void fixture_init_random (Fixture *self, uint32_t seed);
