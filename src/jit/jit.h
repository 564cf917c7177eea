// SPDX-License-Identifier: GPL-3.0-or-later

/* jit: reads the files in which JIT compilers describe their code, and which are untrusted:
 * perf maps (/tmp/perf-PID.map) and jitdumps (jit-PID.dump). Plain C, because a sandboxed child
 * runs it after fork().
 *
 * Both are converted to the same lines, which captures contain and `store` reads
 * (docs/format.md):
 *
 *   START SIZE TIME NAME        two hexadecimal numbers; ns, 0 = always; the rest of the line
 *
 * The order matters: of two overlapping lines, the later one applies from its time on. Dumps
 * also contain the code itself and its source lines, which captures do not contain. */

#pragma once

#include "util/util.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JIT_MOST_TEXT ((size_t) 128 << 20) /* bytes of lines of one file */

typedef enum
{
  JIT_OK,
  JIT_TRUNCATED,  /* the file ends within a record; earlier records are kept */
  JIT_CORRUPT,    /* a record is invalid; earlier records are kept */
  JIT_NOT_A_DUMP, /* another kind of file */
  JIT_TOO_LARGE,  /* over the limit; earlier records are kept */
  JIT_NO_MEMORY,
  JIT_IO_ERROR, /* reading fails, or takes too long */
} JitStatus;

/* A clause such as "it ends within a record". "" for JIT_OK. */
const char *sysprof_jit_status_to_string (JitStatus status);

/* *Owned*. */
typedef struct
{
  char *text; /* [size] */
  size_t size;
  size_t capacity;
  size_t last_name; /* position of the name of the last line */
  uint32_t n;
} JitLines;

void sysprof_jit_lines_clear (JitLines *self);
/* Adds a line. Skips code without a name or with size 0. Truncates a long name, and replaces
 * characters that would end the line. `name` may be part of the text of `self`. */
JitStatus sysprof_jit_lines_add (JitLines *self,
                                 uint64_t start,
                                 uint64_t size,
                                 uint64_t time,
                                 const char *name,
                                 size_t name_size);

/* Skips invalid lines. */
JitStatus sysprof_jit_read_perf_map (const char *bytes, size_t size, JitLines *lines);

/* Reads either byte order. */
JitStatus sysprof_jit_read_dump (const uint8_t *bytes, size_t size, JitLines *lines);
/* The same for a file of `size` bytes. Skips the code, which is most of the file. */
JitStatus sysprof_jit_read_dump_file (int fd, uint64_t size, JitLines *lines);

/* --- the code itself --- */

/* A function from one of the lines, and the position of its code in the dump. */
typedef struct
{
  uint64_t start; /* as in the line */
  uint64_t size;
  uint64_t time;
  uint64_t code; /* offset in the file; 0 = not found */
  /* offset of its debug information: n_debug entries, which end before debug_end; 0 = none */
  uint64_t debug;
  uint64_t debug_end;
  uint64_t n_debug;
  uint64_t debug_start; /* the code's address in that information, before the code was moved */
} JitCodeRange;

typedef struct
{
  uint16_t machine; /* EM_…, of <elf.h> */
  bool is_swapped;
} JitDumpFacts;

/* Fills in the offsets; of equal functions, those of the last one. Stops at an invalid record
 * and keeps what it has found before. */
JitStatus sysprof_jit_find_code (int fd,
                                 uint64_t size,
                                 JitCodeRange *ranges,
                                 size_t n,
                                 JitDumpFacts *facts);

/* The source line of a piece of code. Entries ascend by address, and each applies up to the
 * next one. */
typedef struct
{
  uint64_t address;
  uint32_t line;
  const char *file; /* borrowed, "" = unknown */
} JitLine;

typedef struct
{
  const uint8_t *at;
  const uint8_t *end;
  uint64_t n_left;
  uint64_t shift; /* added to all addresses */
  uint64_t start; /* address of the code according to the entries */
  uint64_t size;
  bool is_swapped;
  const char *file; /* of the last entry */
} JitDebugReader;

/* Reads the borrowed `size` bytes that a range refers to. */
void sysprof_jit_debug_reader_init (JitDebugReader *self,
                                    const JitCodeRange *range,
                                    const JitDumpFacts *facts,
                                    const uint8_t *bytes,
                                    size_t size);
/* FALSE at the end, or at an invalid entry. */
bool sysprof_jit_debug_reader_next (JitDebugReader *self, JitLine *line);

/* --- reading lines in a sandboxed child --- */

typedef enum
{
  JIT_PERF_MAP,
  JIT_DUMP,
} JitFileKind;

/* Reads a file of `size` bytes in a borrowed envelope (util/children/opener.h). If the result
 * is not JIT_OK, `lines` has what was read before. Waits until `until` at most
 * (sysprof_confined_child_deadline()). */
JitStatus sysprof_jit_read_confined (ConfinedChild *child,
                                     JitFileKind kind,
                                     int envelope,
                                     uint64_t size,
                                     int64_t until,
                                     JitLines *lines);
