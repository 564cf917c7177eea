// SPDX-License-Identifier: GPL-3.0-or-later

/* Compresses a pipe on a thread. See compress.h for the interface; each format is one row of
 * the table of compressors. */

#include "cli/compress.h"

#include "util/util.h"

#include <bzlib.h>
#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define BLOCK_SIZE     (256 * 1024)
#define FLUSH_INTERVAL G_USEC_PER_SEC
#define PIPE_SIZE      (1024 * 1024) /* limit for unprivileged users */

typedef enum
{
  STEP_MORE,  /* more input will follow */
  STEP_FLUSH, /* make all input so far readable */
  STEP_END,
} Step;

struct Compressor
{
  const Codec *codec;
  GThread *thread;
  int input;
  int finish; /* eventfd: the pipe now contains the last bytes */
  int output;
  uint64_t size; /* bytes written to `fd` */
  int error;     /* errno; read after the thread has ended */
  union
  {
    z_stream zlib;
    lzma_stream lzma;
    bz_stream bzip2;
    ZSTD_CStream *zstd;
  } state;
  uint8_t in[BLOCK_SIZE];
  uint8_t out[BLOCK_SIZE];
};

struct Codec
{
  const char *suffix;
  bool (*begin) (Compressor *self);
  /* Compresses `size` bytes of `in` and writes the result. Returns FALSE with errno. */
  bool (*run) (Compressor *self, size_t size, Step step);
  void (*end) (Compressor *self);
};

static bool
write_out (Compressor *self, size_t size)
{
  if (sysprof_is_truncated (self->output, self->size))
    {
      errno = ESTALE;
      return false;
    }
  self->size += size;
  return sysprof_write_all (self->output, self->out, size);
}

static bool
begin_gzip (Compressor *self)
{
  /* window of 15 bits; 16 requests a gzip header */
  return deflateInit2 (&self->state.zlib, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8,
                       Z_DEFAULT_STRATEGY) == Z_OK;
}

static bool
run_gzip (Compressor *self, size_t size, Step step)
{
  static const int flush[] = { Z_NO_FLUSH, Z_SYNC_FLUSH, Z_FINISH };
  z_stream *z = &self->state.zlib;

  z->next_in = self->in;
  z->avail_in = (uInt) size;
  do
    {
      z->next_out = self->out;
      z->avail_out = BLOCK_SIZE;
      (void) deflate (
          z,
          flush
              [step]); /* cannot fail with a valid stream; Z_BUF_ERROR means that nothing was left to do */
      if (!write_out (self, BLOCK_SIZE - z->avail_out))
        return false;
    }
  while (z->avail_out == 0);
  return true;
}

static void
end_gzip (Compressor *self)
{
  (void) deflateEnd (&self->state.zlib); /* Z_DATA_ERROR: ended early, as intended */
}

static bool
begin_xz (Compressor *self)
{
  self->state.lzma = (lzma_stream) LZMA_STREAM_INIT;
  /* The fastest level, because compression must keep up with the recorder. */
  return lzma_easy_encoder (&self->state.lzma, 0, LZMA_CHECK_CRC64) == LZMA_OK;
}

static bool
run_xz (Compressor *self, size_t size, Step step)
{
  static const lzma_action action[] = { LZMA_RUN, LZMA_SYNC_FLUSH, LZMA_FINISH };
  lzma_stream *stream = &self->state.lzma;
  lzma_ret result;

  stream->next_in = self->in;
  stream->avail_in = size;
  do
    {
      stream->next_out = self->out;
      stream->avail_out = BLOCK_SIZE;
      result = lzma_code (stream, action[step]);
      if (!write_out (self, BLOCK_SIZE - stream->avail_out))
        return false;
      if (result != LZMA_OK && result != LZMA_STREAM_END && result != LZMA_BUF_ERROR)
        {
          errno = result == LZMA_MEM_ERROR ? ENOMEM : EIO;
          return false;
        }
    }
  while (stream->avail_in > 0 || stream->avail_out == 0 ||
         (step != STEP_MORE && result == LZMA_OK));
  return true;
}

static void
end_xz (Compressor *self)
{
  lzma_end (&self->state.lzma);
}

static bool
begin_bzip2 (Compressor *self)
{
  return BZ2_bzCompressInit (&self->state.bzip2, 1, 0, 0) == BZ_OK;
}

static bool
run_bzip2 (Compressor *self, size_t size, Step step)
{
  static const int action[] = { BZ_RUN, BZ_FLUSH, BZ_FINISH };
  bz_stream *stream = &self->state.bzip2;
  int result;

  stream->next_in = (char *) self->in;
  stream->avail_in = (unsigned) size;
  do
    {
      if (step == STEP_MORE && stream->avail_in == 0)
        break; /* LZMA reports an error when it runs without input */
      stream->next_out = (char *) self->out;
      stream->avail_out = BLOCK_SIZE;
      result = BZ2_bzCompress (stream, action[step]);
      if (!write_out (self, BLOCK_SIZE - stream->avail_out))
        return false;
      if (result < 0)
        {
          errno = EIO;
          return false;
        }
    }
  while (stream->avail_in > 0 || result == BZ_FLUSH_OK || result == BZ_FINISH_OK);
  return true;
}

static void
end_bzip2 (Compressor *self)
{
  (void) BZ2_bzCompressEnd (&self->state.bzip2); /* releases the stream in any state */
}

static bool
begin_zstd (Compressor *self)
{
  self->state.zstd = ZSTD_createCStream ();
  return self->state.zstd != NULL;
}

