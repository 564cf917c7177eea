// SPDX-License-Identifier: GPL-3.0-or-later

/* symbolize: resolves each distinct code address once, by querying a chain of symbolizers in
 * batches.
 *
 *   SymbolizeOptions options = { 0 };                            // default chain, see below
 *   g_autoptr(SymbolTable) symbols = sysprof_symbolize (store, &options, NULL, &error);
 *   SymbolId s = symbols->of_address[address];
 *   … symbols->row[s].name …
 *
 * Default chain: embedded symbol table, kernel symbols, JIT names, ELF files, debuginfod. The
 * first answer is used. If there is none, the address gets a separate symbol and a reason. Its
 * name is "[libfoo.so:0x1234]" if the start of its function is known, else
 * "[libfoo.so+0x1234]". The number is a link-time address if the file could be read, else a
 * file offset. A stub that jumps to the function NAME of another file is named "NAME@plt".
 *
 * The table is *frozen* once it is returned. */

#pragma once

#include "locate/locate.h"
#include "store/store.h"
#include "util/pinned-files.h"

typedef uint32_t SymbolId;

typedef enum
{
  SYMBOL_NONE,
  SYMBOL_USER,
  SYMBOL_KERNEL,
  SYMBOL_INLINE,
  SYMBOL_JIT,
  SYMBOL_PROCESS,
  SYMBOL_THREAD,
  SYMBOL_ROOT,
  SYMBOL_DATA,   /* of ADDRESS_DATA */
  SYMBOL_MARKER, /* context switches, and the entries that mark truncated stacks */
} SymbolKind;

/* An entry that marks a truncated stack is named: this prefix, the code of the reason, "]". */
#define SYMBOL_TRUNCATED_PREFIX "[stack truncated: "
#define SYMBOL_CUT_PREFIX       "[stack cut: " /* the same in older captures */

/* "user", "kernel", … as in JSON reports. */
const char *sysprof_symbol_kind_to_string (SymbolKind kind);

/* Why an address has no name. */
typedef enum
{
  UNNAMED_NOT,          /* it has a name */
  UNNAMED_NO_MAPPING,   /* the process had no mapping there */
  UNNAMED_ANONYMOUS,    /* memory without a file: generated code */
  UNNAMED_FILE_MISSING, /* no such file on this machine */
  UNNAMED_FILE_DENIED,  /* permission denied, timeout or I/O error */
  UNNAMED_OTHER_INODE,  /* the file was replaced after the recording */
  UNNAMED_OTHER_BUILD_ID,
  UNNAMED_NOT_ELF,         /* or a malformed ELF file */
  UNNAMED_NO_SYMBOLS,      /* stripped */
  UNNAMED_BETWEEN_SYMBOLS, /* in a static function of a stripped file, or in padding */
  UNNAMED_NO_KERNEL_SYMBOLS,
  UNNAMED_OTHER_DEBUG_FILE, /* stripped, and the debug file found is from another build */
  /* likewise, but the debug file could not be read (DEBUG_GAP_FAILED) */
  UNNAMED_DEBUG_FILE_FAILED,
  UNNAMED_OVER_LIMIT, /* its symbol table, or that of its debug file, exceeds the limit */
  /* symbols are hidden, and the vmlinux found is from another build */
  UNNAMED_OTHER_KERNEL_FILE,
  /* captures were joined that do not record which address belongs to which kernel */
  UNNAMED_MIXED_KERNELS,
  /* the kernel's vmlinux was found, but the kernel's load address is unknown */
  UNNAMED_KERNEL_MOVED,
  /* not looked up: the budget for untrusted files is used up, or the search was interrupted */
  UNNAMED_SKIPPED,
  N_UNNAMED,
} UnnamedReason;

/* Return one short clause, such as "stripped: it has no symbol table", and what the user can do
 * about it; "" if nothing. */
const char *sysprof_unnamed_reason_to_string (UnnamedReason reason);
const char *sysprof_unnamed_reason_remedy (UnnamedReason reason);

