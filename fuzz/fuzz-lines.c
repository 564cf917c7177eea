// SPDX-License-Identifier: GPL-3.0-or-later

/* Fuzzes the check of line answers from the sandboxed child, which a malicious file may
 * control. Accepted answers must be consistent, and adding them to a table must be safe.
 *
 * The input is little-endian: five 16-bit numbers (status, answers, frames, splits, bytes of
 * text). Rows of two 32-bit numbers follow, then frames of six and a byte, splits of two and a
 * byte, and text. Missing bytes are 0. */

#include "fuzz/fuzz.h"
#include "inspect/elf-sandbox.h"
#include "symbolize/lines.h"
#include "symbolize/symbol-table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define N_ADDRESSES 4
#define MOST        512 /* of each thing: all of it is to fit into the socket */
#define MOST_TEXT   16384

typedef struct
{
  const uint8_t *at;
  size_t left;
} Input;

static uint32_t
take (Input *self, size_t size)
{
  uint32_t number = 0;

  for (size_t i = 0; i < size && self->left > 0; i++, self->at++, self->left--)
    number |= (uint32_t) *self->at << (8 * i);
  return number;
}

/* A part with `n` times `size` bytes. */
static void *
new_part (ChildReply *reply, unsigned part, uint32_t n, size_t size)
{
  void *bytes = g_malloc0 (n % MOST * size + 1);

  sysprof_child_reply_set (reply, part, bytes, n % MOST * size);
  return bytes;
}

static void
fill_rows (ElfLineRow *row, Input *input, uint32_t n)
{
  for (uint32_t i = 0; i < n % MOST; i++)
    {
      row[i].first = take (input, 4);
      row[i].n = take (input, 4);
    }
}

static void
fill_frames (ElfLineFrame *frame, Input *input, uint32_t n)
{
  for (uint32_t i = 0; i < n % MOST; i++)
    {
      frame[i].name = take (input, 4);
      frame[i].demangled = take (input, 4);
      frame[i].file = take (input, 4);
      frame[i].line = take (input, 4);
      frame[i].decl_file = take (input, 4);
      frame[i].decl_line = take (input, 4);
      frame[i].is_inlined = (uint8_t) take (input, 1);
    }
}

static void
fill_splits (ElfSplit *split, Input *input, uint32_t n)
{
  for (uint32_t i = 0; i < n % MOST; i++)
    {
      split[i].directory = take (input, 4);
      split[i].name = take (input, 4);
      split[i].is_other = (uint8_t) take (input, 1);
    }
}

/* The text is 0 where the input ends. */
static void
make_reply (ChildReply *reply, Input *input)
{
  uint32_t n_rows, n_frames, n_splits, text_size;
  char *text;

  reply->status = take (input, 2);
  n_rows = take (input, 2);
  n_frames = take (input, 2);
  n_splits = take (input, 2);
  text_size = take (input, 2);
  fill_rows (new_part (reply, ELF_REPLY_ROW, n_rows, sizeof (ElfLineRow)), input, n_rows);
  fill_frames (new_part (reply, ELF_REPLY_FRAME, n_frames, sizeof (ElfLineFrame)), input,
               n_frames);
  fill_splits (new_part (reply, ELF_REPLY_SPLIT, n_splits, sizeof (ElfSplit)), input, n_splits);
  text_size = text_size < MOST_TEXT ? text_size : MOST_TEXT;
  text = g_malloc0 (text_size + 1);
  for (uint32_t i = 0; i < text_size; i++)
    text[i] = (char) take (input, 1);
  sysprof_child_reply_set (reply, ELF_REPLY_TEXT, text, text_size);
}

/* Into a table of as many addresses, and looks up each of them twice. */
static void
collect (ElfAnswers *lines)
{
  BatchItem items[2 * N_ADDRESSES];
  uint64_t offsets[N_ADDRESSES];
  uint8_t is_known[N_ADDRESSES * 2 + 1] = { 0 };
  uint32_t first[N_ADDRESSES * 2 + 1] = { 0 };
  uint16_t n_inlined[N_ADDRESSES * 2 + 1] = { 0 };
  FileBatch batch = { .path = "/usr/lib/libc.so.6",
                      .build_id = "",
                      .items = items,
                      .n_items = G_N_ELEMENTS (items),
                      .offsets = offsets,
                      .n_offsets = N_ADDRESSES };
  LineCollection collection = { is_known, first, n_inlined,
                                g_array_new (FALSE, FALSE, sizeof (InlinedCall)) };
  g_autoptr (SymbolTable) table = sysprof_symbol_table_new (N_ADDRESSES * 2 + 1);
  SymbolId user = sysprof_symbol_table_add (table, &(Symbol){ .kind = SYMBOL_USER });
  Symbolization symbolization = { .request = &sysprof_lines_request,
                                  .table = table,
                                  .lines = &collection };

  table->file = g_new0 (StringId, N_ADDRESSES * 2 + 1);
  table->line = g_new0 (uint32_t, N_ADDRESSES * 2 + 1);
  for (uint32_t i = 0; i < N_ADDRESSES; i++)
    {
      offsets[i] = i;
      items[2 * i] = (BatchItem){ .offset = i, .address = 2 * i + 1 };
      items[2 * i + 1] = (BatchItem){ .offset = i, .address = 2 * i + 2 };
      table->of_address[2 * i + 1] = table->of_address[2 * i + 2] =
          user; /* lines of others are not taken */
    }

  sysprof_line_collection_add (&symbolization, &batch, lines);
  for (size_t i = 0; i < lines->n_splits; i++)
    sysprof_symbolization_note_gap (&symbolization, batch.path, DEBUG_GAP_NO_SPLIT, 1,
                                    lines->text + lines->split[i].name);
  for (AddressId i = 1; i <= 2 * N_ADDRESSES; i++)
    {
      if (first[i] > collection.inlined->len ||
          n_inlined[i] > collection.inlined->len - first[i])
        abort ();
      for (uint32_t k = 0; k < n_inlined[i]; k++)
        if (g_array_index (collection.inlined, InlinedCall, first[i] + k).symbol >= table->n)
          abort ();
    }
  g_array_unref (collection.inlined);
}

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  static const uint64_t offsets[N_ADDRESSES] = { 0, 1, 2, 3 };
  Input input = { bytes, size < 16384 ? size : 16384 };
  ChildReply reply = CHILD_REPLY_INIT;
  ElfSandbox sandbox = ELF_SANDBOX_INIT;
  int sockets[2], room = 1 << 20;
  ElfAnswers lines;

  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    abort ();
  (void) setsockopt (sockets[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
  make_reply (&reply, &input);
  if (!sysprof_child_send_reply (sockets[1], &reply))
    abort ();
  sysprof_child_reply_clear (&reply);
  (void) shutdown (sockets[1], SHUT_WR);

  sandbox.socket = sockets[0];
  sandbox.pid = -1; /* there is none to be ended */
  sandbox.service = &sysprof_elf_service;
  if (sysprof_elf_sandbox_resolve (
          &sandbox, &(ElfQuery){ .kind = ELF_LINES, .offsets = offsets, .n = N_ADDRESSES },
          &lines) == ELF_OK)
    {
      if (lines.n != N_ADDRESSES)
        abort ();
      collect (&lines);
      sysprof_elf_answers_clear (&lines);
    }
  sysprof_confined_child_end (&sandbox);
  (void) close (sockets[1]);
  return 0;
}
