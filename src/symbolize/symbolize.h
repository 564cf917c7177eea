// SPDX-License-Identifier: GPL-3.0-or-later

/* symbolize: names each distinct code address once, by asking a chain of symbolizers in batches.
 *
 *   SymbolizeOptions options = { 0 };                            // default chain, see below
 *   g_autoptr(SymbolTable) symbols = sysprof_symbolize (store, &options, NULL, &error);
 *   SymbolId s = symbols->of_address[address];
 *   … symbols->row[s].name …
 *
 * Default chain: bundled table, kernel symbols, JIT names, ELF files, debuginfod. The first answer wins. Where nobody
 * answers, the address gets a symbol of its own: "[libfoo.so:0x1234]" where the function is known that begins there, else
 * "[libfoo.so+0x1234]" (link-time address where the file
 * could be read, else file offset), with the reason why.
 *
 * The table is *frozen* once it is returned. */

#pragma once

#include "store/store.h"
#include "util/kept-files.h"

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
  SYMBOL_MARKER, /* context switches, and the entry under which a cut stack stands */
} SymbolKind;

/* The name of an entry under which a stack stands that was cut: this, the reason's code, "]". */
#define SYMBOL_CUT_PREFIX "[stack cut: "

/* "user", "kernel", … as in the JSON of reports. */
const char *sysprof_symbol_kind_to_string (SymbolKind kind);

/* Why an address has no name. */
typedef enum
{
  UNNAMED_NOT,          /* it has one */
  UNNAMED_NO_MAPPING,   /* the process mapped nothing there */
  UNNAMED_ANONYMOUS,    /* memory without a file: generated code */
  UNNAMED_FILE_MISSING, /* no such file on this machine */
  UNNAMED_FILE_DENIED,  /* may not be read */
  UNNAMED_OTHER_INODE,  /* the file was replaced since */
  UNNAMED_OTHER_BUILD_ID,
  UNNAMED_NOT_ELF,         /* or an ELF file that contradicts itself */
  UNNAMED_NO_SYMBOLS,      /* stripped */
  UNNAMED_BETWEEN_SYMBOLS, /* a static function of a stripped file, or padding */
  UNNAMED_NO_KERNEL_SYMBOLS,
  UNNAMED_OTHER_DEBUG_FILE,  /* stripped, and the debug file in its place is of another build */
  UNNAMED_DEBUG_FILE_FAILED, /* likewise, and it could not be read (DEBUG_GAP_FAILED) */
  UNNAMED_OVER_LIMIT, /* its symbols, or those of its debug file, are more than is read */
  UNNAMED_OTHER_KERNEL_FILE, /* as with hidden symbols, and the vmlinux here is of another build */
  UNNAMED_MIXED_KERNELS,     /* captures were joined that do not tell whose kernel is whose */
  UNNAMED_KERNEL_MOVED,      /* the kernel's vmlinux is here, but not where the kernel lay */
  UNNAMED_SKIPPED, /* not looked up: untrusted files used up their budget, or the search was interrupted */
  N_UNNAMED,
} UnnamedReason;

/* One short clause, e.g. "stripped: it has no symbol table". And what a person can do; "" if nothing. */
const char *sysprof_unnamed_reason_to_string (UnnamedReason reason);
const char *sysprof_unnamed_reason_remedy (UnnamedReason reason);

typedef struct
{
  StringId name;     /* bare and demangled, in SymbolTable.strings; never 0 but in row 0 */
  StringId raw_name; /* as in the file, 0 = the same */
  StringId binary;   /* base name of the file: "libc.so.6", "[kernel]", "[module]"; 0 = none */
  StringId path;     /* of the file as the process sees it; 0 = none */
  StringId file;     /* where the function is written, as it was compiled; 0 = unknown */
  uint32_t line;     /* 0 = unknown */
  uint8_t kind;      /* SymbolKind */
  uint8_t reason;    /* UnnamedReason */
  bool
      is_entry; /* where processes and threads begin (_start, start_thread, ret_from_fork, …) */
  bool is_inlined; /* as all of SYMBOL_INLINE are; of the kernel's, those have its kind */
} Symbol;

