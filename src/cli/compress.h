// SPDX-License-Identifier: GPL-3.0-or-later

/* Compresses a pipe on a thread of its own. The recorder waits for it only while the pipe is
 * full. At least once a second the file is complete enough to be decompressed so far.
 *
 * A compressor is *owned* by its creator. Its thread uses nothing else. */

#pragma once

#include <glib.h>

typedef struct Codec Codec;
typedef struct Compressor Compressor;

/* Chooses by the suffix of the name, as in run.syscap.zst. NULL: not compressed. */
const Codec *sysprof_cli_codec_for_name (const char *name);

/* Takes `fd`, which receives the compressed bytes. Returns in `write_fd` the end of the pipe
 * for uncompressed bytes, which the caller closes. */
Compressor *
sysprof_cli_compressor_new (const Codec *codec, int fd, int *write_fd, GError **error);

/* Waits until all bytes written to `write_fd` so far are compressed; `write_fd` may stay open.
 * Returns 0, or the errno of the failure. Frees the compressor. */
int sysprof_cli_compressor_finish (Compressor *self);
