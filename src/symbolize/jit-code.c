// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads instructions of generated code from the jitdump files that programs have mapped. The
 * capture records which file it was, and which code was at an address from which time on. */

#include "symbolize/code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DUMP_PREFIX "jit-"
#define DUMP_SUFFIX ".dump"

/* An address and the function that contained it at that time. */
typedef struct
{
  ProcessId process;
  JitCodeId code;
  AddressId address;
} SampledFunction;

typedef struct
{
  Symbolization *symbolization;
  FileLocator locator;
  ConfinedChild child;
} Search;

/* The functions of one process. */
typedef struct
{
  const BatchItem *items; /* [n_items] addresses of the process */
  uint32_t n_items;
  JitFunction *function; /* [n] */
  uint32_t *piece;       /* [n] index of its piece */
  uint32_t n;
} Functions;

/* --- what is wanted --- */

static int
compare_sampled (const void *a, const void *b)
{
  const SampledFunction *left = a, *right = b;

  if (left->process != right->process)
    return left->process < right->process ? -1 : 1;
  if (left->code != right->code)
    return left->code < right->code ? -1 : 1;
  return (left->address > right->address) - (left->address < right->address);
}

static GArray *
list_sampled (const Symbolization *self)
{
  const AddressTable *addresses = &self->store->addresses;
  GArray *sampled = g_array_new (FALSE, FALSE, sizeof (SampledFunction));

  for (AddressId address = 1; address < addresses->n; address++)
    {
      JitCodeId code = sysprof_address_table_get_code (addresses, address);

      if (code != 0 && sysprof_symbolization_wants (self, address))
        {
          SampledFunction one = { self->store->jit_code[code].process, code, address };

          g_array_append_val (sampled, one);
        }
    }
  g_array_sort (sampled, compare_sampled);
  return sampled;
}

/* Returns 1 + the index of the piece; 0 = the limit is reached. */
static uint32_t
add_piece (CodeCollection *code, const Symbolization *self, const SampledFunction *sampled)
{
  const JitCode *function = &self->store->jit_code[sampled->code];
  const CodePiece piece = {
    .symbol = self->table->of_address[sampled->address],
    .path = "",
    .build_id = "",
    .start = function->start,
    .end = function->end,
    .is_in_memory = true,
    .problem = "it was generated at run time, and the program reported only its name",
    .remedy =
        "Have the program write a jitdump, which contains the code. The view 'callers' shows "
        "its callers.",
  };

  if (code->pieces->len >= MOST_PIECES)
    {
      code->into->is_cut = true;
      return 0;
    }
  g_array_append_val (code->pieces, piece);
  return code->pieces->len;
}

/* `sampled` [n] are of one process. */
static void
functions_init (Functions *self,
                Symbolization *symbolization,
                const SampledFunction *sampled,
                uint32_t n)
{
  CodeCollection *code = symbolization->code;
  BatchItem *items = g_new0 (BatchItem, n);
  uint32_t number = 0;

  *self = (Functions){ .items = items, .n_items = n };
  self->function = g_new0 (JitFunction, n);
  self->piece = g_new0 (uint32_t, n);
  for (uint32_t i = 0; i < n; i++)
    {
      const JitCode *function = &symbolization->store->jit_code[sampled[i].code];

      items[i].address = sampled[i].address;
      if (i == 0 || sampled[i].code != sampled[i - 1].code)
        {
          number = add_piece (code, symbolization, &sampled[i]);
          if (number != 0)
            {
              self->function[self->n] =
                  (JitFunction){ function->start, function->end - function->start,
                                 (uint64_t) function->time };
              self->piece[self->n++] = number - 1;
            }
        }
      code->into->piece_of[sampled[i].address] = number;
    }
}

static void
functions_clear (Functions *self)
{
  g_free ((BatchItem *) self->items);
  g_free (self->function);
  g_free (self->piece);
}

/* Stores the problem for each function without instructions. */
static void
explain (Symbolization *self,
         const Functions *functions,
         const char *path,
         const char *problem,
         const char *remedy)
{
  for (uint32_t i = 0; i < functions->n; i++)
    {
      CodePiece *piece = &g_array_index (self->code->pieces, CodePiece, functions->piece[i]);

      if (piece->n > 0)
        continue;
      piece->path = path;
      piece->problem = problem;
      piece->remedy = remedy;
    }
}