/* Why lines, inlined functions or names are not all that debug information says. */
typedef enum
{
  DEBUG_GAP_NO_SUPPLEMENT,    /* dwz moved names to a file that is not here, */
  DEBUG_GAP_OTHER_SUPPLEMENT, /* or is of another build */
  DEBUG_GAP_NO_SPLIT,         /* split units are not here (.dwo, .dwp), */
  DEBUG_GAP_OTHER_SPLIT,      /* or are of another build */
  DEBUG_GAP_OVER_LIMIT,       /* a file has more of it than is read */
  DEBUG_GAP_FAILED, /* a file of it could not be read, took too long or too much memory, or killed who read it: names may lack, too */
  DEBUG_GAP_SKIPPED, /* a file of an untrusted owner was not read: their budget is used up. Names may be missing, too */
  DEBUG_GAP_MODULES_LEFT_OUT, /* files of modules of the kernel were not looked for: names may lack, too */
  N_DEBUG_GAPS,
} DebugGapKind;

typedef struct
{
  StringId binary;
  StringId what; /* the file that is lacking, as it is named there; one of them */
  uint32_t n;    /* how many are */
  uint8_t kind;  /* DebugGapKind */
} DebugGap;

/* One short clause about `n` files, and what a person can do. */
const char *sysprof_debug_gap_to_string (DebugGapKind kind);
const char *sysprof_debug_gap_remedy (DebugGapKind kind);

typedef struct SymbolTable
{
  Symbol *row; /* [n] row 0 is none; (name, binary, kind, is_inlined) is unique */
  uint32_t n;
  SymbolId *of_address; /* [store->addresses.n] */
  uint64_t *
      function_start; /* [store->addresses.n] where the function begins, in terms of AddressTable.address; 0 unknown */
  uint64_t *function_end; /* [store->addresses.n] first address behind; 0 unknown */
  StringId *
      file; /* [store->addresses.n] where that was, as it was compiled; 0 = unknown. NULL: lines were not loaded */
  uint32_t *
      line; /* [store->addresses.n] likewise; of a function that calls an inlined one, the line of the call */
  DebugGap *gap; /* [n_gaps] */
  uint32_t n_gaps;
  bool is_interrupted; /* the search was canceled: `keep_found` */
  Intern strings;
  uint8_t *
      categories; /* [n] or NULL: not asked for yet. Set once and atomically: analyze/categories/categories.h */
} SymbolTable;

/* Who can be asked. */
typedef enum
{
  SYMBOLIZER_BUNDLED,
  SYMBOLIZER_KERNEL,
  SYMBOLIZER_JIT,
  SYMBOLIZER_ELF,
  SYMBOLIZER_DEBUGINFOD, /* for files that ELF found to lack names */
} SymbolizerKind;
#define N_SYMBOLIZERS (SYMBOLIZER_DEBUGINFOD + 1)

/* What came of asking debuginfod servers, until now. */
typedef struct
{
  uint32_t n_cached;        /* debug files that had come before: no server is asked for them */
  uint32_t n_known_missing; /* that no server had a while ago: the same */
  uint32_t n_asked;
  uint32_t n_done; /* of those asked for; each is one of the next four */
  uint32_t n_found;
  uint32_t n_not_found;
  uint32_t n_failed; /* no answer in time, or another than these */
  uint32_t n_too_large;
  uint32_t n_unfit; /* found or cached, and not what was asked for: not used */
  uint64_t bytes;
  double seconds;
  int first_error;    /* errno of one that failed, 0 = unknown */
  bool is_of_sources; /* source files were asked for, and not debug files */
  bool is_out_of_time;
  bool is_done;
  char *problem; /* why no server was asked, or NULL */
} DebuginfodStatus;

/* Called by the thread that symbolizes: now and then while servers are asked, and at the end. */
typedef void (*DebuginfodFunc) (const DebuginfodStatus *status, void *data);

/* Progress, or once it is done one sentence about it; NULL = nothing to tell. Free with g_free(). */
char *sysprof_debuginfod_describe (const DebuginfodStatus *status);

/* Files that servers are to be asked for later, so that nobody waits for them now: names that they bring come from the cache with the
 * next symbolization. *Owned* by one thread at a time. */
typedef struct DebuginfodQueue DebuginfodQueue;

