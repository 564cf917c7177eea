// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds the supplement and the split units of the debug information that is open in the parser,
 * and adds them. A part that cannot be read costs only the answers that need it. */

#include "symbolize/debug-parts.h"

#include "symbolize/debug-candidates.h"
#include "symbolize/debug-search.h"
#include "symbolize/debuginfod-client.h"

#define MOST_TRIES 3 /* a file that cannot be read is left out of the next try */

/* --- supplements --- */

static ElfStatus
open_supplement (ElfParser *parser, uint32_t reader, int root, const char *path)
{
  struct stat info = { 0 };
  autofd envelope = sysprof_open_elf_file (&parser->opener, reader, root, path, &info);

  return envelope >= 0 ? sysprof_elf_parser_add_supplement (parser, envelope, &info, path)
                       : sysprof_elf_parser_note_unopened (parser, path);
}

static ElfStatus
try_supplement (ElfParser *parser, int root, const char *path, void *data)
{
  return open_supplement (parser, sysprof_elf_parser_reader (parser, root), root, path);
}

static ElfStatus
find_supplement (const Symbolization *self, ElfParser *parser)
{
  g_autoptr (GArray) candidates = sysprof_list_supplement_candidates (
      self, &parser->opener, (const char *const *) parser->flatpak_dirs, parser->root,
      parser->path, &parser->facts);

  return sysprof_debug_search_candidates (parser, candidates, try_supplement, NULL);
}

/* Searches where the file's processes, which have exited, saw the supplement. */
static ElfStatus
find_translated_supplement (const Symbolization *self,
                            ElfParser *parser,
                            const FileBatch *batch)
{
  g_autoptr (GArray) candidates = sysprof_list_supplement_candidates (
      self, &parser->opener, NULL, -1, batch->path, &parser->facts);

  return sysprof_debug_search_all_translations (self, parser, batch, candidates, try_supplement,
                                                NULL);
}

/* A file from a server is only opened by the unprivileged child. */
static ElfStatus
find_cached_supplement (ElfParser *parser)
{
  char build_id[2 * ELF_MAX_BUILD_ID + 1];
  g_autofree char *path = NULL;

  if (!parser->use_sandbox)
    return ELF_ABSENT;
  sysprof_elf_write_build_id (parser->facts.alt_id, parser->facts.alt_id_size, build_id);
  path = sysprof_debuginfod_find_cached (build_id);
  return path != NULL ? open_supplement (parser, READER_OURSELVES, -1, path) : ELF_ABSENT;
}

static void
add_supplement (const Symbolization *self, ElfParser *parser, const FileBatch *batch)
{
  if (parser->facts.alt_id_size == 0)
    return;

  if (!parser->has_supplement_status)
    {
      parser->supplement_status = find_supplement (self, parser);
      if (parser->supplement_status != ELF_OK && parser->mounts != NULL)
        parser->supplement_status = sysprof_debug_search_join (
            parser->supplement_status, find_translated_supplement (self, parser, batch));
      if (parser->supplement_status != ELF_OK)
        parser->supplement_status = sysprof_debug_search_join (parser->supplement_status,
                                                               find_cached_supplement (parser));
      parser->has_supplement_status = true;
    }
  if (parser->supplement_status != ELF_OK && parser->supplement_status != ELF_GIVEN_UP &&
      parser->supplement_status != ELF_SKIPPED)
    sysprof_line_collection_note_gap (self, batch,
                                      parser->supplement_status == ELF_MISMATCH
                                          ? DEBUG_GAP_OTHER_SUPPLEMENT
                                          : DEBUG_GAP_NO_SUPPLEMENT,
                                      1, parser->facts.alt_link);
}

/* --- split units --- */

static FilePlaces
places_of (const ElfParser *parser)
{
  return (FilePlaces){ parser->own_root, parser->own_path, parser->root, parser->path };
}

static ElfStatus
try_package (ElfParser *parser, int root, const char *path, void *data)
{
  struct stat info = { 0 };
  autofd envelope = sysprof_open_elf_file (
      &parser->opener, sysprof_elf_parser_reader (parser, root), root, path, &info);

  return envelope >= 0 ? sysprof_elf_parser_add_package (parser, envelope, &info, path)
                       : sysprof_elf_parser_note_unopened (parser, path);
}

/* `number`: uint32_t, index into the missing split units of the answer. */
static ElfStatus
try_split (ElfParser *parser, int root, const char *path, void *number)
{
  struct stat info = { 0 };
  autofd envelope = sysprof_open_elf_file (
      &parser->opener, sysprof_elf_parser_reader (parser, root), root, path, &info);

  return envelope >= 0 ? sysprof_elf_parser_add_split (parser, envelope, &info, path,
                                                       *(const uint32_t *) number)
                       : sysprof_elf_parser_note_unopened (parser, path);
}

static ElfStatus
find_package (const Symbolization *self, ElfParser *parser, const FileBatch *batch)
{
  FilePlaces places = places_of (parser);
  g_autoptr (GArray) candidates = sysprof_list_package_candidates (
      self, (const char *const *) parser->flatpak_dirs, &places, &parser->facts);
  g_autofree char *beside = g_strconcat (batch->path, ".dwp", NULL);
  ElfStatus result = sysprof_debug_search_candidates (parser, candidates, try_package, NULL);

  if (result != ELF_OK)
    result = sysprof_debug_search_join (
        result,
        sysprof_debug_search_translations (self, parser, batch, beside, try_package, NULL));
  return result;
}

