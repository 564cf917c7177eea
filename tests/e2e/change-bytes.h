// SPDX-License-Identifier: GPL-3.0-or-later

/* Ways to damage a file. The same seed and number damage it in the same way. */

#pragma once

#include <glib.h>
#include <stdint.h>

/* `way` is one of
 *   cut      shorter: anywhere, or near the end of a frame
 *   change   a capture: bits, headers, counts and lengths, texts, frames out of place, bytes put in and taken out
 *   bytes    any file: bits, bytes put in and taken out, cut
 *   folded   a text: bits, characters that mean something, lines out of place, cut
 * The result is *(full)*. */
size_t change_bytes (const char *way,
                     const uint8_t *base,
                     size_t size,
                     uint64_t seed,
                     uint64_t number,
                     uint8_t **changed);