DebuginfodQueue *sysprof_debuginfod_queue_new (void);
void sysprof_debuginfod_queue_free (DebuginfodQueue *self);
uint32_t sysprof_debuginfod_queue_get_n (const DebuginfodQueue *self);
/* Downloads the files into the cache, for a minute at most. `func` is called as for those that are waited for. */
void sysprof_debuginfod_queue_fetch (DebuginfodQueue *self, DebuginfodFunc func, void *data);

/* Why no server can be asked: none is known, or libdebuginfod is missing. NULL = nothing is in the way. Free with g_free(). */
char *sysprof_debuginfod_check (void);

/* For programs with the switches --debuginfod and --no-debuginfod: whether to ask. Sets DEBUGINFOD_URLS from /etc/debuginfod where
 * servers are wanted and it is not set: to be called before there are threads. */
bool sysprof_debuginfod_may_ask (bool is_wanted, bool is_refused);

typedef struct
{
  bool no_symbols;              /* name nothing at all */
  uint8_t chain[N_SYMBOLIZERS]; /* [n_chain] SymbolizerKind; who is asked, in this order */
  uint8_t n_chain;              /* 0 = all, as they are listed above */
  GBytes *
      kernel_symbols; /* like /proc/kallsyms, asked instead of those of the capture or of this kernel; or NULL */
  const char *const
      *debug_dirs; /* further directories like /usr/lib/debug; NULL-terminated or NULL */
  const char *const *inner_debug_dirs; /* the same, as the process of the file sees them */
  const char *sysroot;                 /* look for files below this directory; NULL = "/" */
  const KeptFiles
      *kept_files;    /* open still, and asked where none is found in its place; or NULL */
  bool use_sandbox;   /* the child that parses ELF gives up its rights (started as root) */
  bool no_cache;      /* ask files anew, and keep nothing that they answer */
  FileBudget *budget; /* borrowed, for files of untrusted owners; NULL = that of the store */
  bool
      keep_found; /* when canceled, return the names found until then; what was not looked up is UNNAMED_SKIPPED */
  bool ignore_bundled; /* do not read `__symbols__` */
  bool with_lines;     /* for who loads documents: lines and inlined functions, too */
  bool
      ask_debuginfod; /* servers, and not their cache alone; waits for them, a minute at most */
  DebuginfodQueue
      *debuginfod_queue; /* instead of waiting for servers, queue the files; or NULL */
  bool
      was_asked_debuginfod; /* not again: what it gave is in the cache, which counts below a sysroot, too */
  DebuginfodFunc tell_debuginfod; /* or NULL */
  void *tell_debuginfod_data;
} SymbolizeOptions;

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DebuginfodQueue, sysprof_debuginfod_queue_free)

SymbolTable *sysprof_symbolize (Store *store,
                                const SymbolizeOptions *options, /* NULL = defaults */
                                GCancellable *cancellable,
                                GError **error);
/* The same for who wants to hear how far it is. */
SymbolTable *sysprof_symbolize_telling (Store *store,
                                        const SymbolizeOptions *options,
                                        Progress *progress,
                                        GError **error);
/* Adds lines and inlined functions, from the debug information of files that are here: takes longer than names do. The
 * calls that were inlined become entries of the store's stacks: nobody else may know the store yet. FALSE if cancelled. */
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
  StringId inlined; /* the innermost inlined function that it is of; 0 = none */
  StringId file;    /* where that is, as it was compiled; 0 = unknown */
  uint32_t line;
  uint32_t size;
  bool
      is_wanted; /* it is of a function that was asked for, and not only of one that it is inlined into */
} Instruction;

/* The code of one function of one file, once, whichever processes mapped it; or of a part of it that lies elsewhere. */
typedef struct
{
  SymbolId symbol;
  const char *path;     /* of the file, as processes see it; as long as the store */
  const char *build_id; /* likewise; "" = unknown */
  uint64_t inode;       /* 0 = unknown */
  uint64_t start;       /* offsets in the file; the end is 0 where it is not known */
  uint64_t end;
  bool
      is_in_memory; /* offsets, these and those of its instructions, are addresses in the process instead */
  bool is_of_kernel;
  uint32_t first; /* Instruction */
  uint32_t n;
  const char *problem; /* why there are none: a clause; NULL = there are */
  const char *remedy;  /* a sentence, "" = none */
} CodePiece;

