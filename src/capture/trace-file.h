// SPDX-License-Identifier: BSD-2-Clause

/* The capture behind the descriptor that SYSPROF_TRACE_FD names, for collectors whose recorder
 * has no control socket.
 *
 * Several threads, processes and copies of this library may append to one file: each frame is
 * one write() to a descriptor in append mode, which the kernel does not interleave with
 * others. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Opens the file and writes the header of a capture if the file is empty. False if the variable
 * names no regular file, or a file that something else has begun to write. */
bool sysprof_trace_file_open (void);

/* Appends `frame`. False for good if the file is full, or the program has closed the
 * descriptor. */
bool sysprof_trace_file_append (const uint8_t *frame, size_t len);
