// SPDX-License-Identifier: GPL-3.0-or-later

/* Processes one ELF file with its debug files, from descriptors only. It runs in this process,
 * or in an unprivileged child (elf-sandbox.c). Plain C without GLib, because it runs in a
 * forked child. */

#pragma once

#include "dwarf/dwarf.h"
#include "elf/elf.h"

#define ELF_MAX_TEXT_SECTIONS 16
#define ELF_MAX_SECTION_NAME  40 /* with its NUL; longer ones are omitted */

/* A section of an unlinked object file. */
typedef struct
{
  char name[ELF_MAX_SECTION_NAME];
  uint64_t address; /* assigned by elf.h */
  uint64_t size;
} ElfTextSection;

typedef struct
{
  uint32_t symbols_status; /* ElfStatus of its symbol tables */
  uint32_t build_id_size;  /* 0 = none */
  uint32_t link_crc;
  uint8_t build_id[ELF_MAX_BUILD_ID];
  char link[256]; /* .gnu_debuglink; empty = none */
  uint8_t is_full;
  uint8_t is_over_limit; /* a symbol table was ignored because of its size */
  uint8_t has_lines;     /* it contains debug information itself */
  uint8_t padding;
  uint32_t alt_id_size; /* 0 = its debug information needs no supplement */
  uint8_t alt_id[ELF_MAX_BUILD_ID];
  /* path of the supplement according to dwz; may be relative to the directory of the file */
  char alt_link[ELF_MAX_ALT_LINK];
  /* of a kernel: link-time address of the symbol `_text`; 0 = not a kernel */
  uint64_t kernel_text;
  /* address of the code, for a debug file whose offsets differ from those of its file */
  uint64_t text_address;
  uint64_t text_size; /* 0 = not such a file */
  uint64_t n_text_sections;
  ElfTextSection text_section[ELF_MAX_TEXT_SECTIONS];
} ElfFacts;

typedef struct
{
  uint64_t link_address; /* of the offset; 0 = in no segment */
  uint64_t start;        /* of the function, link-time; both 0 = unknown */
  uint64_t end;
  uint32_t name;      /* offsets into ElfAnswers.text; 0 = none */
  uint32_t demangled; /* 0 = same as `name` */
  uint8_t is_entry;
  uint8_t padding[7];
} ElfAnswer;

/* One function of an inline chain: the innermost function at an address, or one of its
 * callers. */
typedef struct
{
  /* offsets into ElfAnswers.text. Inlined functions always have a name, others never */
  uint32_t name;
  uint32_t demangled; /* 0 = same as `name` */
  uint32_t file;      /* path at compile time; 0 = unknown */
  uint32_t line;      /* of the address, or of the call of the previous frame; 0 = unknown */
  uint32_t decl_file; /* where the function is defined; 0 = unknown */
  uint32_t decl_line;
  uint8_t is_inlined;
  uint8_t padding[3];
} ElfLineFrame;

typedef struct
{
  /* index of the innermost frame. All but the last frame of a row are inlined, and rows share
   * no frames */
  uint32_t first;
  uint32_t n; /* 0 = unknown */
} ElfLineRow;

#define ELF_MAX_INSTRUCTION 16                    /* bytes */
#define ELF_MAX_LINE_FRAMES (UINT32_C (16) << 20) /* of one file */
#define ELF_MAX_INLINES     512                   /* of one offset */

/* A file of the debug information that is missing, or is from another build. */
typedef struct
{
  uint32_t directory; /* offsets into ElfAnswers.text; 0 = unknown */
  uint32_t name;      /* path, relative to the directory if it is not absolute; never 0 */
  uint8_t is_other;
  uint8_t padding[3];
} ElfSplit;

#define ELF_MAX_SPLITS 512 /* of one file; each is a descriptor */

/* A file with split units, as named at compile time. */
typedef struct
{
  char *directory;
  char *name;
  uint64_t dwo_id; /* of one of its units */
  int fd;          /* -1 = requested, but not received */
  bool is_other;   /* the received file does not contain the unit */
} ElfSplitFile;

/* A range of code to disassemble, as file offsets. */
typedef struct
{
  uint64_t start;
  /* 0 = the end of the function that contains `start`, according to the call-frame information,
   * which also gives its start */
  uint64_t end;
} ElfCodeRange;

typedef struct
{
  uint64_t offset;  /* in the file */
  uint64_t address; /* link-time */
  uint32_t range;   /* index of the range that contains it */
  uint32_t text;    /* offset into ElfAnswers.text */
  uint8_t bytes[ELF_MAX_INSTRUCTION];
  uint8_t size;
  uint8_t padding[7];
} ElfInstruction;

#define ELF_MAX_CODE         (UINT64_C (1) << 20) /* bytes of one range; the rest is omitted */
#define ELF_MAX_TEXT         (UINT32_C (256) << 20) /* bytes of texts of one answer */
#define ELF_MAX_INSTRUCTIONS (UINT32_C (4) << 20)   /* likewise */

/* A query requests one kind of rows. */
typedef enum
{
  ELF_SYMBOLS,
  ELF_LINES, /* lines and inlined functions. ELF_ABSENT: there is no debug information */
  /* instructions of the file itself; a range without code has none. ELF_UNSUPPORTED: the
   * instruction set is not supported. The caller loads the disassembler first
   * (disasm/disasm.h) */
  ELF_CODE,
  /* symbols of data. An offset is the distance from the start of the file as if the segment of
   * the code, of which a file has one, extended up to the data */
  ELF_OBJECTS,
} ElfKind;

