// SPDX-License-Identifier: GPL-3.0-or-later

/* Damages a file in a repeatable way. See change-bytes.h. */

#include "tests/e2e/change-bytes.h"

#include <stdbool.h>
#include <string.h>

#define FILE_HEADER  256
#define FRAME_HEADER 24

/* A file on its way. *Owned.* */
typedef struct
{
  uint64_t random;
  GByteArray *bytes;
  GArray
      *frames; /* of size_t: where they begin; as in the base, so only right until bytes move */
} Work;

static uint64_t
next_random (Work *self)
{
  uint64_t z = (self->random += 0x9e3779b97f4a7c15); /* splitmix64 */

  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

static size_t
random_below (Work *self, size_t n)
{
  return n == 0 ? 0 : (size_t) (next_random (self) % n);
}

static size_t
frame_size (const Work *self, size_t at)
{
  return self->bytes->data[at] | (size_t) self->bytes->data[at + 1] << 8;
}

static void
find_frames (Work *self)
{
  size_t at = FILE_HEADER;

  while (at + FRAME_HEADER <= self->bytes->len)
    {
      size_t size = frame_size (self, at);

      if (size < FRAME_HEADER || size > self->bytes->len - at)
        break;
      g_array_append_val (self->frames, at);
      at += size;
    }
}

/* Each type as often as the others, and not by its share: there are thousands of maps and one symbol table. */
static size_t
random_frame (Work *self)
{
  size_t n = self->frames->len;
  size_t start = random_below (self, n);
  unsigned type = (unsigned) random_below (self, 18);

  for (size_t i = 0; i < n; i++)
    {
      size_t at = g_array_index (self->frames, size_t, (start + i) % n);

      if (self->bytes->data[at + 16] == type)
        return at;
    }
  return n == 0 ? 0 : g_array_index (self->frames, size_t, start);
}

static uint64_t
odd_number (Work *self)
{
  static const uint64_t odd[] = {
    0,
    1,
    7,
    8,
    23,
    24,
    0x7f,
    0x80,
    0xff,
    0x100,
    0x7fff,
    0x8000,
    65528,
    0xffff,
    0x10000,
    0x7fffffff,
    1u << 31,
    0xfffffffe,
    0xffffffff,
    1ull << 32,
    1ull << 47,
    INT64_MAX,
    1ull << 63,
    UINT64_MAX,
    0xe000000000000000,
    UINT64_MAX - 127,
    UINT64_MAX - 511,
  };

  return random_below (self, 4) == 0 ? next_random (self)
                                     : odd[random_below (self, G_N_ELEMENTS (odd))];
}

static void
put (Work *self, size_t at, uint64_t value, size_t width)
{
  for (size_t i = 0; i < width && at + i < self->bytes->len; i++)
    self->bytes->data[at + i] = (uint8_t) (value >> (8 * i));
}

static void
flip_bits (Work *self)
{
  for (size_t n = 1 + random_below (self, 16); n > 0; n--)
    self->bytes->data[random_below (self, self->bytes->len)] ^=
        (uint8_t) (1u << random_below (self, 8));
}

static void
change_file_header (Work *self)
{
  put (self, 4 + 4 * random_below (self, 23), odd_number (self), 1u << random_below (self, 4));
}

static void
change_frame_header (Work *self)
{
  static const struct
  {
    size_t at, width;
  } fields[] = { { 0, 2 }, { 2, 2 }, { 4, 4 }, { 8, 8 }, { 16, 1 }, { 16, 1 }, { 20, 4 } };
  size_t field = random_below (self, G_N_ELEMENTS (fields));
  size_t frame = random_frame (self);
  uint64_t value = odd_number (self);

  if (fields[field].at == 16)
    value = random_below (self, 20);
  else if (fields[field].at == 0 && random_below (self, 2) == 0)
    value = 24 + 8 * random_below (self, 100);
  put (self, frame + fields[field].at, value, fields[field].width);
}

/* Counts and lengths come after the header of a frame, as do addresses and numbers. */
static void
change_payload_number (Work *self)
{
  size_t frame = random_frame (self);
  size_t width = 1u << random_below (self, 4);

  put (self, frame + FRAME_HEADER + width * random_below (self, 40 / width), odd_number (self),
       width);
}

static void
change_text (Work *self)
{
  static const char *const texts[] = {
    "\033[2J\033]0;title\a",
    "<script>&\"'",
    "\xff\xfe\xc0\x80",
    "\r\n\t\b",
    "../../../etc/passwd",
    "%s%n%d",
    "]]>",
    "\xe2\x80\xae",
    "__symbols__",
    "/proc/kallsyms.gz",
    "/dev/zero",
    ";",
    "\\",
    "\xf4\x90\x80\x80",
  };
  const char *text = texts[random_below (self, G_N_ELEMENTS (texts))];
  size_t frame = random_frame (self);
  size_t size = MIN (frame_size (self, frame), self->bytes->len - frame);
  size_t at, length = strlen (text);

  if (size <= FRAME_HEADER) /* changed before */
    return;
  at = frame + FRAME_HEADER + random_below (self, size - FRAME_HEADER);
  size -= at - frame;
  if (length <= size)
    memcpy (self->bytes->data + at, text, length);
  else
    memset (self->bytes->data + at, 'A', size); /* no end */
}

static void
scribble (Work *self)
{
  size_t at = random_below (self, self->bytes->len);
  size_t n = random_below (self, 200);

  for (size_t i = 0; i < n && at + i < self->bytes->len; i++)
    self->bytes->data[at + i] = (uint8_t) next_random (self);
}

/* --- these move bytes --- */

static void
put_in (Work *self, size_t at, const uint8_t *bytes, size_t size)
{
  size_t behind = self->bytes->len - at;

  g_byte_array_set_size (self->bytes, self->bytes->len + (guint) size);
  memmove (self->bytes->data + at + size, self->bytes->data + at, behind);
  memcpy (self->bytes->data + at, bytes, size);
}

static void
swap_frames (Work *self)
{
  size_t a = random_frame (self), b = random_frame (self);
  g_autofree uint8_t *copy = NULL;
  size_t size;

  if (a > b)
    {
      size_t c = a;

      a = b;
      b = c;
    }
  size = frame_size (self, b);
  copy = g_memdup2 (self->bytes->data + b, size);
  g_byte_array_remove_range (self->bytes, (guint) b, (guint) size);
  put_in (self, a, copy, size);
}

/* Some bytes appear again elsewhere. */
static void
splice_any (Work *self)
{
  size_t from = random_below (self, self->bytes->len);
  size_t size = 1 + random_below (self, 4096);
  g_autofree uint8_t *copy = NULL;

  size = MIN (size, self->bytes->len - from);
  copy = g_memdup2 (self->bytes->data + from, size);
  put_in (self, random_below (self, self->bytes->len), copy, size);
}

static void
repeat_frame (Work *self)
{
  size_t from = random_frame (self), to = random_frame (self);
  size_t size = frame_size (self, from);
  g_autofree uint8_t *copy = g_memdup2 (self->bytes->data + from, size);

  for (size_t n = 1 + random_below (self, 20); n > 0; n--)
    put_in (self, to, copy, size);
}

static void
take_out (Work *self)
{
  size_t at = random_below (self, self->bytes->len);
  size_t size = 1 + random_below (self, 4096);

  size = MIN (size, self->bytes->len - at);
  g_byte_array_remove_range (self->bytes, (guint) at, (guint) size);
}

static void
cut (Work *self)
{
  size_t at = random_below (self, self->bytes->len);

  if (self->frames->len > 0 && random_below (self, 2) == 0)
    at = random_frame (self) + random_below (self, FRAME_HEADER + 17) - 8;
  if (random_below (self, 20) == 0)
    at = random_below (self, FILE_HEADER + FRAME_HEADER);
  g_byte_array_set_size (self->bytes, (guint) MIN (at, self->bytes->len));
}

static void
change_capture (Work *self)
{
  static void (*const in_place[]) (
      Work *) = { flip_bits,   change_file_header,    change_frame_header,
                  change_text, change_payload_number, change_payload_number,
                  scribble,    change_frame_header };
  static void (*const moving[]) (Work *) = { swap_frames, repeat_frame, splice_any, take_out };

  if (self->frames->len == 0)
    return;
  if (random_below (self, 3) != 0)
    for (size_t n = 1 + random_below (self, 5); n > 0; n--)
      in_place[random_below (self, G_N_ELEMENTS (in_place))](self);
  else
    moving[random_below (self, G_N_ELEMENTS (moving))](self);
}

static void
change_folded (Work *self)
{
  static const char letters[] = ";; \n\n\t\r019-.\033\377\200_[k]";

  for (size_t n = 1 + random_below (self, 30); n > 0; n--)
    self->bytes->data[random_below (self, self->bytes->len)] =
        (uint8_t) letters[random_below (self, sizeof letters)];
  switch (random_below (self, 4))
    {
    case 0:
      cut (self);
      break;
    case 1:
      take_out (self);
      break;
    case 2:
      scribble (self);
      break;
    default:
      break;
    }
}

static void
change_any (Work *self)
{
  static void (*const ways[]) (Work *) = { flip_bits, scribble, cut, take_out, splice_any };

  ways[random_below (self, G_N_ELEMENTS (ways))](self);
}

size_t
change_bytes (const char *way,
              const uint8_t *base,
              size_t size,
              uint64_t seed,
              uint64_t number,
              uint8_t **changed)
{
  Work work = { .random = seed ^ (number * 0xd1342543de82ef95),
                .bytes = g_byte_array_new (),
                .frames = g_array_new (FALSE, FALSE, sizeof (size_t)) };

  g_byte_array_append (work.bytes, base, (guint) size);
  if (strcmp (way, "folded") == 0)
    change_folded (&work);
  else if (strcmp (way, "bytes") == 0)
    change_any (&work);
  else
    {
      find_frames (&work);
      if (strcmp (way, "cut") == 0)
        cut (&work);
      else
        change_capture (&work);
    }

  g_array_unref (work.frames);
  size = work.bytes->len;
  *changed = g_byte_array_free (work.bytes, FALSE);
  return size;
}