typedef struct
{
  StringId name;     /* plain and demangled, in SymbolTable.strings; 0 only in row 0 */
  StringId raw_name; /* as in the file; 0 = the same */
  StringId binary;   /* base name of the file: "libc.so.6", "[kernel]", "[module]"; 0 = none */
  StringId path;     /* of the file as the process sees it; 0 = none */
  StringId file;     /* where the function is defined, path at compile time; 0 = unknown */
  uint32_t line;     /* 0 = unknown */
  uint8_t kind;      /* SymbolKind */
  uint8_t reason;    /* UnnamedReason */
  bool is_entry; /* a process or thread starts in it (_start, start_thread, ret_from_fork, …) */
  /* set for all symbols of kind SYMBOL_INLINE; inlined kernel functions have the kernel's
   * kind */
  bool is_inlined;
} Symbol;

/* Why lines, inlined functions or names from debug information are incomplete. */
typedef enum
{
  DEBUG_GAP_NO_SUPPLEMENT,    /* dwz moved names to a file that is missing, */
  DEBUG_GAP_OTHER_SUPPLEMENT, /* or that is from another build */
  DEBUG_GAP_NO_SPLIT,         /* split units are missing (.dwo, .dwp), */
  DEBUG_GAP_OTHER_SPLIT,      /* or are from another build */
  DEBUG_GAP_OVER_LIMIT,       /* a file's debug information exceeds the limit */
  /* one of its files could not be read, exceeded a limit, or crashed the parser; names may be
   * missing, too */
  DEBUG_GAP_FAILED,
  /* the budget for files of untrusted owners is used up; names may be missing, too */
  DEBUG_GAP_SKIPPED,
  /* files of kernel modules were not looked for; names may be missing, too */
  DEBUG_GAP_MODULES_LEFT_OUT,
  N_DEBUG_GAPS,
} DebugGapKind;

typedef struct
{
  StringId binary;
  StringId what; /* name of one of the missing files, as the binary refers to it */
  uint32_t n;    /* number of missing files */
  uint8_t kind;  /* DebugGapKind */
} DebugGap;

/* Return one short clause about `n` files, and what the user can do about it. */
const char *sysprof_debug_gap_to_string (DebugGapKind kind);
const char *sysprof_debug_gap_remedy (DebugGapKind kind);

typedef struct SymbolTable
{
  Symbol *row; /* [n] row 0 is unused; (name, binary, kind, is_inlined) is unique */
  uint32_t n;
  SymbolId *of_address; /* [store->addresses.n] */
  /* [store->addresses.n] start of the function, as in AddressTable.address; 0 = unknown */
  uint64_t *function_start;
  uint64_t *function_end; /* [store->addresses.n] exclusive; 0 = unknown */
  /* [store->addresses.n] source file of the address, path at compile time; 0 = unknown. NULL:
   * lines were not loaded */
  StringId *file;
  /* [store->addresses.n] likewise; for the caller of an inlined function, the line of the
   * call */
  uint32_t *line;
  DebugGap *gap; /* [n_gaps] */
  uint32_t n_gaps;
  bool is_interrupted; /* the search was canceled; see `keep_found` */
  Intern strings;
  /* [n] or NULL: not computed yet. Set once and atomically: analyze/categories/categories.h */
  uint8_t *categories;
} SymbolTable;

/* The symbolizers of the chain. */
typedef enum
{
  SYMBOLIZER_BUNDLED,
  SYMBOLIZER_KERNEL,
  SYMBOLIZER_JIT,
  SYMBOLIZER_ELF,
  SYMBOLIZER_DEBUGINFOD, /* for files in which the ELF symbolizer found no names */
} SymbolizerKind;
#define N_SYMBOLIZERS (SYMBOLIZER_DEBUGINFOD + 1)

