// SPDX-License-Identifier: GPL-3.0-or-later

/* Instructions of one function with their weights, below the source lines they come from. */

#include "views/sample-rows.h"

#include <string.h>

enum
{
  SELF,
  TOTAL,
  ADDRESS,
  BYTES,
  INSTRUCTION,
  FUNCTION,
  BINARY,
  INLINED,
  FILE_NAME,
  LINE,
  N_COLUMNS,
};

static const Column columns[] = {
  [SELF] = { "self", "SELF", COLUMN_COUNT, .share = true, .hides_zero = true },
  [TOTAL] = { "total", "TOTAL", COLUMN_COUNT, .share = true, .hides_zero = true },
  [ADDRESS] = { "address", "ADDRESS", COLUMN_TEXT },
  [BYTES] = { "bytes", "BYTES", COLUMN_TEXT, .extra = 2 },
  [INSTRUCTION] = { "instruction", "INSTRUCTION", COLUMN_TEXT, .is_long = true },
  [FUNCTION] = { "function", "FUNCTION", COLUMN_TEXT, .heading = 1 },
  [BINARY] = { "binary", "BINARY", COLUMN_TEXT, .heading = 1, .is_command = true },
  [INLINED] = { "inlined", "INLINED", COLUMN_TEXT, .heading = 2, .may_miss = true },
  [FILE_NAME] = { "file", "FILE", COLUMN_TEXT, .heading = 2, .may_miss = true,
                  .is_command = true },
  [LINE] = { "line", "LINE", COLUMN_NUMBER, .heading = 2, .may_miss = true },
};

typedef struct
{
  const ViewRequest *request;
  Rows *rows;
  Disassembly code;
  uint64_t *self;  /* [code.n] of each instruction */
  uint64_t *total; /* [code.n] */
} Shown;

/* The heaviest pieces of code come first. */
typedef struct
{
  const CodePiece *piece;
  uint64_t weight;
} Piece;

static int
compare_pieces (const void *a, const void *b)
{
  const Piece *left = a, *right = b;

  if (left->weight != right->weight)
    return left->weight > right->weight ? -1 : 1;
  return (left->piece > right->piece) - (left->piece < right->piece);
}

static void
add_instruction (Shown *self, const CodePiece *piece, uint32_t number)
{
  const SymbolTable *symbols = self->request->symbols;
  const Instruction *instruction = &self->code.row[number];
  const Intern *strings = &self->code.strings;
  Cell *cells = sysprof_rows_add (self->rows);
  char address[32];

  g_snprintf (address, sizeof address, "0x%" G_GINT64_MODIFIER "x", instruction->address);
  cells[SELF].count = self->self[number];
  cells[TOTAL].count = self->total[number];
  cells[ADDRESS].text = sysprof_rows_dup (self->rows, address);
  cells[BYTES].text =
      sysprof_rows_dup (self->rows, sysprof_intern_get (strings, instruction->bytes));
  cells[INSTRUCTION].text =
      sysprof_rows_dup (self->rows, sysprof_intern_get (strings, instruction->text));
  cells[FUNCTION].text = sysprof_symbol_name (symbols, piece->symbol);
  cells[BINARY].text = piece->path;
  cells[INLINED].text =
      sysprof_rows_dup (self->rows, sysprof_intern_get (strings, instruction->inlined));
  cells[FILE_NAME].text =
      sysprof_rows_dup (self->rows, sysprof_intern_get (strings, instruction->file));
  cells[LINE].number = instruction->line != 0 ? instruction->line : NO_NUMBER;
}

