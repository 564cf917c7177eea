// SPDX-License-Identifier: GPL-3.0-or-later

/* Resolves names in the vDSO, from the copy that the kernel maps into this process. */

#include "inspect/vdso.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Takes the address range from /proc. The content comes from the kernel, so it is trusted. */
static bool
find_vdso (uintptr_t *start, size_t *size)
{
  FILE *maps = fopen ("/proc/self/maps", "re");
  char line[4096];
  bool is_found = false;

  if (maps == NULL)
    return false;

  while (!is_found && fgets (line, sizeof line, maps) != NULL)
    {
      uintptr_t end;

      if (strstr (line, "[vdso]") != NULL &&
          sscanf (line, "%" SCNxPTR "-%" SCNxPTR, start, &end) == 2)
        {
          *size = end - *start;
          is_found = true;
        }
    }

  fclose (maps);
  return is_found;
}

ElfStatus
sysprof_vdso_resolve (const uint64_t *offsets, size_t n, ElfAnswers *answers)
{
  ElfWorker worker = ELF_WORKER_INIT;
  uintptr_t start;
  size_t size;
  ElfStatus status;

  if (!find_vdso (&start, &size))
    return ELF_ABSENT;

  status = sysprof_elf_image_open_memory ((const void *) start, size, &worker.image);
  if (status == ELF_OK)
    status = sysprof_elf_symbols_load (worker.image, &worker.symbols);
  if (status == ELF_OK)
    status = sysprof_elf_worker_resolve (&worker, &(ElfQuery){ .offsets = offsets, .n = n },
                                         answers);

  sysprof_elf_worker_clear (&worker);
  return status;
}