typedef struct
{
  bool no_symbols;              /* resolve no names */
  uint8_t chain[N_SYMBOLIZERS]; /* [n_chain] SymbolizerKind; queried in this order */
  uint8_t n_chain;              /* 0 = all, in the order of the enumeration */
  /* like /proc/kallsyms, used instead of the list in the capture or of this kernel; or NULL */
  GBytes *kernel_symbols;
  /* additional directories like /usr/lib/debug; NULL-terminated or NULL */
  const char *const *debug_dirs;
  const char *const *inner_debug_dirs; /* likewise, as seen by the process of the file */
  const char *sysroot;                 /* look for files below this directory; NULL = "/" */
  /* files that are still open, used if none is found at their path; or NULL */
  const PinnedFiles *pinned_files;
  /* the child that parses ELF files gives up its privileges (started as root) */
  bool use_sandbox;
  bool no_cache;      /* query files again, and do not cache their answers */
  FileBudget *budget; /* borrowed, for files of untrusted owners; NULL = that of the store */
  /* if canceled, return the names found so far; addresses that were not looked up are
   * UNNAMED_SKIPPED */
  bool keep_found;
  bool ignore_bundled; /* do not read `__symbols__` */
  /* for the loader of documents: resolve lines and inlined functions, too */
  bool with_lines;
  bool ask_debuginfod; /* ask servers, not only their cache; waits at most one minute */
  /* queue the files instead of waiting for servers; or NULL */
  DebuginfodQueue *debuginfod_queue;
  /* servers were asked before: use the cache, also with a sysroot, but ask no server */
  bool was_asked_debuginfod;
  DebuginfodFunc tell_debuginfod; /* or NULL */
  void *tell_debuginfod_data;
} SymbolizeOptions;

SymbolTable *sysprof_symbolize (Store *store,
                                const SymbolizeOptions *options, /* NULL = defaults */
                                GCancellable *cancellable,
                                GError **error);
/* Likewise, with a progress report. */
SymbolTable *sysprof_symbolize_telling (Store *store,
                                        const SymbolizeOptions *options,
                                        Progress *progress,
                                        GError **error);
/* Adds lines and inlined functions from the debug information of files on this machine; this
 * takes longer than names. Inlined functions become entries in the stacks of the store, so no
 * other thread may use the store yet. Returns FALSE if canceled. */
bool sysprof_symbol_table_load_lines (SymbolTable *self,
                                      Store *store,
                                      const SymbolizeOptions *options, /* NULL = defaults */
                                      Progress *progress,
                                      GError **error);
SymbolTable *sysprof_symbol_table_ref (SymbolTable *self);
void sysprof_symbol_table_unref (SymbolTable *self);

/* --- machine code --- */

typedef struct
{
  uint64_t offset;  /* in the file */
  uint64_t address; /* link-time */
  StringId text;    /* these in Disassembly.strings; mnemonic and operands */
  StringId bytes;   /* "48 89 e5" */
  StringId inlined; /* the innermost inlined function that it belongs to; 0 = none */
  StringId file;    /* source file of the instruction, path at compile time; 0 = unknown */
  uint32_t line;
  uint32_t size;
  /* belongs to a requested function, and not only to a function into which a requested one is
   * inlined */
  bool is_wanted;
} Instruction;

/* The code of one function in one file, independent of the processes that mapped it; or a
 * separate part of the function. */
typedef struct
{
  SymbolId symbol;
  const char *path;     /* of the file, as processes see it; valid as long as the store */
  const char *build_id; /* likewise; "" = unknown */
  uint64_t inode;       /* 0 = unknown */
  uint64_t start;       /* offsets in the file; the end is 0 if unknown */
  uint64_t end;
  /* all offsets, including those of the instructions, are addresses in the process instead */
  bool is_in_memory;
  bool is_of_kernel;
  uint32_t first; /* index of the first Instruction */
  uint32_t n;
  const char *problem; /* why there are no instructions: a clause; NULL = there are some */
  const char *remedy;  /* a sentence, "" = none */
} CodePiece;

#define MOST_CODE_OF_PIECE (UINT64_C (1) << 20) /* bytes; the rest is omitted */
#define MOST_PIECES        256

typedef struct
{
  CodePiece *piece; /* [n_pieces] */
  uint32_t n_pieces;
  Instruction *row; /* [n] grouped by piece, ascending */
  uint32_t n;
  /* [store->addresses.n] 1 + the piece that contains the address; 0 = none */
  uint32_t *piece_of;
  bool is_cut; /* some pieces were omitted */
  Intern strings;
} Disassembly;

