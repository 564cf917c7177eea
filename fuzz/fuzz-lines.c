// SPDX-License-Identifier: GPL-3.0-or-later

/* Fuzzes the check of line answers from the sandboxed child, which a malicious file may
 * control. Accepted answers must be consistent, and adding them to a table must be safe.
 *
 * The input is little-endian: five 16-bit numbers (status, answers, frames, splits, bytes of
 * text). Rows of two 32-bit numbers follow, then frames of six and a byte, splits of two and a
 * byte, and text. Missing bytes are 0. */

#include "fuzz/fuzz.h"
#include "inspect/elf-messages.h"
#include "inspect/elf-sandbox.h"
#include "symbolize/lines.h"
#include "symbolize/symbol-table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define N_ADDRESSES 4
#define MOST        512 /* of each thing: all of it is to fit into the socket */

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

/* Sent at once: many small parts would not all fit into the socket, which has no reader
 * meanwhile. */
static void
put (GByteArray *answer, const void *bytes, size_t size)
{
  g_byte_array_append (answer, bytes, (guint) size);
}

static void
put_rows (GByteArray *answer, Input *input, uint32_t n)
{
  for (uint32_t i = 0; i < n % MOST; i++)
    {
      ElfLineRow row = { .first = take (input, 4) };

      row.n = take (input, 4);
      put (answer, &row, sizeof row);
    }
}

static void
put_frames (GByteArray *answer, Input *input, uint32_t n)
{
  for (uint32_t i = 0; i < n % MOST; i++)
    {
      ElfLineFrame frame = { .name = take (input, 4) };

      frame.demangled = take (input, 4);
      frame.file = take (input, 4);
      frame.line = take (input, 4);
      frame.decl_file = take (input, 4);
      frame.decl_line = take (input, 4);
      frame.is_inlined = (uint8_t) take (input, 1);
      put (answer, &frame, sizeof frame);
    }
}

static void
put_splits (GByteArray *answer, Input *input, uint32_t n)
{
  for (uint32_t i = 0; i < n % MOST; i++)
    {
      ElfSplit split = { .directory = take (input, 4) };

      split.name = take (input, 4);
      split.is_other = (uint8_t) take (input, 1);
      put (answer, &split, sizeof split);
    }
}

static void
put_answer (GByteArray *answer, Input *input)
{
  static const uint8_t nothing[16384];
  ElfReply reply = { .status = take (input, 2) };
  size_t rest;

  reply.n_answers = take (input, 2);
  reply.n_frames = take (input, 2);
  reply.n_splits = take (input, 2);
  reply.text_size = take (input, 2);
  put (answer, &reply, sizeof reply);
  put_rows (answer, input, reply.n_answers);
  put_frames (answer, input, reply.n_frames);
  put_splits (answer, input, reply.n_splits);
  put (answer, input->at, input->left);
  /* An input that was cut is an answer all the same, unless it claims more than there can be. */
  rest = reply.text_size > input->left ? (size_t) reply.text_size - input->left : 0;
  put (answer, nothing, rest < sizeof nothing ? rest : sizeof nothing);
}

/* Into a table of as many addresses, and looks up each of them twice. */
static void
collect (ElfLines *lines)
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
  Symbolization symbolization = { .table = table, .lines = &collection };

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
    sysprof_line_collection_note_gap (&symbolization, &batch, DEBUG_GAP_NO_SPLIT, 1,
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
  g_autoptr (GByteArray) answer = g_byte_array_new ();
  ElfSandbox sandbox = ELF_SANDBOX_INIT;
  int sockets[2], room = 1 << 20;
  ElfLines lines;

  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    abort ();
  (void) setsockopt (sockets[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
  put_answer (answer, &input);
  if (!sysprof_write_all (sockets[1], answer->data, answer->len))
    abort ();
  (void) shutdown (sockets[1], SHUT_WR);

  sandbox.socket = sockets[0];
  sandbox.pid = -1; /* there is none to be ended */
  if (sysprof_elf_sandbox_resolve_lines (&sandbox, false, offsets, N_ADDRESSES, &lines) ==
      ELF_OK)
    {
      if (lines.n != N_ADDRESSES)
        abort ();
      collect (&lines);
      sysprof_elf_lines_clear (&lines);
    }
  sysprof_elf_sandbox_clear (&sandbox);
  (void) close (sockets[1]);
  return 0;
}
