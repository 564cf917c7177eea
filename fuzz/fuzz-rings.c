// SPDX-License-Identifier: GPL-3.0-or-later

/* Fuzzes the reading of rings that recorded programs share with the recorder. Two rings have
 * the same contents. Between two polls the contents change, as a hostile program could do.
 *
 * Input: for each of the polls the positions of both writers, u32 each; then the bodies. */

#include "capture/capture.h"
#include "fuzz/fuzz.h"
#include "rings/ring-reader.h"
#include "rings/rings.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N_POLLS  3
#define N_RINGS  2
#define MIN_BODY 64
#define MAX_BODY 262144

typedef struct
{
  uint64_t header[4];
  uint8_t *body; /* [2 * size] so that reading beyond is seen */
} Memory;

static void
add_ring (RingSet *rings, Memory *memory, const uint8_t *bytes, size_t size)
{
  memory->body = malloc (2 * size);
  if (memory->body == NULL)
    abort ();
  memcpy (memory->body, bytes, size);
  memcpy (memory->body + size, bytes, size);
  sysprof_ring_set_add_memory (rings, 1, (uint8_t *) memory->header, memory->body,
                               (uint32_t) size);
}

static void
scribble (Memory *memory, size_t size, unsigned poll)
{
  for (size_t at = poll; at < 2 * size; at += 97)
    memory->body[at] ^= (uint8_t) (1 << poll);
}

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  static SysprofCaptureWriter *writer;
  uint32_t tails[N_POLLS][N_RINGS];
  Memory memories[N_RINGS] = { 0 };
  RingSet *rings;

  if (size < sizeof tails + MIN_BODY || size > sizeof tails + MAX_BODY)
    return 0;
  if (writer == NULL)
    writer = sysprof_capture_writer_new_from_fd (open ("/dev/null", O_WRONLY | O_CLOEXEC), 0);
  if (writer == NULL)
    abort ();

  memcpy (tails, bytes, sizeof tails);
  bytes += sizeof tails;
  size = (size - sizeof tails) / 8 * 8;
  rings = sysprof_ring_set_new (writer, NULL, NULL);
  for (unsigned i = 0; i < N_RINGS; i++)
    add_ring (rings, &memories[i], bytes, size);

  for (unsigned poll = 0; poll < N_POLLS; poll++)
    {
      for (unsigned i = 0; i < N_RINGS; i++)
        {
          if (poll > 0)
            scribble (&memories[i], size, poll);
          memcpy ((uint8_t *) memories[i].header + RING_TAIL_AT, &tails[poll][i],
                  sizeof (uint32_t));
        }
      (void) sysprof_ring_set_drain (rings, poll == 0 ? 0 : INT64_MAX);
    }

  sysprof_ring_set_free (rings);
  for (unsigned i = 0; i < N_RINGS; i++)
    free (memories[i].body);
  return 0;
}
