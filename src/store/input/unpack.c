// SPDX-License-Identifier: GPL-3.0-or-later

/* Compressed captures: recognized by their first bytes, unpacked whole. A compressed file that
 * was cut gives what it had, as a cut capture would. */

#include "store/file-bytes.h"

#include "util/util.h"

#include <bzlib.h>
#include <lzma.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define OUTPUT_STEP ((size_t) 1 << 20) /* bytes between two checks for cancellation */
/* A capture gets some 20 times as small, one of counters alone 100 times; zeros 30,000 times. A
 * file that claims to be so much larger would take memory from others before anything shows
 * that it holds nothing. */
#define MOST_RATIO      200
#define ALWAYS_UNPACKED ((size_t) 256 << 20)   /* bytes: whatever the ratio */
#define LZMA_MOST_DICT  ((uint64_t) 512 << 20) /* bytes that the decoder may take for itself */

typedef enum
{
  STEP_MORE,   /* call again */
  STEP_END,    /* all input used */
  STEP_BROKEN, /* what comes next is damaged */
} Step;

/* Where a decoder stands. It moves both forward. */
typedef struct
{
  const uint8_t *in;
  size_t in_size;
  uint8_t *out;
  size_t out_size;
} Window;

typedef struct
{
  const char *name;
  uint8_t magic[6];
  uint8_t magic_size;
  void *(*begin) (void);
  Step (*step) (void *decoder, Window *window);
  void (*end) (void *decoder);
} Codec;

static void *
gzip_begin (void)
{
  z_stream *stream = g_new0 (z_stream, 1);

  if (inflateInit2 (stream, 15 + 16) != Z_OK) /* 15: largest window; 16: gzip header expected */
    g_clear_pointer (&stream, g_free);
  return stream;
}

static Step
gzip_step (void *decoder, Window *window)
{
  z_stream *stream = decoder;
  size_t in_now = MIN (window->in_size, UINT_MAX);
  size_t out_now = MIN (window->out_size, UINT_MAX);
  int status;

  stream->next_in = (uint8_t *) window->in;
  stream->avail_in = (uInt) in_now;
  stream->next_out = window->out;
  stream->avail_out = (uInt) out_now;
  status = inflate (stream, Z_NO_FLUSH);
  window->in += in_now - stream->avail_in;
  window->in_size -= in_now - stream->avail_in;
  window->out += out_now - stream->avail_out;
  window->out_size -= out_now - stream->avail_out;

  if (status == Z_STREAM_END)
    return window->in_size == 0            ? STEP_END
           : inflateReset (stream) == Z_OK ? STEP_MORE
                                           : STEP_BROKEN; /* members may follow each other */
  return status == Z_OK ? STEP_MORE : STEP_BROKEN;
}

static void
gzip_end (void *decoder)
{
  inflateEnd (decoder);
  g_free (decoder);
}

static void *
bzip2_begin (void)
{
  bz_stream *stream = g_new0 (bz_stream, 1);

  if (BZ2_bzDecompressInit (stream, 0, 0) != BZ_OK)
    g_clear_pointer (&stream, g_free);
  return stream;
}

static Step
bzip2_step (void *decoder, Window *window)
{
  bz_stream *stream = decoder;
  size_t in_now = MIN (window->in_size, UINT_MAX);
  size_t out_now = MIN (window->out_size, UINT_MAX);
  int status;

  stream->next_in = (char *) window->in;
  stream->avail_in = (unsigned) in_now;
  stream->next_out = (char *) window->out;
  stream->avail_out = (unsigned) out_now;
  status = BZ2_bzDecompress (stream);
  window->in += in_now - stream->avail_in;
  window->in_size -= in_now - stream->avail_in;
  window->out += out_now - stream->avail_out;
  window->out_size -= out_now - stream->avail_out;

  if (status != BZ_STREAM_END)
    return status == BZ_OK ? STEP_MORE : STEP_BROKEN;
  if (window->in_size == 0)
    return STEP_END;

  BZ2_bzDecompressEnd (stream);
  *stream = (bz_stream){ 0 };
  return BZ2_bzDecompressInit (stream, 0, 0) == BZ_OK ? STEP_MORE : STEP_BROKEN;
}

static void
bzip2_end (void *decoder)
{
  BZ2_bzDecompressEnd (decoder);
  g_free (decoder);
}

static void *
xz_begin (void)
{
  lzma_stream *stream = g_new0 (lzma_stream, 1);

  if (lzma_stream_decoder (stream, LZMA_MOST_DICT, LZMA_CONCATENATED) != LZMA_OK)
    g_clear_pointer (&stream, g_free);
  return stream;
}

static Step
xz_step (void *decoder, Window *window)
{
  lzma_stream *stream = decoder;
  lzma_ret status;

  stream->next_in = window->in;
  stream->avail_in = window->in_size;
  stream->next_out = window->out;
  stream->avail_out = window->out_size;
  status = lzma_code (stream, LZMA_FINISH);
  window->in = stream->next_in;
  window->in_size = stream->avail_in;
  window->out = stream->next_out;
  window->out_size = stream->avail_out;

  return status == LZMA_OK ? STEP_MORE : status == LZMA_STREAM_END ? STEP_END : STEP_BROKEN;
}