/* Disassembles the functions at the addresses `is_at` [store->addresses.n]. Files are located
 * as for names, and read by a child without privileges. Generated code is read from jitdump
 * files. `is_wanted` [symbols->n] marks the requested functions, which may be inlined. Returns
 * FALSE if there is no disassembler, or if canceled. */
bool sysprof_disassemble (Disassembly *self,
                          Store *store,
                          const SymbolTable *symbols,
                          const SymbolizeOptions *options, /* NULL = defaults */
                          const bool *is_at,
                          const bool *is_wanted,
                          GCancellable *cancellable,
                          GError **error);
void sysprof_disassembly_clear (Disassembly *self);
/* Returns the instruction that is the given number of bytes before the address, in the same
 * piece; NULL = none. */
const Instruction *sysprof_disassembly_find (const Disassembly *self,
                                             const Store *store,
                                             AddressId address,
                                             uint64_t before);

/* Limits of the search for the files of kernel modules: number of sampled sections, and total
 * time. */
#define MOST_MODULE_SECTIONS 4096
#define MOST_MODULE_SECONDS  10

/* --- sources --- */

typedef struct
{
  /* The request; borrowed. */
  const char *path;           /* path at compile time */
  const AddressId *addresses; /* [n_addresses] some of its code, all in one binary */
  uint32_t n_addresses;
  /* The result. */
  char *text;       /* [size], followed by a NUL; NULL = not found */
  size_t size;      /* at most MOST_SOURCE_SIZE */
  int error;        /* errno if there is no text; 0 = there was no path to try */
  bool is_newer;    /* it was changed after the program was compiled, or recorded */
  bool is_fetched;  /* from a debuginfod server, or its cache */
  bool is_left_out; /* it was not looked for: a limit on the number or the time was reached */
} SourceFile;

#define MOST_SOURCES        4096 /* in one call */
#define MOST_SOURCE_SECONDS 10   /* time limit on this machine */

/* Reads the source files that can be found: below --sysroot; else where the processes of these
 * addresses saw them, then on this machine; else from debuginfod, as the options permit. In
 * `files` only the request is set; the rest is zero. */
void sysprof_source_files_read (SourceFile *files, /* [n] */
                                uint32_t n,
                                Store *store,
                                const SymbolTable *symbols,
                                const SymbolizeOptions *options, /* NULL = defaults */
                                GCancellable *cancellable);
void sysprof_source_file_clear (SourceFile *self);

static inline const char *
sysprof_symbol_name (const SymbolTable *self, SymbolId symbol)
{
  return sysprof_intern_get (&self->strings, self->row[symbol].name);
}

static inline const char *
sysprof_symbol_binary (const SymbolTable *self, SymbolId symbol)
{
  return sysprof_intern_get (&self->strings, self->row[symbol].binary);
}

/* Returns the table of capture-format.md 10 for all resolved addresses of the store, in this
 * machine's byte order: the embedded file `__symbols__`. If the thread's cancellable was
 * canceled the result is incomplete: check sysprof_is_wanted(). */
GBytes *sysprof_symbol_table_pack (const SymbolTable *self, const Store *store);

/* Returns the embedded file `__unnamed__`, for data that does not fit into `__symbols__`: the
 * user addresses without a name, the reason, their link-time address, and whether a process or
 * thread starts there. One line each, `PID ADDRESS LINK-TIME-ADDRESS REASON [entry]`. NULL if
 * there are none. */
GBytes *sysprof_symbol_table_pack_unnamed (const SymbolTable *self, const Store *store);

/* Returns the embedded file `__lines__`: lines and inlined functions of resolved addresses,
 * from the debug information of files on this machine. NULL if there are none. Takes longer
 * than names. */
GBytes *sysprof_symbol_table_pack_lines (SymbolTable *self,
                                         Store *store,
                                         const SymbolizeOptions *options,
                                         GCancellable *cancellable);

/* Returns the embedded file `/proc/kallsyms`: the lines that the samples need, each with the
 * line that gives its end. Borrowed; NULL if the list was not used. */
GBytes *sysprof_symbol_table_get_kallsyms (const SymbolTable *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SymbolTable, sysprof_symbol_table_unref)