typedef struct
{
  ElfKind kind;
  bool are_addresses; /* link-time addresses instead of offsets in the file */
  /* ELF_CODE, if they are addresses: where the code ran, which is link-time addresses plus this
   * (modulo 2^64). No end may be 0. The offsets of the instructions are such addresses, too. */
  uint64_t shift;
  union
  {
    const uint64_t *offsets;    /* [n] ascending */
    const ElfCodeRange *ranges; /* [n] ELF_CODE */
  };
  size_t n;
} ElfQuery;

typedef struct
{
  union
  {
    void *rows;
    ElfAnswer *symbol;           /* [n] one per offset; also for ELF_OBJECTS */
    ElfLineRow *line;            /* [n] one per offset */
    ElfInstruction *instruction; /* [n] sorted by range and offset */
  };
  size_t n;
  ElfLineFrame *frame; /* [n_frames] */
  size_t n_frames;
  ElfSplit *split; /* [n_splits] */
  size_t n_splits;
  char *text; /* [text_size] the first and the last byte are NUL */
  size_t text_size;
  size_t text_capacity; /* while texts are added */
  bool is_over_limit;   /* some answers are incomplete because of a limit */
} ElfAnswers;

void sysprof_elf_answers_clear (ElfAnswers *self);
/* Adds a text and returns its offset. FALSE if there is no room. */
bool sysprof_elf_answers_add_text (ElfAnswers *self, const char *text, uint32_t *offset);
/* Whether answers from any source are well-formed: as many as requested, offsets inside the
 * text. */
bool sysprof_elf_answers_are_sound (const ElfQuery *query, const ElfAnswers *answers);
bool sysprof_elf_facts_are_sound (const ElfFacts *facts);
size_t sysprof_elf_row_size (ElfKind kind);

/* Further files with debug information. The first two numbers are part of the format of the
 * cache. */
typedef enum
{
  ELF_PART_DEBUG = 1,
  ELF_PART_SUPPLEMENT, /* that the facts name */
  ELF_PART_PACKAGE,    /* of split units (.dwp) */
  ELF_PART_SPLIT,      /* a file with the missing split unit `split` */
} ElfPartKind;

typedef struct
{
  ElfPartKind kind;
  uint32_t split; /* index in the last answers */
} ElfPart;

typedef struct
{
  int fd;
  int debug_fd;
  int supplement_fd;
  int package_fd;
  ElfImage *image;
  ElfImage *debug_image;
  /* of the file that contains the debug information: the file or its debug file */
  ElfImage *supplement;
  ElfImage *package;      /* of its split units */
  bool has_other_package; /* a package was received, but contains none of its units */
  /* [n_splits] those received, then those that the last answer requested */
  ElfSplitFile *split;
  size_t n_splits;
  size_t n_given_splits;
  Dwarf *dwarf; /* of these images, once lines were requested; NULL = not open */
  ElfSymbols *symbols;
  ElfSymbols *debug_symbols;
  ElfStubs *stubs;  /* loaded with the symbols */
  ElfSymbols *data; /* once requested: of the debug file, or of the file */
  ElfFacts facts;
  bool is_for_lines;
} ElfWorker;

#define ELF_WORKER_INIT                                             \
  {                                                                 \
    .fd = -1, .debug_fd = -1, .supplement_fd = -1, .package_fd = -1 \
  }

/* Closes the previous file. Takes ownership of the descriptor. `is_for_lines`: symbols are not
 * read, and a debug file must contain debug information. */
ElfStatus sysprof_elf_worker_open (ElfWorker *self, int fd, bool is_for_lines, ElfFacts *facts);

/* Takes ownership of the descriptor. ELF_MISMATCH: it does not belong to the file. ELF_ABSENT:
 * it has no usable content. It is only used if the result is ELF_OK. `facts` are then those of
 * the file, with the supplement of a debug file. Split units may be added that the last answer
 * for ELF_LINES lists as missing. The next answer uses what was added. */
ElfStatus
sysprof_elf_worker_add_part (ElfWorker *self, const ElfPart *part, int fd, ElfFacts *facts);

/* Returns the link-time address of a requested address or offset. */
ElfStatus sysprof_elf_worker_find_address (const ElfWorker *self,
                                           const ElfQuery *query,
                                           uint64_t place,
                                           uint64_t *address);

/* Loads the symbols and stubs of the file itself, once. */
ElfStatus sysprof_elf_worker_load_symbols (ElfWorker *self);
/* Finds a function, or a stub that calls one, in the debug file or the file. */
bool
sysprof_elf_worker_find_symbol (const ElfWorker *self, uint64_t address, ElfSymbol *symbol);

ElfStatus
sysprof_elf_worker_resolve (ElfWorker *self, const ElfQuery *query, ElfAnswers *answers);
/* The same for one kind each (elf-lines.c, elf-code.c), with empty answers. */
ElfStatus
sysprof_elf_worker_resolve_lines (ElfWorker *self, const ElfQuery *query, ElfAnswers *answers);
ElfStatus
sysprof_elf_worker_disassemble (ElfWorker *self, const ElfQuery *query, ElfAnswers *answers);

/* Frees the Dwarf, whose decompressed data is kept between answers. Call this before images are
 * closed. */
void sysprof_elf_worker_close_dwarf (ElfWorker *self);

void sysprof_elf_worker_clear (ElfWorker *self);
