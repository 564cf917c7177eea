// SPDX-License-Identifier: GPL-3.0-or-later

/* What is done with one ELF file and its debug file, from descriptors alone: runs in our process, or in a child
 * without rights (elf-sandbox.c). Plain C, as it runs behind fork(). */

#pragma once

#include "dwarf/dwarf.h"
#include "elf/elf.h"

#define ELF_MAX_TEXT_SECTIONS 16
#define ELF_MAX_SECTION_NAME  40 /* with its NUL; longer ones are left out */

/* Of an object file that is not linked. */
typedef struct
{
  char name[ELF_MAX_SECTION_NAME];
  uint64_t address; /* where it is put here */
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
  uint8_t is_over_limit; /* a symbol table was left out for its size */
  uint8_t has_lines;     /* it has debug information of its own */
  uint8_t padding;
  uint32_t alt_id_size; /* 0 = its debug information refers to no supplement */
  uint8_t alt_id[ELF_MAX_BUILD_ID];
  char alt_link
      [ELF_MAX_ALT_LINK]; /* where dwz put that: a path, perhaps relative to its own directory */
  uint64_t
      kernel_text; /* of a kernel: the link-time address of its label `_text`; 0 = it is none */
  uint64_t
      text_address;   /* of a debug file whose offsets are not those of its file: of its code */
  uint64_t text_size; /* 0 = it is none */
  uint64_t n_text_sections;
  ElfTextSection text_section[ELF_MAX_TEXT_SECTIONS];
} ElfFacts;

typedef struct
{
  uint64_t link_address; /* of the offset; 0 = in no segment */
  uint64_t start;        /* of the function, link-time; 0 and 0 = unknown */
  uint64_t end;
  uint32_t name;      /* offsets into ElfAnswers.text; 0 = none */
  uint32_t demangled; /* 0 = as `name` */
  uint8_t is_entry;
  uint8_t padding[7];
} ElfAnswer;

typedef struct
{
  ElfAnswer *row; /* [n] one per offset that was asked for */
  size_t n;
  char *text; /* [text_size], the first and the last byte are NUL */
  size_t text_size;
} ElfAnswers;

void sysprof_elf_answers_clear (ElfAnswers *self);

/* A function that an address is in: the innermost one, which may be inlined, or one that calls it. */
typedef struct
{
  uint32_t
      name; /* offsets into ElfLines.text; only inlined ones have names, and those always */
  uint32_t demangled; /* 0 = as `name` */
  uint32_t file;      /* as it was compiled; 0 = unknown */
  uint32_t line; /* where it was at that address, or called the frame before; 0 = unknown */
  uint32_t decl_file; /* where the function itself is written; 0 = unknown */
  uint32_t decl_line;
  uint8_t is_inlined;
  uint8_t padding[3];
} ElfLineFrame;

typedef struct
{
  uint32_t
      first; /* frame, the innermost one; all but the last of a row are inlined, and no two rows share one */
  uint32_t n; /* 0 = nothing is known */
} ElfLineRow;

#define ELF_MAX_INSTRUCTION 16                    /* bytes */
#define ELF_MAX_LINE_FRAMES (UINT32_C (16) << 20) /* of one file */
#define ELF_MAX_INLINES     512                   /* of one offset */

/* A file that belongs to the debug information and was not there, or is another one. */
typedef struct
{
  uint32_t directory; /* offsets into ElfLines.text; 0 = unknown */
  uint32_t name;      /* a path, in that directory if it is not absolute; never 0 */
  uint8_t is_other;
  uint8_t padding[3];
} ElfSplit;

#define ELF_MAX_SPLITS 512 /* of one file; each is a descriptor */

typedef struct
{
  ElfLineRow *row; /* [n] one per offset that was asked for */
  size_t n;
  ElfLineFrame *frame; /* [n_frames] */
  size_t n_frames;
  ElfSplit *split; /* [n_splits] */
  size_t n_splits;
  char *text; /* [text_size], the first and the last byte are NUL */
  size_t text_size;
  bool is_over_limit; /* the file has more to some of them than is read */
} ElfLines;

void sysprof_elf_lines_clear (ElfLines *self);

/* A file with split units, as it was compiled. */
typedef struct
{
  char *directory;
  char *name;
  uint64_t dwo_id; /* of one of its units */
  int fd;          /* -1 = it was asked for, and has not come */
  bool is_other;   /* what came did not have the unit */
} ElfSplitFile;

/* Code to be shown as instructions: offsets in the file. */
typedef struct
{
  uint64_t start;
  uint64_t
      end; /* 0 = where the function ends that holds `start`, by the call-frame table, which tells its start as well */
} ElfCodeRange;

