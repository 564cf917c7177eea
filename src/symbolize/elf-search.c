// SPDX-License-Identifier: GPL-3.0-or-later

/* Passes files to the parser of ELF files: the file itself, its debug file, and the supplement
 * and split units of its debug information. A part that cannot be read costs only the answers
 * that need it. */

#include "symbolize/request.h"

#include <string.h>
#include <unistd.h>

G_STATIC_ASSERT (BUILD_ID_TEXT_SIZE == 2 * ELF_MAX_BUILD_ID + 1);

#define MOST_TRIES 3 /* a file that cannot be read is left out of the next try */

void
sysprof_elf_search_init (ElfSearch *self, Symbolization *symbolization, bool is_fetched)
{
  LocateOptions options = sysprof_symbolization_locate_options (symbolization);
  const SymbolRequest *request = symbolization->request;

  *self = (ElfSearch){
    .symbolization = symbolization,
    .parser = { .use_sandbox =
                    is_fetched || request->reads_code || symbolization->options->use_sandbox,
                .is_for_lines = request->reads_lines,
                .elf = REMEMBERED_ELF_INIT },
  };
  sysprof_file_locator_init (&self->locator, &options);
  /* Parsing a file may take long. So cancelation must interrupt the wait for either child. */
  self->parser.elf.sandbox.stop_fd = self->locator.stop.fd;
  self->parser.elf.sandbox.has_stop_fd = self->locator.stop.fd >= 0;
  self->parser.elf.budget = symbolization->budget;
  if (!symbolization->options->no_cache && request->is_cached)
    self->parser.elf.cache = sysprof_symbol_cache_new ();
}

void
sysprof_elf_search_clear (ElfSearch *self)
{
  sysprof_elf_parser_close (&self->parser);
  sysprof_file_locator_clear (&self->locator);
}

static uint32_t
find_reader (ElfSearch *self, int root, const char *path, const struct stat *info)
{
  if (self->locator.mounts != NULL)
    return sysprof_find_reader (&self->locator.opener, root, path, info);
  return geteuid () == 0 && info->st_uid != 0 ? info->st_uid : READER_OURSELVES;
}

ElfStatus
sysprof_elf_search_open (ElfSearch *self,
                         int envelope,
                         const struct stat *info,
                         int root,
                         const char *path,
                         ElfFacts *facts)
{
  uint32_t reader = find_reader (self, root, path, info);

  if (!sysprof_elf_parser_has_open (&self->parser, info))
    self->reader = reader;
  else if (self->reader != reader)
    self->reader = READER_NOBODY; /* the file was found twice, with two readers */
  return sysprof_elf_parser_open (&self->parser, envelope, info, root, path, facts);
}

/* For a file that the open file names. */
static uint32_t
find_reader_of_part (const ElfSearch *self, int root)
{
  return geteuid () == 0 && root >= 0 && self->locator.mounts != NULL ? READER_NOBODY
                                                                      : self->reader;
}

/* --- parts --- */

/* Opens `path` below `root` with the rights of `reader`, and adds it to the open file. */
static ElfStatus
add_part_at (ElfSearch *self, const ElfPart *part, uint32_t reader, int root, const char *path)
{
  struct stat info = { 0 };
  autofd envelope = sysprof_open_file (
      &self->locator.opener, part->kind == ELF_PART_DEBUG ? OPEN_REGULAR_FILE : OPEN_ELF_FILE,
      reader, root, path, &info);

  return envelope >= 0
             ? sysprof_elf_parser_add_part (&self->parser, part, envelope, &info, root, path)
             : sysprof_elf_parser_note_unopened (&self->parser, path);
}

/* A search for one part of the debug information. */
typedef struct
{
  ElfSearch *search;
  ElfPart part;
  ElfStatus status; /* the result; starts as ELF_ABSENT */
} PartSearch;

/* A TryPathFunc. */
static bool
try_part (int root, const char *path, void *part_search)
{
  PartSearch *self = part_search;
  uint32_t reader = find_reader_of_part (self->search, root);

  self->status = sysprof_elf_status_join (
      self->status, add_part_at (self->search, &self->part, reader, root, path));
  return self->status == ELF_OK;
}

/* --- debug files --- */

ElfStatus
sysprof_elf_search_add_debug (ElfSearch *self, const char *path)
{
  return add_part_at (self, &(ElfPart){ ELF_PART_DEBUG }, READER_OURSELVES, -1, path);
}

ElfStatus
sysprof_elf_search_find_debug (ElfSearch *self,
                               const FileBatch *batch,
                               int root,
                               const char *path,
                               const ElfFacts *facts)
{
  PartSearch search = { self, { ELF_PART_DEBUG }, ELF_ABSENT };
  char build_id[BUILD_ID_TEXT_SIZE];
  DebugLink link = { build_id, facts->link };
  g_autoptr (GArray) here = NULL;
  g_autoptr (GArray) there = NULL;

  sysprof_elf_write_build_id (facts->build_id, facts->build_id_size, build_id);
  here = sysprof_list_debug_candidates (&self->locator, root, path, &link, true);
  if (sysprof_try_candidates (here, try_part, &search) || path == batch->path)
    return search.status;
  there = sysprof_list_debug_candidates (&self->locator, -1, batch->path, &link, false);
  (void) sysprof_try_translated_candidates (&self->locator, batch, there, try_part, &search);
  return search.status;
}

