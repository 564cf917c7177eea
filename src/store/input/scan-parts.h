// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds all frames of a capture, on all CPUs.
 *
 * The start of a frame is known only from the frame before it. So each thread but the first
 * guesses the start of a frame in its part: a position where many valid frames follow each
 * other. The guess is used only if the thread before arrives at the same position. Else the
 * part is scanned again. So the result never depends on the guess. */

#pragma once

#include "store/builder.h"

/* Bytes. All frames begin at a multiple of it, and so 32 bits reach over FILE_BYTES_MOST. */
#define FOUND_UNIT UINT64_C (8)

/* A frame, and what a sample or an allocation has beside the header. */
typedef struct
{
  int64_t time;
  StackDigest digest;
  uint32_t place; /* in the file, in FOUND_UNIT */
  int32_t pid;
  int32_t tid;
  int16_t cpu;
  uint8_t type;
} ScannedFrame;

/* Frames of one part of the file, in its order. */
typedef struct
{
  /* [n], growing (util/large.h): it is given back before the stacks are folded */
  ScannedFrame *items;
  size_t n;
  size_t capacity;
  uint64_t n_of_type[STORE_N_FRAME_TYPES];
  uint64_t n_unsound;
  uint64_t begin;   /* where the first one begins; 0 = no guess */
  uint64_t limit;   /* frames that begin before are of this part */
  uint64_t end;     /* start of the next part, or of damage */
  const char *harm; /* what is wrong at `end`; NULL = nothing */
} ScannedPart;

typedef struct
{
  ScannedPart *part; /* [n] one after the other in the file */
  size_t n;
  size_t n_frames; /* of all parts */
} ScannedParts;

/* FALSE if cancelled; to be cleared in any case. *Owned* by the caller, filled by all CPUs in
 * disjoint parts. */
bool sysprof_scan_parts (const Builder *builder, ScannedParts *parts);
/* Stable, by time. If canceled, the order is undefined, and some may be missing. */
void sysprof_scanned_frames_sort (ScannedFrame *items, size_t n, const Progress *progress);
void sysprof_scanned_parts_clear (ScannedParts *self);
