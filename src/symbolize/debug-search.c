// SPDX-License-Identifier: GPL-3.0-or-later

/* Tries candidate paths one after the other until one of them is the file that is searched
 * for. */

#include "symbolize/debug-search.h"

#include "symbolize/debug-candidates.h"

ElfStatus
sysprof_debug_search_join (ElfStatus before, ElfStatus status)
{
  if (status == ELF_OK || status == ELF_TOO_LARGE || status == ELF_GIVEN_UP ||
      status == ELF_SKIPPED || (status == ELF_MISMATCH && before == ELF_ABSENT))
    return status;
  return before;
}

ElfStatus
sysprof_debug_search_candidates (ElfParser *parser,
                                 const GArray *candidates,
                                 TryPartFunc try_part,
                                 void *data)
{
  ElfStatus result = ELF_ABSENT;

  for (guint i = 0; i < candidates->len && result != ELF_OK; i++)
    {
      const DebugCandidate *candidate = &g_array_index (candidates, DebugCandidate, i);

      result = sysprof_debug_search_join (
          result, try_part (parser, candidate->root, candidate->path, data));
    }
  return result;
}

ElfStatus
sysprof_debug_search_translations (const Symbolization *self,
                                   ElfParser *parser,
                                   const FileBatch *batch,
                                   const char *path,
                                   TryPartFunc try_part,
                                   void *data)
{
  g_autoptr (GPtrArray) paths = NULL;
  ElfStatus result = ELF_ABSENT;
  bool is_ours;

  if (parser->mounts == NULL || path[0] != '/')
    return ELF_ABSENT;

  paths = sysprof_list_translations (parser->mounts, self->store, batch, path, &is_ours);
  for (guint i = 0; i < paths->len && result != ELF_OK; i++)
    result = sysprof_debug_search_join (result, try_part (parser, -1, paths->pdata[i], data));
  return result;
}

typedef struct
{
  const Symbolization *symbolization;
  const FileBatch *batch;
  TryPartFunc try_part;
  void *data;
} Translated;

static ElfStatus
try_translations (ElfParser *parser, int root, const char *path, void *data)
{
  const Translated *self = data;

  (void) root; /* of a process that has exited */
  return sysprof_debug_search_translations (self->symbolization, parser, self->batch, path,
                                            self->try_part, self->data);
}

ElfStatus
sysprof_debug_search_all_translations (const Symbolization *self,
                                       ElfParser *parser,
                                       const FileBatch *batch,
                                       const GArray *candidates,
                                       TryPartFunc try_part,
                                       void *data)
{
  Translated translated = { self, batch, try_part, data };

  return sysprof_debug_search_candidates (parser, candidates, try_translations, &translated);
}