static void
note_gap (const Symbolization *self,
          const FileBatch *batch,
          DebugGapKind kind,
          uint32_t n,
          const char *what)
{
  sysprof_symbolization_note_gap (self, batch->path, kind, n, what);
}

/* --- supplements --- */

/* Searches the supplement on this machine, then where the file's processes, which have exited,
 * saw it, then among the files of debuginfod. */
static ElfStatus
find_supplement (ElfSearch *self, const FileBatch *batch)
{
  ElfParser *parser = &self->parser;
  PartSearch search = { self, { ELF_PART_SUPPLEMENT }, ELF_ABSENT };
  char build_id[BUILD_ID_TEXT_SIZE];
  DebugLink link = { build_id, parser->facts.alt_link };
  g_autoptr (GArray) here = NULL;
  g_autoptr (GArray) there = NULL;
  g_autofree char *fetched = NULL;

  sysprof_elf_write_build_id (parser->facts.alt_id, parser->facts.alt_id_size, build_id);
  here = sysprof_list_supplement_candidates (&self->locator, parser->root, parser->path, &link,
                                             true);
  if (sysprof_try_candidates (here, try_part, &search))
    return ELF_OK;
  if (self->locator.mounts != NULL)
    {
      there =
          sysprof_list_supplement_candidates (&self->locator, -1, batch->path, &link, false);
      if (sysprof_try_translated_candidates (&self->locator, batch, there, try_part, &search))
        return ELF_OK;
    }
  /* A file from a server is only opened by the unprivileged child. */
  fetched = parser->use_sandbox ? sysprof_debuginfod_find_cached (build_id) : NULL;
  return fetched != NULL ? sysprof_elf_status_join (
                               search.status,
                               add_part_at (self, &search.part, READER_OURSELVES, -1, fetched))
                         : search.status;
}

static void
add_supplement (ElfSearch *self, const FileBatch *batch)
{
  ElfParser *parser = &self->parser;

  if (parser->facts.alt_id_size == 0)
    return;

  if (!parser->has_supplement_status)
    {
      parser->supplement_status = find_supplement (self, batch);
      parser->has_supplement_status = true;
    }
  if (parser->supplement_status != ELF_OK && parser->supplement_status != ELF_GIVEN_UP &&
      parser->supplement_status != ELF_SKIPPED)
    note_gap (self->symbolization, batch,
              parser->supplement_status == ELF_MISMATCH ? DEBUG_GAP_OTHER_SUPPLEMENT
                                                        : DEBUG_GAP_NO_SUPPLEMENT,
              1, parser->facts.alt_link);
}

/* --- split units --- */

static FoundFile
found_file (const ElfParser *parser)
{
  return (FoundFile){ parser->own_root, parser->own_path, parser->root, parser->path };
}

static ElfStatus
find_package (ElfSearch *self, const FileBatch *batch)
{
  const ElfFacts *facts = &self->parser.facts;
  PartSearch search = { self, { ELF_PART_PACKAGE }, ELF_ABSENT };
  FoundFile file = found_file (&self->parser);
  char build_id[BUILD_ID_TEXT_SIZE];
  g_autoptr (GArray) candidates = NULL;
  g_autofree char *beside = g_strconcat (batch->path, ".dwp", NULL);

  sysprof_elf_write_build_id (facts->build_id, facts->build_id_size, build_id);
  candidates = sysprof_list_package_candidates (&self->locator, &file, build_id);
  (void) (sysprof_try_candidates (candidates, try_part, &search) ||
          sysprof_try_translations (&self->locator, batch, beside, try_part, &search));
  return search.status;
}

/* Finds the file with missing split unit `i` of the answer. */
static ElfStatus
find_split (ElfSearch *self, const FileBatch *batch, const ElfAnswers *lines, uint32_t i)
{
  const char *directory = lines->text + lines->split[i].directory;
  const char *name = lines->text + lines->split[i].name;
  PartSearch search = { self, { ELF_PART_SPLIT, i }, ELF_ABSENT };
  FoundFile file = found_file (&self->parser);
  g_autoptr (GArray) candidates =
      sysprof_list_split_candidates (&self->locator, &file, directory, name);
  g_autofree char *compiled =
      name[0] == '/' ? g_strdup (name) : g_build_filename (directory, name, NULL);

  (void) (sysprof_try_candidates (candidates, try_part, &search) ||
          sysprof_try_translations (&self->locator, batch, compiled, try_part, &search));
  return search.status;
}

/* Returns whether some were found. The next answer reports which of the others are from a
 * different build. */