static void
add_pieces (Shown *self)
{
  g_autofree Piece *pieces = g_new0 (Piece, MAX (self->code.n_pieces, 1));

  for (uint32_t i = 0; i < self->code.n_pieces; i++)
    {
      const CodePiece *piece = pieces[i].piece = &self->code.piece[i];

      for (uint32_t j = 0; j < piece->n; j++)
        if (self->code.row[piece->first + j].is_wanted)
          pieces[i].weight += self->self[piece->first + j] + self->total[piece->first + j];
    }
  qsort (pieces, self->code.n_pieces, sizeof *pieces, compare_pieces);
  for (uint32_t i = 0; i < self->code.n_pieces; i++)
    for (uint32_t j = 0; j < pieces[i].piece->n && sysprof_is_wanted_at (j); j++)
      if (self->code.row[pieces[i].piece->first + j].is_wanted)
        add_instruction (self, pieces[i].piece, pieces[i].piece->first + j);
}

/* --- notes --- */

static void
describe_pieces (const Shown *self, GString *note)
{
  const Disassembly *code = &self->code;
  uint32_t n_others = 0;
  bool is_described = false;

  for (uint32_t i = 0; i < code->n_pieces; i++)
    {
      const CodePiece *piece = &code->piece[i];

      if (piece->n > 0 && piece->end != 0 && piece->end - piece->start > MOST_CODE_OF_PIECE)
        g_string_append_printf (
            note, "Only the first %2$u of %3$" G_GUINT64_FORMAT " KiB of '%1$s' are shown. ",
            sysprof_symbol_name (self->request->symbols, piece->symbol),
            (unsigned) (MOST_CODE_OF_PIECE >> 10), (piece->end - piece->start + 1023) >> 10);
      if (piece->problem == NULL)
        continue;
      if (is_described)
        {
          n_others++;
          continue;
        }
      g_string_append_printf (note, "The code of '%s'%s%s%s cannot be shown: %s%s%s%s. ",
                              sysprof_symbol_name (self->request->symbols, piece->symbol),
                              piece->path[0] != '\0' ? " in '" : "", piece->path,
                              piece->path[0] != '\0' ? "'" : "", piece->problem,
                              piece->remedy[0] != '\0' ? " (" : "", piece->remedy,
                              piece->remedy[0] != '\0' ? ")" : "");
      is_described = true;
    }
  if (n_others > 0)
    g_string_append_printf (note, "The same is true for %u more. ", n_others);
  if (code->is_cut)
    g_string_append_printf (
        note, "Only %u functions are shown; name one exactly to see it alone. ", MOST_PIECES);
}

/* BPF programs and trampolines of ftrace have no file. */
static bool
is_of_no_module (const char *binary)
{
  return strcmp (binary, "[bpf]") == 0 || g_str_has_prefix (binary, "[__builtin__");
}

/* Notes about kernel code: its file may be missing, and running code differs from the file. */
static void
describe_kernel (const Shown *self, const CodePlaces *places, GString *note)
{
  const SymbolTable *symbols = self->request->symbols;
  const char *binary;
  SymbolId symbol;

  for (uint32_t i = 0; i < self->code.n_pieces; i++)
    if (self->code.piece[i].is_of_kernel && self->code.piece[i].n > 0)
      {
        g_string_append (
            note,
            "This is the kernel code as it is in the kernel's file. The running kernel patches its "
            "code (alternatives, static calls and keys, tracing), so executed "
            "instructions may differ. ");
        break;
      }
  if (places->kernel == 0 || self->code.piece_of[places->kernel] != 0)
    return;
  symbol = symbols->of_address[places->kernel];
  binary = sysprof_symbol_binary (symbols, symbol);
  if (is_of_no_module (binary))
    g_string_append_printf (
        note,
        "The kernel generated '%s' while it ran (%s), so its code is in no file. The view 'callers' shows what called it. ",
        sysprof_symbol_name (symbols, symbol), binary);
  else if (strcmp (binary, "[kernel]") != 0)
    g_string_append_printf (
        note,
        "'%s' is a function of the kernel module %s. Its code is read from the module's file, which needs the file "
        "with the recorded build ID below /lib/modules, and a capture with kernel addresses (recorded as "
        "root). The view 'callers' shows what called it. ",
        sysprof_symbol_name (symbols, symbol), binary);
  else
    g_string_append_printf (
        note,
        "'%s' is a function of the kernel. Its code is read from the kernel's file (vmlinux), which needs "
        "the file with the recorded build ID, and a capture with kernel addresses (recorded as root). The "
        "file is in the debug package of the kernel (Debian: linux-image-RELEASE-dbg), and "
        "debuginfod servers may have it%s. The view 'callers' shows what called it. ",
        sysprof_symbol_name (symbols, symbol),
        self->request->hides_options ? "" : " (--debuginfod)");
}