static bool
run_zstd (Compressor *self, size_t size, Step step)
{
  static const ZSTD_EndDirective directive[] = { ZSTD_e_continue, ZSTD_e_flush, ZSTD_e_end };
  ZSTD_inBuffer in = { self->in, size, 0 };
  size_t left;

  do
    {
      ZSTD_outBuffer out = { self->out, BLOCK_SIZE, 0 };

      left = ZSTD_compressStream2 (self->state.zstd, &out, &in, directive[step]);
      if (ZSTD_isError (left))
        {
          errno = EIO;
          return false;
        }
      if (!write_out (self, out.pos))
        return false;
    }
  while (in.pos < in.size || (step != STEP_MORE && left > 0));
  return true;
}

static void
end_zstd (Compressor *self)
{
  (void) ZSTD_freeCStream (self->state.zstd); /* always returns 0 */
}

static const Codec codecs[] = {
  { ".syscap.gz", begin_gzip, run_gzip, end_gzip },
  { ".syscap.zst", begin_zstd, run_zstd, end_zstd },
  { ".syscap.xz", begin_xz, run_xz, end_xz },
  { ".syscap.bz2", begin_bzip2, run_bzip2, end_bzip2 },
};

const Codec *
sysprof_cli_codec_for_name (const char *name)
{
  for (size_t i = 0; i < G_N_ELEMENTS (codecs); i++)
    if (g_str_has_suffix (name, codecs[i].suffix))
      return &codecs[i];
  return NULL;
}

/* Returns FALSE with errno set. */
static bool
read_and_compress (Compressor *self, bool *is_end)
{
  ssize_t size = read (self->input, self->in, BLOCK_SIZE);

  if (size < 0)
    return errno == EINTR;
  *is_end = size == 0;
  return size == 0 || self->codec->run (self, (size_t) size, STEP_MORE);
}

/* Compresses until the end of the input. Flushes at least once a second, so that the file stays
 * readable. The input ends when all writers have closed the pipe, or when it is empty after the
 * request to finish. */
static bool
compress_all (Compressor *self)
{
  int64_t flush_at = g_get_monotonic_time () + FLUSH_INTERVAL;
  bool is_flushed = true;
  bool is_end = false;

  while (!is_end)
    {
      struct pollfd ready[] = { { self->input, POLLIN, 0 }, { self->finish, POLLIN, 0 } };
      int64_t wait_usec = MAX (flush_at - g_get_monotonic_time (), 0);

      if (poll (ready, G_N_ELEMENTS (ready), is_flushed ? -1 : (int) (wait_usec / 1000) + 1) <
          0)
        {
          if (errno != EINTR)
            return false;
          continue;
        }
      if (ready[0].revents != 0)
        {
          if (!read_and_compress (self, &is_end))
            return false;
          is_flushed = false;
        }
      else if (ready[1].revents != 0)
        is_end = true;
      if (!is_end && !is_flushed && g_get_monotonic_time () >= flush_at)
        {
          if (!self->codec->run (self, 0, STEP_FLUSH))
            return false;
          is_flushed = true;
          flush_at = g_get_monotonic_time () + FLUSH_INTERVAL;
        }
    }
  return self->codec->run (self, 0, STEP_END);
}

static gpointer
compress_thread (gpointer data)
{
  Compressor *self = data;

  if (!compress_all (self))
    self->error = errno;
  if (close (self->output) < 0 && self->error == 0)
    self->error = errno;
  /* The recorder gets EPIPE. Nothing more is read. */
  (void) close (self->input); /* open for reading only */
  return NULL;
}

Compressor *
sysprof_cli_compressor_new (const Codec *codec, int fd, int *write_fd, GError **error)
{
  g_autofree Compressor *self = g_new0 (Compressor, 1);
  int ends[2];

  self->codec = codec;
  self->output = fd;
  if (!codec->begin (self))
    {
      (void) close (fd); /* nothing was written */
      g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
                   "Cannot compress for '%s': not enough memory. Leave the suffix out.",
                   codec->suffix);
      return NULL;
    }
  self->finish = eventfd (0, EFD_CLOEXEC);
  if (self->finish < 0 || pipe2 (ends, O_CLOEXEC) < 0)
    {
      sysprof_set_error_errno (error, "Cannot compress for '%s'", codec->suffix);
      if (self->finish >= 0)
        (void) close (self->finish); /* no event was signaled */
      codec->end (self);
      (void) close (fd); /* nothing was written */
      return NULL;
    }
  (void) fcntl (ends[1], F_SETPIPE_SZ,
                PIPE_SIZE); /* a smaller pipe works too, but blocks the writer more often */
  self->input = ends[0];
  *write_fd = ends[1];
  self->thread = g_thread_try_new ("compress", compress_thread, self, error);
  if (self->thread != NULL)
    return g_steal_pointer (&self);

  g_prefix_error (error, "Cannot compress for '%s': ", codec->suffix);
  sysprof_autofd_close (&ends[0]);
  sysprof_autofd_close (write_fd);
  sysprof_autofd_close (&self->finish);
  sysprof_autofd_close (&self->output);
  codec->end (self);
  return NULL;
}

int
sysprof_cli_compressor_finish (Compressor *self)
{
  int error;

  (void) eventfd_write (self->finish, 1); /* the first write to an eventfd always succeeds */
  g_thread_join (self->thread);
  (void) close (self->finish); /* only wakes the thread */
  error = self->error;
  self->codec->end (self);
  g_free (self);
  return error;
}