static bool
find_splits (ElfSearch *self, const FileBatch *batch, ElfAnswers *lines)
{
  bool is_any = false;

  for (uint32_t i = 0; i < lines->n_splits && !self->parser.has_started_again &&
                       !sysprof_progress_is_cancelled (self->symbolization->progress);
       i++)
    switch (find_split (self, batch, lines, i))
      {
      case ELF_OK:
        is_any = true;
        break;
      case ELF_MISMATCH:
        lines->split[i].is_other = true;
        break;
      default:
        break;
      }
  return is_any;
}

static ElfStatus
ask (ElfParser *parser, const FileBatch *batch, const uint64_t *addresses, ElfAnswers *lines)
{
  return sysprof_elf_cache_resolve (
      &parser->elf,
      &(ElfQuery){ .kind = ELF_LINES,
                   .are_addresses = addresses != NULL,
                   .offsets = addresses != NULL ? addresses : batch->offsets,
                   .n = batch->n_offsets },
      lines);
}

/* Resolves again, with the files that were added since. The previous answer stays if this
 * fails. */
static ElfStatus
ask_again (ElfParser *parser,
           const FileBatch *batch,
           const uint64_t *addresses,
           ElfAnswers *lines)
{
  ElfAnswers better = { 0 };
  ElfStatus status = ask (parser, batch, addresses, &better);

  if (status != ELF_OK)
    return status;
  sysprof_elf_answers_clear (lines);
  *lines = better;
  return ELF_OK;
}

/* Returns FALSE if an added file could not be read. */
static bool
ask_with_splits (ElfParser *parser,
                 const FileBatch *batch,
                 const uint64_t *addresses,
                 ElfAnswers *lines)
{
  return !sysprof_elf_parser_do_without_split (parser,
                                               ask_again (parser, batch, addresses, lines));
}

/* Finds the missing split units of the answer. Returns FALSE if one was found that could not be
 * read. The parser has then restarted without that file, and the caller must resolve again. */
static bool
complete (ElfSearch *self, const FileBatch *batch, const uint64_t *addresses, ElfAnswers *lines)
{
  ElfParser *parser = &self->parser;
  ElfStatus status;

  parser->has_started_again = false;
  status = find_package (self, batch);
  if (parser->has_started_again ||
      (status == ELF_OK && !ask_with_splits (parser, batch, addresses, lines)))
    return false;

  for (size_t i = 0; status == ELF_MISMATCH && i < lines->n_splits; i++)
    lines->split[i].is_other = true;
  if (lines->n_splits == 0 || !find_splits (self, batch, lines))
    return !parser->has_started_again;
  return !parser->has_started_again && ask_with_splits (parser, batch, addresses, lines);
}

static void
note_lacking (const Symbolization *self, const FileBatch *batch, const ElfAnswers *lines)
{
  static const DebugGapKind kinds[] = { DEBUG_GAP_NO_SPLIT, DEBUG_GAP_OTHER_SPLIT };

  for (uint8_t is_other = 0; is_other < G_N_ELEMENTS (kinds); is_other++)
    {
      const ElfSplit *first = NULL;
      uint32_t n = 0;

      for (size_t i = 0; i < lines->n_splits; i++)
        if (lines->split[i].is_other == is_other && n++ == 0)
          first = &lines->split[i];
      if (first != NULL)
        note_gap (self, batch, kinds[is_other], n, lines->text + first->name);
    }
}

static void
note_over_limit (const Symbolization *self, const FileBatch *batch)
{
  note_gap (self, batch, DEBUG_GAP_OVER_LIMIT, 1, batch->path);
}

bool
sysprof_elf_search_resolve_lines (ElfSearch *self,
                                  const FileBatch *batch,
                                  const uint64_t *addresses,
                                  ElfAnswers *lines)
{
  ElfParser *parser = &self->parser;
  guint n_blamed = sysprof_elf_parser_n_blamed (parser);
  ElfStatus status;

  add_supplement (self, batch);
  do
    status = ask (parser, batch, addresses, lines);
  while (sysprof_elf_parser_do_without (parser, status));
  if (sysprof_elf_status_is_failure (status))
    sysprof_elf_parser_forgive (parser, n_blamed);
  if (status == ELF_TOO_LARGE)
    note_over_limit (self->symbolization, batch);
  if (status != ELF_OK)
    return false;

  for (unsigned i = 0; i < MOST_TRIES && lines->n_splits > 0; i++)
    if (complete (self, batch, addresses, lines) ||
        ask_again (parser, batch, addresses, lines) != ELF_OK)
      break;
  note_lacking (self->symbolization, batch, lines);
  if (lines->is_over_limit)
    note_over_limit (self->symbolization, batch);
  return true;
}

bool
sysprof_elf_has_build_id (const ElfFacts *facts, const char *hex)
{
  char text[BUILD_ID_TEXT_SIZE];

  sysprof_elf_write_build_id (facts->build_id, facts->build_id_size, text);
  return text[0] != 0 && strcmp (text, hex) == 0;
}