/* --- what is found --- */

static bool
is_name (const char *text)
{
  if (!g_utf8_validate (text, -1, NULL))
    return false;
  for (; *text != '\0'; text++)
    if (g_ascii_iscntrl (*text))
      return false;
  return true;
}

static void
take (Symbolization *self,
      const Functions *functions,
      const char *path,
      const JitInstructions *found)
{
  CodeCollection *code = self->code;
  CodePiece *piece = NULL;
  bool is_known = false;

  for (size_t i = 0; i < found->code.n; i++)
    {
      const ElfInstruction *row = &found->code.instruction[i];
      const JitPlace *line = &found->place[i];
      Instruction instruction;

      if (i == 0 || row[-1].range != row->range)
        {
          piece = &g_array_index (code->pieces, CodePiece, functions->piece[row->range]);
          is_known = piece->n > 0; /* from another dump */
          if (!is_known)
            {
              piece->path = path;
              piece->problem = NULL;
              piece->first = code->rows->len;
            }
        }
      if (is_known)
        continue;
      instruction = sysprof_code_collection_make_row (code, piece, row, found->code.text);
      if (self->options->with_lines && line->line != 0)
        {
          /* Node.js 18 writes garbage for names that it has already freed. */
          if (is_name (found->code.text + line->file))
            instruction.file =
                sysprof_code_collection_intern_file (code, found->code.text + line->file);
          instruction.line = line->line;
        }
      g_array_append_val (code->rows, instruction);
      piece->n++;
    }
}

/* --- where dumps are --- */

static bool
is_dump (const char *path)
{
  const char *name = sysprof_symbolize_base_name (path);

  return path[0] == '/' && g_str_has_prefix (name, DUMP_PREFIX) &&
         g_str_has_suffix (name, DUMP_SUFFIX);
}

/* Whether a file may belong to the process: its owner is root, or a user that the recorder
 * noted for it. If the recorder noted none, it must be the current user. Any user who can write
 * to /tmp may place a different file there, and some file systems reuse inode numbers. */
static bool
is_owner_known (const Search *self, ProcessId process, uid_t owner)
{
  const Store *store = self->symbolization->store;
  g_autofree char *name =
      g_strdup_printf ("/proc/%d/jit-owners", store->processes.row[process].pid);
  g_autoptr (GBytes) bytes = sysprof_store_read_file_cancellable (
      store, name, self->symbolization->progress->cancellable, NULL);
  const char *data = bytes != NULL ? g_bytes_get_data (bytes, NULL) : NULL;
  Text text, line;
  uint64_t known;

  if (owner == 0)
    return true;
  if (data == NULL)
    return owner == geteuid ();
  text = (Text){ data, data + g_bytes_get_size (bytes) };
  while (sysprof_text_next_line (&text, &line))
    if (sysprof_text_u64 (&line, &known) && line.at == line.end && known == owner)
      return true;
  return false;
}

/* Returns -1 if the file is missing, or is a different one. */
static int
open_at (Search *self, int root, const char *path, const FileBatch *batch, struct stat *info)
{
  int envelope = sysprof_open_file (&self->locator.opener, OPEN_REGULAR_FILE, READER_OURSELVES,
                                    root, path, info);

  if (envelope >= 0 && info->st_ino != batch->inode)
    {
      close (envelope);
      return -1;
    }
  return envelope;
}

static int
open_dump (Search *self, const FileBatch *batch, struct stat *info)
{
  g_autoptr (GPtrArray) paths = NULL;
  FileRoots roots;
  int envelope = -1;
  bool is_ours;

  sysprof_file_roots_find (&roots, &self->locator, batch);
  for (unsigned i = 0; i < roots.n && envelope < 0; i++)
    {
      const char *rest = sysprof_file_roots_find_rest (&roots, i, batch->path);

      if (rest != NULL)
        envelope = open_at (self, roots.fd[i], rest, batch, info);
      if (envelope < 0)
        envelope = open_at (self, roots.fd[i], batch->path, batch, info);
    }
  if (envelope >= 0 || self->locator.mounts == NULL)
    return envelope;

  paths = sysprof_list_translations (&self->locator, batch, batch->path, &is_ours);
  for (guint i = 0; i < paths->len && envelope < 0; i++)
    envelope = open_at (self, -1, paths->pdata[i], batch, info);
  return envelope;
}