#define MOST_CODE_OF_PIECE (UINT64_C (1) << 20) /* bytes; the rest is left out */
#define MOST_PIECES        256

typedef struct
{
  CodePiece *piece; /* [n_pieces] */
  uint32_t n_pieces;
  Instruction *row; /* [n] of a piece together, ascending */
  uint32_t n;
  uint32_t *piece_of; /* [store->addresses.n] 1 + the piece that the address is in; 0 = none */
  bool is_cut;        /* there are more pieces */
  Intern strings;
} Disassembly;

/* The code of the functions at those addresses [store->addresses.n] that are in files, which are looked for as they are for names, and
 * read by a child without rights; of those that programs generated, in their jitdumps. `is_wanted` [symbols->n]: functions that are asked for, which may be inlined there. FALSE where there is
 * no disassembler, or it is cancelled. */
bool sysprof_disassemble (Disassembly *self,
                          Store *store,
                          const SymbolTable *symbols,
                          const SymbolizeOptions *options, /* NULL = defaults */
                          const bool *is_at,
                          const bool *is_wanted,
                          GCancellable *cancellable,
                          GError **error);
void sysprof_disassembly_clear (Disassembly *self);
/* The instruction so many bytes before the address, in its piece; NULL = none. */
const Instruction *sysprof_disassembly_find (const Disassembly *self,
                                             const Store *store,
                                             AddressId address,
                                             uint64_t before);

/* Bounds of the search for the files of the kernel's modules: sections that were sampled, and all their time. */
#define MOST_MODULE_SECTIONS 4096
#define MOST_MODULE_SECONDS  10

/* --- sources --- */

typedef struct
{
  /* What is wanted; borrowed. */
  const char *path;           /* as it was compiled */
  const AddressId *addresses; /* [n_addresses] some of its code, all in one file */
  uint32_t n_addresses;
  /* What is found. */
  char *text;       /* [size], NUL behind; NULL = none */
  size_t size;      /* up to MOST_SOURCE_SIZE */
  int error;        /* errno where there is no text; 0 = no place to look at */
  bool is_newer;    /* it was changed since the program was made, or recorded */
  bool is_fetched;  /* from a debuginfod server, now or before */
  bool is_left_out; /* it was not looked for: there are too many, or others took too long */
} SourceFile;

#define MOST_SOURCES        4096       /* looked for at once */
#define MOST_SOURCE_SECONDS 10         /* to look for them on this machine */
#define MOST_SOURCE_SIZE    (16 << 20) /* bytes */

/* Reads what can be found: below --sysroot; else where the processes of these addresses saw their files, then on this machine; else
 * what debuginfod gave or gives, as the options say. `files` are zero but for what is wanted. */
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

/* The table of capture-format.md 10 over all named addresses of the store, in this machine's byte order: for the
 * embedded file `__symbols__`. Of no use where the thread's cancellable was cancelled: sysprof_is_wanted(). */
GBytes *sysprof_symbol_table_pack (const SymbolTable *self, const Store *store);

/* What that table has no room for: the user addresses without a name, why, their link-time address, and whether
 * code begins there. One line each, `PID ADDRESS LINK-TIME-ADDRESS REASON [entry]`, for the embedded file
 * `__unnamed__`; NULL if there are none. */
GBytes *sysprof_symbol_table_pack_unnamed (const SymbolTable *self, const Store *store);

/* Lines and inlined functions of what has a name, from the debug information of files that are here: for the embedded file
 * `__lines__`. NULL if there are none. Takes longer than names do. */
GBytes *sysprof_symbol_table_pack_lines (SymbolTable *self,
                                         Store *store,
                                         const SymbolizeOptions *options,
                                         GCancellable *cancellable);

/* The lines of /proc/kallsyms that the samples touch, each with the one that bounds it: for the embedded file
 * `/proc/kallsyms`. Borrowed; NULL where the list was not asked. */
GBytes *sysprof_symbol_table_get_kallsyms (const SymbolTable *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SymbolTable, sysprof_symbol_table_unref)
