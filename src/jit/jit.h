// SPDX-License-Identifier: GPL-3.0-or-later

/* jit: what programs that generate code say about it, in files that anybody may have written: perf maps
 * (/tmp/perf-PID.map) and jitdumps (jit-PID.dump). Plain C, as it is read behind fork(), without rights.
 *
 * Both become the same lines, which captures carry and `store` reads (docs/format.md):
 *
 *   START SIZE TIME NAME        hexadecimal twice; ns, 0 = since ever; the rest of the line
 *
 * In their order; where two overlap, the later one holds, from its time on. Dumps also have the code itself, and its lines, which
 * captures do not carry. */

#pragma once

#include "util/util.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JIT_MOST_TEXT ((size_t) 128 << 20) /* bytes of lines of one file */

typedef enum
{
  JIT_OK,
  JIT_TRUNCATED,  /* it ends within a record: what came before is there */
  JIT_CORRUPT,    /* a record makes no sense: what came before is there */
  JIT_NOT_A_DUMP, /* another kind of file */
  JIT_TOO_LARGE,  /* more than is kept: what came before is there */
  JIT_NO_MEMORY,
  JIT_IO_ERROR, /* it cannot be read, or reading it takes too long */
} JitStatus;

/* One clause, e.g. "it ends within a record". "" for JIT_OK. */
const char *sysprof_jit_status_to_string (JitStatus status);

/* *Owned*. */
typedef struct
{
  char *text; /* [size] */
  size_t size;
  size_t capacity;
  size_t last_name; /* where that of the last line lies */
  uint32_t n;
} JitLines;

void sysprof_jit_lines_clear (JitLines *self);
/* Adds a line; code without extent or name is left out. A long name is cut, and what would end the line replaced. `name`
 * may lie in the text of `self`. */
JitStatus sysprof_jit_lines_add (JitLines *self,
                                 uint64_t start,
                                 uint64_t size,
                                 uint64_t time,
                                 const char *name,
                                 size_t name_size);

/* Lines that are none are left out. */
JitStatus sysprof_jit_read_perf_map (const char *bytes, size_t size, JitLines *lines);

/* Of either byte order. */
JitStatus sysprof_jit_read_dump (const uint8_t *bytes, size_t size, JitLines *lines);
/* The same of a file that has `size` bytes; its code, which is most of it, is not read. */
JitStatus sysprof_jit_read_dump_file (int fd, uint64_t size, JitLines *lines);

/* --- the code itself --- */

/* A function as one of the lines has it, and where its code lies in the dump. */
typedef struct
{
  uint64_t start; /* as the line says */
  uint64_t size;
  uint64_t time;
  uint64_t code; /* offset of its bytes in the file; 0 = it is not there */
  uint64_t
      debug; /* offset of its debug information: n_debug entries, which end before debug_end; 0 = none */
  uint64_t debug_end;
  uint64_t n_debug;
  uint64_t debug_start; /* where its code was by that, before it was moved */
} JitCodeRange;

typedef struct
{
  uint16_t machine; /* EM_…, of <elf.h> */
  bool is_swapped;
} JitDumpFacts;

/* Fills in where these are; of equal ones the last that the dump tells of. What stands before what cannot be read is found. */
JitStatus sysprof_jit_find_code (int fd,
                                 uint64_t size,
                                 JitCodeRange *ranges,
                                 size_t n,
                                 JitDumpFacts *facts);

/* A piece of code was made of that line; of entries that ascend by address, each holds up to the next one. */
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
  uint64_t shift; /* of all addresses */
  uint64_t start; /* of the code, as entries have it */
  uint64_t size;
  bool is_swapped;
  const char *file; /* of the last entry */
} JitDebugReader;

/* Over the `size` bytes that a range says. They are borrowed. */
void sysprof_jit_debug_reader_init (JitDebugReader *self,
                                    const JitCodeRange *range,
                                    const JitDumpFacts *facts,
                                    const uint8_t *bytes,
                                    size_t size);
/* FALSE at the end, or where an entry makes no sense. */
bool sysprof_jit_debug_reader_next (JitDebugReader *self, JitLine *line);

/* --- lines of a file, read in a child without rights --- */

typedef enum
{
  JIT_PERF_MAP,
  JIT_DUMP,
} JitFileKind;

/* What a file of `size` bytes says, in an envelope (util/opener.h), which is borrowed. Where it is not JIT_OK, `lines` holds what came
 * before. It is not waited for behind `until` (sysprof_confined_child_deadline()). */
JitStatus sysprof_jit_read_confined (ConfinedChild *child,
                                     JitFileKind kind,
                                     int envelope,
                                     uint64_t size,
                                     int64_t until,
                                     JitLines *lines);
