// SPDX-License-Identifier: GPL-3.0-or-later

/* Compresses what is written into a pipe, on a thread of its own, so that the recorder never waits
 * for it longer than the pipe is full. At least once a second what came so far can be unpacked.
 *
 * A compressor is *owned* by who made it; its thread touches nothing else. */

#pragma once

#include <glib.h>

typedef struct Codec Codec;
typedef struct Compressor Compressor;

/* By the end of the name, as run.syscap.zst; NULL: not to be compressed. */
const Codec *sysprof_cli_codec_for_name (const char *name);

/* `fd` (taken) gets the compressed bytes; what shall be compressed goes to `write_fd`, which is the caller's. */
Compressor *
sysprof_cli_compressor_new (const Codec *codec, int fd, int *write_fd, GError **error);

/* Waits until all that was written to `write_fd` until now is compressed; it need not be closed. 0, or the errno that stopped it. Frees. */
int sysprof_cli_compressor_finish (Compressor *self);