static void
xz_end (void *decoder)
{
  lzma_end (decoder);
  g_free (decoder);
}

static void *
zstd_begin (void)
{
  return ZSTD_createDStream ();
}

static Step
zstd_step (void *decoder, Window *window)
{
  ZSTD_inBuffer in = { window->in, window->in_size, 0 };
  ZSTD_outBuffer out = { window->out, window->out_size, 0 };
  size_t status = ZSTD_decompressStream (decoder, &out, &in);

  window->in += in.pos;
  window->in_size -= in.pos;
  window->out += out.pos;
  window->out_size -= out.pos;

  if (ZSTD_isError (status))
    return STEP_BROKEN;
  return status == 0 && window->in_size == 0 ? STEP_END : STEP_MORE;
}

static void
zstd_end (void *decoder)
{
  ZSTD_freeDStream (decoder);
}

static const Codec codecs[] = {
  { "gzip", { 0x1f, 0x8b }, 2, gzip_begin, gzip_step, gzip_end },
  { "bzip2", { 'B', 'Z', 'h' }, 3, bzip2_begin, bzip2_step, bzip2_end },
  { "xz", { 0xfd, '7', 'z', 'X', 'Z', 0 }, 6, xz_begin, xz_step, xz_end },
  { "zstd", { 0x28, 0xb5, 0x2f, 0xfd }, 4, zstd_begin, zstd_step, zstd_end },
};

static const Codec *
recognize (const FileBytes *bytes)
{
  for (size_t i = 0; i < G_N_ELEMENTS (codecs); i++)
    if (bytes->size >= codecs[i].magic_size &&
        memcmp (bytes->bytes, codecs[i].magic, codecs[i].magic_size) == 0)
      return &codecs[i];

  return NULL;
}

static bool
check_ratio (size_t size, size_t most, const char *name, const char *codec, GError **error)
{
  if (size <= MAX (most, ALWAYS_UNPACKED))
    return true;

  g_set_error (
      error, SYSPROF_ERROR, SYSPROF_ERROR_NO_SPACE,
      "Cannot unpack '%s': it becomes more than %d times as large, as no capture does. "
      "If you trust it, unpack it with the %s program first, and give what comes out.",
      name, MOST_RATIO, codec);
  return false;
}

bool
sysprof_file_bytes_unpack (FileBytes *self,
                           const char *name,
                           size_t limit,
                           const uint8_t *magic,
                           size_t n_magic,
                           Progress *progress,
                           GError **error)
{
  const Codec *codec = recognize (self);
  size_t most = self->size > G_MAXSIZE / MOST_RATIO ? G_MAXSIZE : self->size * MOST_RATIO;
  FileBytes unpacked = { 0 };
  Window window = { .in = self->bytes, .in_size = self->size };
  Step step = STEP_MORE;
  void *decoder;

  if (codec == NULL)
    return true;

  decoder = codec->begin ();
  if (decoder == NULL)
    {
      g_set_error (
          error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
          "Cannot unpack '%s': the %s decoder does not start, most likely for want of memory. "
          "Unpack it first, and give what comes out.",
          name, codec->name);
      return false;
    }

  while (step == STEP_MORE)
    {
      size_t in_before = window.in_size;

      if ((!sysprof_progress_at (progress, self->size - window.in_size, self->size) &&
           sysprof_progress_set_error_if_cancelled (progress, error)) ||
          !check_ratio (unpacked.size, most, name, codec->name, error) ||
          !sysprof_file_bytes_reserve (&unpacked, OUTPUT_STEP, name, limit, error))
        {
          codec->end (decoder);
          sysprof_file_bytes_clear (&unpacked);
          return false;
        }

      window.out = unpacked.bytes + unpacked.size;
      window.out_size = MIN (unpacked.reserved - unpacked.size, OUTPUT_STEP);
      step = codec->step (decoder, &window);

      /* No progress in input or output: the file is truncated. */
      if (step == STEP_MORE && window.in_size == in_before &&
          window.out == unpacked.bytes + unpacked.size)
        step = STEP_BROKEN;
      unpacked.size = (size_t) (window.out - unpacked.bytes);
      /* A few bytes may stand for all memory that there is, and be no capture. */
      if (n_magic > 0 && unpacked.size >= n_magic &&
          memcmp (unpacked.bytes, magic, n_magic) != 0)
        step = STEP_END;
    }

  codec->end (decoder);
  if (step == STEP_BROKEN && unpacked.size == 0)
    {
      g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_CORRUPT,
                   "Cannot unpack '%s': it begins like %s, but what follows is damaged. "
                   "Copy it again from where it was recorded.",
                   name, codec->name);
      sysprof_file_bytes_clear (&unpacked);
      return false;
    }

  unpacked.is_cut = step == STEP_BROKEN;
  sysprof_file_bytes_clear (self);
  *self = unpacked;
  return true;
}
