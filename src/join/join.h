// SPDX-License-Identifier: BSD-2-Clause

/* join: makes one capture out of several.
 *
 * sysprof_capture_writer_join() joins finished captures (`sysprof-cli --merge`). A
 * SysprofCaptureJoin adds the capture that a recorded program wrote to a recording that is
 * still written.
 *
 *   join.c            which files are kept, and the order of the parts
 *   recording.c       joining into a recording, with shorten.c
 *   symbol-tables.c   one symbol table out of those of all captures
 *   lists.c           the same for lists of samples, processes and addresses
 *   assembled-file.c  an embedded file in memory
 *
 * Captures of several boots: the kernel addresses of one boot stay. In the stacks of all other
 * boots one address replaces them, which the symbol table names "[kernel of another boot]".
 *
 * All functions are called by one thread at a time. They return false or NULL with errno set on
 * failure. */

#pragma once

#include "capture/capture.h"

/* Decompresses gzip data: on success a new buffer from malloc() in `*out`. */
typedef bool (*SysprofCaptureUnpackFunc) (const uint8_t *in,
                                          size_t in_size,
                                          uint8_t **out,
                                          size_t *out_size);

typedef struct
{
  JoinedFiles left;     /* files that are missing for some of the captures */
  JoinedFiles kept;     /* files that the joined capture has */
  size_t n_other_boots; /* captures whose kernel addresses were replaced */
} JoinReport;

/* Appends all of `readers` to `self`. In contrast to cat there is one symbol table for all, and
 * traces and D-Bus messages come last, so that version 3.46 can read everything else. The time
 * range becomes smallest begin to largest end. `unpack` may be NULL: then compressed symbol
 * tables are copied, and kernel addresses are not replaced. `report` may be NULL.
 *
 * A file that describes one recording is kept if it is true for all. Off-CPU times and kernel
 * symbol lists are those of the first capture that has them; files about generated code are not
 * kept. */
bool sysprof_capture_writer_join (SysprofCaptureWriter *self,
                                  SysprofCaptureReader *const *readers,
                                  size_t n_readers,
                                  SysprofCaptureUnpackFunc unpack,
                                  JoinReport *report);

/* A capture that is joined to a recording. Its frames get at most 16384 bytes, deep stacks
 * excepted: longer files are divided, longer texts are truncated, and longer D-Bus messages
 * lose their content. Traces, D-Bus messages and frames of unknown type are added in the second
 * step, when the rest of the recording is written. The time range of the writer stays.
 *
 * *Owned*. The writer must outlive it, the reader need not. */
typedef struct SysprofCaptureJoin SysprofCaptureJoin;

/* The first step. On failure NULL; the frames that were copied until then stay. */
SysprofCaptureJoin *sysprof_capture_join_begin (SysprofCaptureWriter *writer,
                                                SysprofCaptureReader *reader);
/* The second step. */
bool sysprof_capture_join_finish (SysprofCaptureJoin *self);
/* Frames that both steps shorten. */
uint64_t sysprof_capture_join_get_n_cut (const SysprofCaptureJoin *self);
void sysprof_capture_join_free (SysprofCaptureJoin *self);

/* Shortens the texts of a frame that version 3.46 cannot join; a D-Bus message loses its
 * content. True if something is lost. Frames of unknown type are lost as a whole. */
bool sysprof_capture_frame_shorten (SysprofCaptureFrame *frame);
