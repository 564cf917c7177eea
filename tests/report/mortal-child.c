// SPDX-License-Identifier: GPL-3.0-or-later

/* Linked into sysprof-report with --wrap. Files with a marker at their end make the process
 * that parses them crash or hang, as a file could that exploits an error of the parser. */

#include "elf/elf.h"

#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KILLS "KILLS ITS READER"
#define HANGS "HANGS ITS READER"
#define SIZE  (sizeof KILLS - 1)

_Static_assert(sizeof KILLS == sizeof HANGS, "ends of one size");

/* Names that the linker gives. */
ElfStatus __real_sysprof_elf_image_open (int fd, ElfImage **image);
ElfStatus __wrap_sysprof_elf_image_open (int fd, ElfImage **image);

ElfStatus
__wrap_sysprof_elf_image_open (int fd, ElfImage **image)
{
  char end[SIZE] = "";
  struct stat info;

  if (fstat (fd, &info) == 0 && info.st_size > (off_t) SIZE)
    (void) !pread (fd, end, SIZE, info.st_size - (off_t) SIZE);
  if (memcmp (end, KILLS, SIZE) == 0)
    {
      (void) raise (SIGKILL);
      _exit (1); /* it has no right to */
    }
  for (volatile bool hangs = memcmp (end, HANGS, SIZE) == 0; hangs;)
    ;
  return __real_sysprof_elf_image_open (fd, image);
}
