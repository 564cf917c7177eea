// SPDX-License-Identifier: GPL-3.0-or-later

#include "symbolize/debug-parts.h"

#include "symbolize/debug-candidates.h"

static ElfStatus
try_supplement (ElfParser *parser, int root, const char *path)
{
  struct stat info = { 0 };
  autofd envelope = sysprof_open_elf_file (&parser->opener, root, path, &info);

  return envelope >= 0 ? sysprof_remembered_elf_add_supplement (&parser->elf, envelope, &info)
                       : ELF_ABSENT;
}

/* One of another build is told of where there is no better one. */
static ElfStatus
better_status (ElfStatus before, ElfStatus status)
{
  return status == ELF_OK || before == ELF_ABSENT ? status : before;
}

static ElfStatus
find_supplement (const Symbolization *self, ElfParser *parser)
{
  g_autoptr (GArray) candidates = sysprof_list_supplement_candidates (
      self, &parser->opener, (const char *const *) parser->flatpak_dirs, parser->root,
      parser->path, &parser->facts);
  ElfStatus result = ELF_ABSENT;

  for (guint i = 0; i < candidates->len && result != ELF_OK; i++)
    {
      const DebugCandidate *candidate = &g_array_index (candidates, DebugCandidate, i);

      result =
          better_status (result, try_supplement (parser, candidate->root, candidate->path));
    }
  return result;
}

/* What the file's processes saw as that, where they are gone. */
static ElfStatus
find_translated_supplement (const Symbolization *self,
                            ElfParser *parser,
                            const FileBatch *batch)
{
  g_autoptr (GArray) candidates = sysprof_list_supplement_candidates (
      self, &parser->opener, NULL, -1, batch->path, &parser->facts);
  ElfStatus result = ELF_ABSENT;

  for (guint i = 0; i < candidates->len && result != ELF_OK; i++)
    {
      const char *path = g_array_index (candidates, DebugCandidate, i).path;
      bool is_ours;
      g_autoptr (GPtrArray) paths =
          sysprof_list_translations (parser->mounts, self->store, batch, path, &is_ours);

      for (guint j = 0; j < paths->len && result != ELF_OK; j++)
        result = better_status (result, try_supplement (parser, -1, paths->pdata[j]));
    }
  return result;
}

void
sysprof_debug_parts_add_supplement (const Symbolization *self,
                                    ElfParser *parser,
                                    const FileBatch *batch)
{
  if (parser->facts.alt_id_size == 0)
    return;

  if (!parser->has_supplement_status)
    {
      parser->supplement_status = find_supplement (self, parser);
      if (parser->supplement_status != ELF_OK && parser->mounts != NULL)
        parser->supplement_status = better_status (
            parser->supplement_status, find_translated_supplement (self, parser, batch));
      parser->has_supplement_status = true;
    }
  if (parser->supplement_status != ELF_OK)
    sysprof_line_collection_note_gap (self, batch,
                                      parser->supplement_status == ELF_MISMATCH
                                          ? DEBUG_GAP_OTHER_SUPPLEMENT
                                          : DEBUG_GAP_NO_SUPPLEMENT,
                                      1, parser->facts.alt_link);
}
