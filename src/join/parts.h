// SPDX-License-Identifier: BSD-2-Clause

/* What the files of this module share. */

#pragma once

#include "join/assembled-file.h"
#include "join/join.h"

/* Makes one symbol table out of those of all captures and adds it. */
bool sysprof_capture_writer_add_merged_symbols (SysprofCaptureWriter *self,
                                                int64_t time,
                                                const Translation *captures,
                                                size_t n_captures,
                                                SysprofCaptureUnpackFunc unpack);

/* Makes one of each list of samples, processes and addresses out of those of all captures and
 * adds it. Lists that could not be decompressed are added to `left`; `kept` gets those that the
 * writer has now, and loses the others. */
bool sysprof_capture_writer_add_joined_lists (SysprofCaptureWriter *self,
                                              int64_t time,
                                              const Translation *captures,
                                              size_t n_captures,
                                              SysprofCaptureUnpackFunc unpack,
                                              JoinedFiles *left,
                                              JoinedFiles *kept);