static void
describe_code_without_file (const Shown *self, const CodePlaces *places, GString *note)
{
  const SymbolTable *symbols = self->request->symbols;
  const char *name;

  if (places->example == 0)
    return;
  name = sysprof_symbol_name (symbols, places->example);
  switch ((SymbolKind) symbols->row[places->example].kind)
    {
    case SYMBOL_JIT:
      g_string_append_printf (note,
                              "'%s' was generated while the program ran; the capture has "
                              "its name but not its code. The view 'callers' shows what called "
                              "it. ",
                              name);
      break;
    default:
      g_string_append_printf (note, "'%s' is in no known file. ", name);
      break;
    }
}

static void
set_note (const Shown *self, const CodePlaces *places)
{
  g_autoptr (GString) note = g_string_new (NULL);

  describe_kernel (self, places, note);
  describe_code_without_file (self, places, note);
  describe_pieces (self, note);
  if (note->len == 0 && self->rows->n_rows == 0)
    g_string_append_printf (note,
                            "No selected sample is in '%s'. Select more samples, or another "
                            "function; the view 'functions' lists them.",
                            self->request->shape->focus);
  if (note->len > 0)
    self->rows->note = sysprof_rows_dup (self->rows, g_strchomp (note->str));
}

static bool
fill_code (Shown *self, const StackWeights *weights, GError **error)
{
  const ViewRequest *request = self->request;
  g_autofree bool *is_wanted =
      sysprof_focus_match (request->symbols, request->shape->focus, NULL);
  CodePlaces places;
  bool is_filled;

  sysprof_code_find_places (&places, request->store, request->symbols, weights, is_wanted);
  is_filled =
      sysprof_disassemble (&self->code, request->store, request->symbols, request->symbolize,
                           places.is_at, is_wanted, g_cancellable_get_current (), error);
  if (is_filled)
    {
      self->self = g_new0 (uint64_t, MAX (self->code.n, 1));
      self->total = g_new0 (uint64_t, MAX (self->code.n, 1));
      sysprof_code_weigh (request->store, request->symbols, weights, &self->code, self->self,
                          self->total);
      sysprof_rows_init (self->rows, columns, N_COLUMNS, weights->total);
      add_pieces (self);
      set_note (self, &places);
    }
  g_free (places.is_at);
  return is_filled;
}

static bool
fill_disassembly (const ViewRequest *request, Rows *rows, GError **error)
{
  Shown self = { .request = request, .rows = rows };
  StackWeights weights;
  bool is_filled;

  if (!sysprof_request_needs_focus (request, "disassembly", error))
    return false;

  sysprof_request_fold (request, false, &weights);
  is_filled = fill_code (&self, &weights, error);
  sysprof_stack_weights_clear (&weights);
  sysprof_disassembly_clear (&self.code);
  g_free (self.self);
  g_free (self.total);
  return is_filled;
}

const View sysprof_disassembly_view = {
  .name = "disassembly",
  .title = "Disassembly",
  .summary = "instructions of the --focus function",
  .recorded_by = RECORDED_AS_SAMPLES,
  .options = OPTIONS_SAMPLES | OPTIONS_SHARES | OPTIONS_FOCUS,
  .fill = fill_disassembly,
  .is_listing = true,
};
