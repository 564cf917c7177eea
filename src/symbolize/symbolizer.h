// SPDX-License-Identifier: GPL-3.0-or-later

/* The interface of a symbolizer: a file that resolves those addresses of its kind that the
 * previous ones in the chain did not resolve. The chain is a table in chain.c. Everything
 * in this file is *owned* by the thread that calls sysprof_symbolize(). */

#pragma once

#include "symbolize/symbolize.h"

#include <string.h>

typedef struct
{
  Store *store;
  const SymbolizeOptions *options;
  Progress *progress;
  SymbolTable *table;
  /* recorded on this machine during this boot: its processes and kernel may be queried */
  bool is_this_boot;
  /* the capture states that it was recorded on another machine, or during another boot */
  bool is_elsewhere;
  /* the capture contains kernel symbols: the running kernel is never queried */
  bool has_kernel_names;
  bool has_bundled_names; /* the capture contains all names that its recorder found */

  /* For addresses without a name. [store->addresses.n] each. */
  uint8_t *reason;        /* UnnamedReason; UNNAMED_NOT = no reason known yet */
  uint64_t *link_address; /* as in a disassembly of the file; 0 = unknown */
  uint8_t *is_entry;
  /* the capture contains the reason, so files missing on this machine do not change it */
  uint8_t *is_told;
  FileBudget *budget; /* borrowed: limits the work for files of untrusted owners */
  GArray *wanted;     /* of WantedFile: files with unnamed functions */
  /* build ID of the kernel, if some functions have no name and its file is missing; or empty */
  char wanted_kernel[BUILD_ID_TEXT_SIZE];
  GArray *wanted_modules; /* of WantedModule: likewise for kernel modules; each build ID once */
  bool is_interrupted; /* the search for names was canceled, and names found before are kept */
  const struct SymbolRequest *request; /* what is looked up (request.h) */
  struct LineCollection *lines;        /* for the request for lines (lines.h) */
  /* for the request for code (code.h), which does not change the table */
  struct CodeCollection *code;
} Symbolization;

/* `table` is borrowed. */
void sysprof_symbolization_init (Symbolization *self,
                                 const struct SymbolRequest *request,
                                 Store *store,
                                 const SymbolizeOptions *options,
                                 Progress *progress,
                                 SymbolTable *table);
void sysprof_symbolization_clear (Symbolization *self);

/* What the search for files needs to know. */
LocateOptions sysprof_symbolization_locate_options (const Symbolization *self);

/* Returns NULL if the capture does not contain the key. */
const char *sysprof_symbolization_find_metadata (const Symbolization *self, const char *key);

typedef struct
{
  const char *name;
  /* Returns FALSE only with `error` set: canceled, or a file embedded in the capture cannot be
   * read. */
  bool (*resolve) (Symbolization *self, GError **error);
} Symbolizer;

extern const Symbolizer sysprof_bundled_symbolizer;
extern const Symbolizer sysprof_kallsyms_symbolizer;
extern const Symbolizer sysprof_jitmap_symbolizer;
extern const Symbolizer sysprof_elf_symbolizer;
extern const Symbolizer sysprof_debuginfod_symbolizer;

/* For loops over addresses: whether to continue with this one. */
static inline bool
sysprof_symbolization_goes_on (const Symbolization *self, AddressId address)
{
  return address % 0x400 != 0 ||
         sysprof_progress_at (self->progress, address, self->store->addresses.n);
}

/* A symbol for one address. The texts are borrowed and may contain any bytes; they are made
 * printable. */
typedef struct
{
  const char *name;     /* demangled */
  const char *raw_name; /* as in the file, or NULL */
  const char *binary;   /* base name, or NULL */
  const char *path;     /* or NULL */
  SymbolKind kind;
  uint64_t start; /* of the function, as in AddressTable.address; 0 = unknown */
  uint64_t end;
  bool is_entry;
} SymbolAnswer;

/* Returns the symbol; 0 if the name is empty. */
SymbolId
sysprof_symbolization_name (Symbolization *self, AddressId address, const SymbolAnswer *answer);

/* Likewise, for another address of a function that was added before. */
void sysprof_symbolization_name_again (Symbolization *self,
                                       AddressId address,
                                       SymbolId symbol,
                                       uint64_t start,
                                       uint64_t end);

/* What is known about an address without a name. */
typedef struct
{
  UnnamedReason reason;
  uint64_t link_address; /* 0 = unknown */
  /* of the function, according to the call-frame information, as in AddressTable.address; 0 =
   * unknown */
  uint64_t start;
  uint64_t end;
  bool is_entry;
} UnnamedAnswer;

/* The kind of symbols at such addresses. */
SymbolKind sysprof_default_symbol_kind (AddressKind kind);

/* Stores why there is no name, unless the capture contains the reason. */
void sysprof_symbolization_explain (Symbolization *self,
                                    AddressId address,
                                    const UnnamedAnswer *answer);

/* Notes that debug information of the file with that path (as processes see it) is missing, if
 * the request reports it; `what` is untrusted. */
void sysprof_symbolization_note_gap (const Symbolization *self,
                                     const char *path,
                                     DebugGapKind kind,
                                     uint32_t n,
                                     const char *what);

/* Returns the binary of a path as shown in stacks; a path that ends in a slash is returned
 * unchanged. */
static inline const char *
sysprof_symbolize_base_name (const char *path)
{
  const char *slash = strrchr (path, '/');

  return slash != NULL && slash[1] != 0 ? slash + 1 : path;
}

/* Whether the process has its own code or data there. */
static inline bool
sysprof_symbolization_is_user (const Symbolization *self, AddressId address)
{
  uint8_t kind = self->store->addresses.kind[address];

  return kind == ADDRESS_USER || kind == ADDRESS_DATA;
}

static inline bool
sysprof_symbolization_is_open (const Symbolization *self, AddressId address)
{
  return self->table->of_address[address] == 0;
}

/* Returns the address to look up: a return address is after the call, which may already be in
 * another function. */
static inline uint64_t
sysprof_symbolization_lookup_address (const Symbolization *self, AddressId address)
{
  const AddressTable *addresses = &self->store->addresses;

  return addresses->address[address] - (addresses->is_return[address] != 0);
}

/* Whether this is the name of a function in which processes or threads start. */
bool sysprof_symbol_name_is_entry (const char *name, SymbolKind kind);
