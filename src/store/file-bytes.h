// SPDX-License-Identifier: GPL-3.0-or-later

/* The content of a file in memory, decompressed if necessary.
 *
 * A plain file is mapped, which takes a tenth of the time of reading it. mapped-file.h says
 * what happens if another process truncates it. Other files are read. */

#pragma once

#include "store/progress.h"

#include <gio/gio.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct
{
  uint8_t *bytes;  /* [size] NULL when empty; others may change a mapped file under us */
  size_t size;     /* bytes */
  size_t reserved; /* bytes of address space behind `bytes` */
  bool is_mapped;
  int fd;      /* of a mapped file, borrowed: valid while the capture is opened */
  bool is_cut; /* it was compressed, and the compressed data are damaged or end early */
} FileBytes;

/* Most bytes that a capture may have when unpacked: what frame offsets are meant for, or a
 * 32-bit program has room for. */
#define FILE_BYTES_MOST ((size_t) (SIZE_MAX > UINT32_MAX ? UINT64_C (32) << 30 : 1 << 30))

/* Maps or reads `fd` from its begin where it can seek, else from where it stands, to the end;
 * then unpacks. `name` is for messages. `limit` is the most bytes to accept, packed or not;
 * `magic` is as for sysprof_file_bytes_unpack(). */
bool sysprof_file_bytes_read (FileBytes *self,
                              int fd,
                              const char *name,
                              size_t limit,
                              const uint8_t *magic,
                              size_t n_magic,
                              Progress *progress,
                              GError **error);
void sysprof_file_bytes_clear (FileBytes *self);

/* Whether the file lost bytes since it was mapped; they read as zeros. */
bool sysprof_file_bytes_were_cut (const FileBytes *self);

/* For who reads from the front to the back and has come to `at`: pages of a mapped file that
 * lie well behind no longer count as our memory. They can still be read. `*done` is 0, or
 * wherever the reading began, and then kept by this. */
void sysprof_file_bytes_leave_behind (const FileBytes *self, size_t at, size_t *done);
/* The same for all of them. */
void sysprof_file_bytes_leave (const FileBytes *self);

/* Decompresses the bytes if the format is known. If the decompressed data do not start with
 * the `n_magic` bytes of `magic`, only their start is kept. */
bool sysprof_file_bytes_unpack (FileBytes *self,
                                const char *name,
                                size_t limit,
                                const uint8_t *magic,
                                size_t n_magic,
                                Progress *progress,
                                GError **error);

/* Makes room for `more` bytes after the first `size`, for data that are not mapped. FALSE
 * with `error` set if the result exceeds `limit` or memory is exhausted. */
bool sysprof_file_bytes_reserve (FileBytes *self,
                                 size_t more,
                                 const char *name,
                                 size_t limit,
                                 GError **error);