static void
read_dump (Search *self, const Functions *functions, const Mapping *mapping)
{
  Symbolization *symbolization = self->symbolization;
  const char *path = sysprof_store_string (symbolization->store, mapping->path);
  const FileBatch batch = { .path = path,
                            .build_id = "",
                            .inode = mapping->inode,
                            .items = functions->items,
                            .n_items = functions->n_items };
  JitInstructions found = { 0 };
  struct stat info = { 0 };
  autofd envelope = -1;

  /* A jitdump has no build ID, so the inode must be known. */
  if (mapping->inode == 0 || symbolization->is_elsewhere)
    {
      explain (symbolization, functions, path,
               "no file on this machine can be identified as the recorded one",
               "Open the capture where it was recorded.");
      return;
    }
  envelope = open_dump (self, &batch, &info);
  if (envelope < 0)
    {
      explain (symbolization, functions, path,
               "the program's jitdump, which contains the code, is missing",
               "Keep jitdump files until the report is made.");
      return;
    }
  if (!is_owner_known (self, mapping->process, info.st_uid))
    {
      explain (symbolization, functions, path,
               "the file at the path of the program's jitdump belongs to another user",
               "Record again, and open the capture as the user of the program, or as root.");
      return;
    }
  switch (sysprof_jit_sandbox_disassemble (&self->child, envelope, (uint64_t) info.st_size,
                                           functions->function, functions->n, &found))
    {
    case JIT_CODE_OK:
      explain (symbolization, functions, path, "the program's jitdump does not contain it", "");
      take (symbolization, functions, path, &found);
      break;
    case JIT_CODE_NOT_A_DUMP:
      explain (symbolization, functions, path, "the file is not a jitdump", "");
      break;
    case JIT_CODE_UNKNOWN_MACHINE:
      explain (symbolization, functions, path,
               "the disassembler does not support its instruction set", "");
      break;
    case JIT_CODE_FAILED:
      explain (symbolization, functions, path, "the program's jitdump cannot be read", "");
      break;
    }
  sysprof_jit_instructions_clear (&found);
}

static bool
is_same_file (const Mapping *a, const Mapping *b)
{
  return a->path == b->path && a->inode == b->inode;
}

static void
read_process (Search *self, const SampledFunction *sampled, uint32_t n)
{
  const Store *store = self->symbolization->store;
  const Mapping *last = NULL; /* a repeated mapping is of the same file */
  Functions functions;

  functions_init (&functions, self->symbolization, sampled, n);
  for (MappingId id = 1; id < store->n_mappings && functions.n > 0; id++)
    {
      const Mapping *mapping = &store->mappings[id];

      if (mapping->process != sampled->process ||
          (last != NULL && is_same_file (last, mapping)) ||
          !is_dump (sysprof_store_string (store, mapping->path)))
        continue;
      last = mapping;
      read_dump (self, &functions, mapping);
    }
  functions_clear (&functions);
}

void
sysprof_jit_code_read (Symbolization *self)
{
  g_autoptr (GArray) array = list_sampled (self);
  const SampledFunction *sampled = (const SampledFunction *) (const void *) array->data;
  Search search = { .symbolization = self, .child = CONFINED_CHILD_INIT };
  LocateOptions locate = sysprof_symbolization_locate_options (self);
  uint32_t end;

  if (array->len == 0)
    return;

  sysprof_file_locator_init (&search.locator, &locate);
  search.child.stop_fd = search.locator.stop.fd;
  search.child.has_stop_fd = search.locator.stop.fd >= 0;
  for (uint32_t i = 0; i < array->len && !sysprof_progress_is_cancelled (self->progress);
       i = end)
    {
      for (end = i + 1; end < array->len && sampled[end].process == sampled[i].process; end++)
        ;
      read_process (&search, sampled + i, end - i);
      /* A file must not influence the results of the next one, so each one gets a new child. */
      sysprof_confined_child_end (&search.child);
    }

  sysprof_confined_child_end (&search.child);
  sysprof_file_locator_clear (&search.locator);
}
