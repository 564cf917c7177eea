// SPDX-License-Identifier: GPL-3.0-or-later

/* What a symbolizer is: one file that names those addresses of its kind that nobody before it in the chain named.
 * The chain is the table in symbolizer.c. Everything here is *owned* by the thread that calls sysprof_symbolize(). */

#pragma once

#include "symbolize/symbolize.h"

#include <string.h>

#define SYMBOLIZER_BUILD_ID_SIZE 129 /* hex digits and a NUL */

typedef struct
{
  Store *store;
  const SymbolizeOptions *options;
  Progress *progress;
  SymbolTable *table;
  bool
      is_this_boot; /* recorded on this machine since it was started: its processes and kernel may be asked */
  bool
      is_elsewhere; /* it says that it was recorded on another machine, or before this one was started */
  bool has_kernel_names; /* the capture brings its own: the running kernel is never asked */

  /* About addresses without a name. [store->addresses.n] each. */
  uint8_t *reason;        /* UnnamedReason; UNNAMED_NOT = nobody said why yet */
  uint64_t *link_address; /* as the file's disassembly shows it; 0 = unknown */
  uint8_t *is_entry;
  uint8_t *
      is_told; /* the capture itself says so: what is missing here and now does not change it */
  FileBudget *budget; /* borrowed: limits the work for files of untrusted owners */
  GArray *wanted;     /* of WantedFile: files that lack names */
  char wanted_kernel
      [SYMBOLIZER_BUILD_ID_SIZE]; /* the build id of a kernel that lacks some and whose file is not here; or empty */
  GArray *
      wanted_modules; /* of WantedModule: modules of the kernel, likewise; each build id once */
  bool is_interrupted; /* the search for names was canceled, and what was found is kept */
  struct LineCollection *lines; /* NULL; else lines are looked for instead of names (lines.h) */
  struct CodeCollection *code;  /* NULL; else code is (code.h), and the table stays as it is */
} Symbolization;

/* `table` is borrowed. */
void sysprof_symbolization_init (Symbolization *self,
                                 Store *store,
                                 const SymbolizeOptions *options,
                                 Progress *progress,
                                 SymbolTable *table);
void sysprof_symbolization_clear (Symbolization *self);

/* NULL: the capture does not tell. */
const char *sysprof_symbolization_find_metadata (const Symbolization *self, const char *key);

typedef struct
{
  const char *name;
  /* FALSE only with `error` set: cancelled, or a file that the capture itself brought cannot be read. */
  bool (*resolve) (Symbolization *self, GError **error);
} Symbolizer;

extern const Symbolizer sysprof_bundled_symbolizer;
extern const Symbolizer sysprof_kallsyms_symbolizer;
extern const Symbolizer sysprof_jitmap_symbolizer;
extern const Symbolizer sysprof_elf_symbolizer;
extern const Symbolizer sysprof_debuginfod_symbolizer;

/* For loops over addresses: whether to go on with this one. */
static inline bool
sysprof_symbolization_goes_on (const Symbolization *self, AddressId address)
{
  return address % 0x400 != 0 ||
         sysprof_progress_at (self->progress, address, self->store->addresses.n);
}

/* A name for one address. Texts are borrowed and may hold any bytes; they are made printable. */
typedef struct
{
  const char *name;     /* demangled */
  const char *raw_name; /* as in the file, or NULL */
  const char *binary;   /* base name, or NULL */
  const char *path;     /* or NULL */
  SymbolKind kind;
  uint64_t start; /* of the function, in terms of AddressTable.address; 0 unknown */
  uint64_t end;
  bool is_entry;
} SymbolAnswer;

/* Returns the symbol; 0 where the name is empty. */
SymbolId
sysprof_symbolization_name (Symbolization *self, AddressId address, const SymbolAnswer *answer);

/* The same for one more address of a function that was named before. */
void sysprof_symbolization_name_again (Symbolization *self,
                                       AddressId address,
                                       SymbolId symbol,
                                       uint64_t start,
                                       uint64_t end);

/* What is known of an address without a name. */
typedef struct
{
  UnnamedReason reason;
  uint64_t link_address; /* 0 = unknown */
  uint64_t
      start; /* of the function, by the call-frame table, in terms of AddressTable.address; 0 = unknown */
  uint64_t end;
  bool is_entry;
} UnnamedAnswer;

/* Why there is no name, unless the capture told. */
void sysprof_symbolization_explain (Symbolization *self,
                                    AddressId address,
                                    const UnnamedAnswer *answer);

/* Notes what is lacking of the debug information of the file with that path (as processes see it); `what` is untrusted. */
void sysprof_symbolization_note_gap (const Symbolization *self,
                                     const char *path,
                                     DebugGapKind kind,
                                     uint32_t n,
                                     const char *what);

/* Of a path as stacks show their binary; a path that ends in a slash stays whole. */
static inline const char *
sysprof_symbolize_base_name (const char *path)
{
  const char *slash = strrchr (path, '/');

  return slash != NULL && slash[1] != 0 ? slash + 1 : path;
}

static inline bool
sysprof_symbolization_is_open (const Symbolization *self, AddressId address)
{
  return self->table->of_address[address] == 0;
}

/* The address to look up: a return address points behind the call, which may be another function. */
static inline uint64_t
sysprof_symbolization_lookup_address (const Symbolization *self, AddressId address)
{
  const AddressTable *addresses = &self->store->addresses;

  return addresses->address[address] - (addresses->is_return[address] != 0);
}

/* Is this the name of a function in which processes or threads begin? */
bool sysprof_symbol_name_is_entry (const char *name, SymbolKind kind);