typedef struct
{
  uint64_t offset;  /* in the file */
  uint64_t address; /* link-time */
  uint32_t range;   /* number of the one that it is in */
  uint32_t text;    /* offset into ElfInstructions.text */
  uint8_t bytes[ELF_MAX_INSTRUCTION];
  uint8_t size;
  uint8_t padding[7];
} ElfInstruction;

#define ELF_MAX_CODE         (UINT64_C (1) << 20) /* bytes of one range; what is behind is left out */
#define ELF_MAX_CODE_TEXT    (UINT32_C (256) << 20) /* bytes of texts of one call */
#define ELF_MAX_INSTRUCTIONS (UINT32_C (4) << 20)   /* of one call; likewise */

typedef struct
{
  ElfInstruction *row; /* [n] by range and offset */
  size_t n;
  char *text; /* [text_size], the first and the last byte are NUL */
  size_t text_size;
} ElfInstructions;

void sysprof_elf_instructions_clear (ElfInstructions *self);
/* Adds a text, for which there are `*capacity` bytes by now, and tells where it is. FALSE: there is no room. */
bool sysprof_elf_instructions_add_text (ElfInstructions *self,
                                        size_t *capacity,
                                        const char *text,
                                        uint32_t *offset);

typedef struct
{
  int fd;
  int debug_fd;
  int supplement_fd;
  int package_fd;
  ElfImage *image;
  ElfImage *debug_image;
  ElfImage *supplement;   /* of what has the debug information: the file or its debug file */
  ElfImage *package;      /* of its split units */
  bool has_other_package; /* one came that has none of its units */
  ElfSplitFile
      *split; /* [n_splits] those that came, then those that the last answer asked for */
  size_t n_splits;
  size_t n_given_splits;
  Dwarf *dwarf; /* of these images, once lines were asked for; NULL = not open */
  ElfSymbols *symbols;
  ElfSymbols *debug_symbols;
  ElfFacts facts;
  bool is_for_lines;
  bool takes_addresses; /* instead of offsets in the file, link-time addresses */
  uint64_t
      shift; /* of code, where it takes addresses: these, and what is answered, are so much above link-time ones */
} ElfWorker;

#define ELF_WORKER_INIT                                             \
  {                                                                 \
    .fd = -1, .debug_fd = -1, .supplement_fd = -1, .package_fd = -1 \
  }

/* Closes what was open before. Takes the descriptor. `is_for_lines`: symbols are not read, and what a debug file must have is
 * debug information. */
ElfStatus sysprof_elf_worker_open (ElfWorker *self, int fd, bool is_for_lines, ElfFacts *facts);

/* Takes the descriptor. ELF_MISMATCH: it does not belong to the file. ELF_ABSENT: it has none of what is wanted. In both cases, and in
 * all but ELF_OK, it is not used. `facts` are then those of the file, with the supplement of the debug file. */
ElfStatus sysprof_elf_worker_add_debug (ElfWorker *self, int fd, ElfFacts *facts);

/* The same for the supplement that the facts tell of. */
ElfStatus sysprof_elf_worker_add_supplement (ElfWorker *self, int fd);

/* The same for a package of split units (.dwp) with some of those that the last answer of sysprof_elf_worker_resolve_lines() lacked, and for
 * the file that is number `i` of these. What comes so counts in the next answer. */
ElfStatus sysprof_elf_worker_add_package (ElfWorker *self, int fd);
ElfStatus sysprof_elf_worker_add_split (ElfWorker *self, int fd, size_t i);

/* The link-time address of what was asked for, be it that or an offset. */
ElfStatus
sysprof_elf_worker_find_address (const ElfWorker *self, uint64_t place, uint64_t *address);

/* `offsets` in the file, ascending. */
ElfStatus sysprof_elf_worker_resolve (ElfWorker *self,
                                      const uint64_t *offsets,
                                      size_t n,
                                      ElfAnswers *answers);

/* The same for lines and inlined functions (elf-lines.c). ELF_ABSENT: there is no debug information. */
ElfStatus sysprof_elf_worker_resolve_lines (ElfWorker *self,
                                            const uint64_t *offsets,
                                            size_t n,
                                            ElfLines *lines);

/* What stands in the file itself (elf-code.c); of a range without code there is nothing. ELF_UNSUPPORTED: nobody here knows such
 * instructions. The disassembler is to be loaded before (disasm/disasm.h). */
ElfStatus sysprof_elf_worker_disassemble (ElfWorker *self,
                                          const ElfCodeRange *ranges,
                                          size_t n,
                                          ElfInstructions *instructions);

/* What was unpacked for lines serves all answers until then; images do not outlive it. */
void sysprof_elf_worker_close_dwarf (ElfWorker *self);

void sysprof_elf_worker_clear (ElfWorker *self);