/* Finds the file with missing split unit `i` of the answer. */
static ElfStatus
find_split (const Symbolization *self,
            ElfParser *parser,
            const FileBatch *batch,
            const ElfLines *lines,
            uint32_t i)
{
  const char *directory = lines->text + lines->split[i].directory;
  const char *name = lines->text + lines->split[i].name;
  FilePlaces places = places_of (parser);
  g_autoptr (GArray) candidates =
      sysprof_list_split_candidates (self, &places, directory, name);
  g_autofree char *compiled =
      name[0] == '/' ? g_strdup (name) : g_build_filename (directory, name, NULL);
  ElfStatus result = sysprof_debug_search_candidates (parser, candidates, try_split, &i);

  if (result != ELF_OK)
    result = sysprof_debug_search_join (
        result,
        sysprof_debug_search_translations (self, parser, batch, compiled, try_split, &i));
  return result;
}

/* Returns whether some were found. The next answer reports which of the others are from a
 * different build. */
static bool
find_splits (const Symbolization *self,
             ElfParser *parser,
             const FileBatch *batch,
             ElfLines *lines)
{
  bool is_any = false;

  for (uint32_t i = 0; i < lines->n_splits && !parser->has_started_again &&
                       !sysprof_progress_is_cancelled (self->progress);
       i++)
    switch (find_split (self, parser, batch, lines, i))
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
ask (ElfParser *parser, const FileBatch *batch, const uint64_t *addresses, ElfLines *lines)
{
  return sysprof_elf_cache_resolve_lines (&parser->elf, addresses != NULL,
                                          addresses != NULL ? addresses : batch->offsets,
                                          batch->n_offsets, lines);
}

/* Resolves again, with the files that were added since. The previous answer stays if this
 * fails. */
static ElfStatus
ask_again (ElfParser *parser,
           const FileBatch *batch,
           const uint64_t *addresses,
           ElfLines *lines)
{
  ElfLines better = { 0 };
  ElfStatus status = ask (parser, batch, addresses, &better);

  if (status != ELF_OK)
    return status;
  sysprof_elf_lines_clear (lines);
  *lines = better;
  return ELF_OK;
}

/* Returns FALSE if an added file could not be read. */
static bool
ask_with_splits (ElfParser *parser,
                 const FileBatch *batch,
                 const uint64_t *addresses,
                 ElfLines *lines)
{
  return !sysprof_elf_parser_do_without_split (parser,
                                               ask_again (parser, batch, addresses, lines));
}

/* Finds the missing split units of the answer. Returns FALSE if one was found that could not be
 * read. The parser has then restarted without that file, and the caller must resolve again. */
static bool
complete (const Symbolization *self,
          ElfParser *parser,
          const FileBatch *batch,
          const uint64_t *addresses,
          ElfLines *lines)
{
  ElfStatus status;

  parser->has_started_again = false;
  status = find_package (self, parser, batch);
  if (parser->has_started_again ||
      (status == ELF_OK && !ask_with_splits (parser, batch, addresses, lines)))
    return false;

  for (size_t i = 0; status == ELF_MISMATCH && i < lines->n_splits; i++)
    lines->split[i].is_other = true;
  if (lines->n_splits == 0 || !find_splits (self, parser, batch, lines))
    return !parser->has_started_again;
  return !parser->has_started_again && ask_with_splits (parser, batch, addresses, lines);
}

static void
note_lacking (const Symbolization *self, const FileBatch *batch, const ElfLines *lines)
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
        sysprof_line_collection_note_gap (self, batch, kinds[is_other], n,
                                          lines->text + first->name);
    }
}

static void
note_over_limit (const Symbolization *self, const FileBatch *batch)
{
  sysprof_line_collection_note_gap (self, batch, DEBUG_GAP_OVER_LIMIT, 1, batch->path);
}

bool
sysprof_debug_parts_resolve_lines (const Symbolization *self,
                                   ElfParser *parser,
                                   const FileBatch *batch,
                                   const uint64_t *addresses,
                                   ElfLines *lines)
{
  guint n_blamed = sysprof_elf_parser_n_blamed (parser);
  ElfStatus status;

  add_supplement (self, parser, batch);
  do
    status = ask (parser, batch, addresses, lines);
  while (sysprof_elf_parser_do_without (parser, status));
  if (sysprof_elf_status_is_failure (status))
    sysprof_elf_parser_forgive (parser, n_blamed);
  if (status == ELF_TOO_LARGE)
    note_over_limit (self, batch);
  if (status != ELF_OK)
    return false;

  for (unsigned i = 0; i < MOST_TRIES && lines->n_splits > 0; i++)
    if (complete (self, parser, batch, addresses, lines) ||
        ask_again (parser, batch, addresses, lines) != ELF_OK)
      break;
  note_lacking (self, batch, lines);
  if (lines->is_over_limit)
    note_over_limit (self, batch);
  return true;
}
