// SPDX-License-Identifier: GPL-3.0-or-later

/* Makes the unwind tables of the files whose names come on standard input, `ROUNDS` times, and publishes them into slabs. Prints, one
 * a line: name, number. Times are CPU time of this thread; the first round, which reads the files from disk, is left out. */

#include "unwind/unwind.h"

#include <fcntl.h>
#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

typedef struct
{
  uint64_t n_files;
  uint64_t text;
  uint64_t covered;
  uint64_t frames;
  uint64_t rows;
  uint64_t escapes;
  uint64_t table;
  int64_t nsec;
} Sum;

static int64_t
cpu_nsec (void)
{
  struct timespec now;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * INT64_C (1000000000) + now.tv_nsec;
}

static void
add_file (Sum *sum, const char *path, UnwindPublisher *publisher)
{
  int64_t began = cpu_nsec ();
  int fd = open (path, O_RDONLY | O_CLOEXEC);
  ElfFrames frames;
  UnwindTable table;
  ElfImage *image;

  if (fd < 0)
    return;
  if (sysprof_elf_image_open (fd, &image) == ELF_OK)
    {
      if (sysprof_unwind_table_build (image, NULL, &table) == ELF_OK)
        {
          sum->nsec += cpu_nsec () - began;
          sum->n_files++;
          sum->text += table.header->text_size;
          sum->covered += table.header->covered_size;
          sum->rows += table.header->n_rows;
          sum->escapes += table.header->n_escapes;
          sum->table += table.size;
          if (publisher != NULL)
            (void) sysprof_unwind_publisher_add_table (publisher, &table, 0);
          sysprof_unwind_table_clear (&table);
          if (sysprof_elf_image_read_eh_frame (image, &frames) == ELF_OK)
            {
              sum->frames += frames.size;
              free (frames.bytes);
            }
        }
      sysprof_elf_image_free (image);
    }
  close (fd);
}

int
main (int argc, char **argv)
{
  UnwindIndex *index = g_new0 (UnwindIndex, 1);
  UnwindPublisher *publisher = sysprof_unwind_publisher_new (index, NULL, NULL);
  g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (free);
  unsigned n_rounds = argc > 1 ? (unsigned) strtoul (argv[1], NULL, 10) : 3;
  struct rusage usage;
  char *line = NULL;
  size_t capacity = 0;
  Sum sum = { 0 };

  while (getline (&line, &capacity, stdin) > 0)
    g_ptr_array_add (paths, strndup (line, strcspn (line, "\n")));
  free (line);

  for (unsigned round = 0; round <= n_rounds; round++)
    {
      sum = (Sum){ 0 };
      for (guint i = 0; i < paths->len; i++)
        add_file (&sum, g_ptr_array_index (paths, i), round == 0 ? publisher : NULL);
      if (round > 0)
        printf ("nsec %" PRId64 "\n", sum.nsec);
    }

  getrusage (RUSAGE_SELF, &usage);
  printf ("files %" PRIu64 "\ntext %" PRIu64 "\ncovered %" PRIu64 "\nframes %" PRIu64
          "\nrows %" PRIu64 "\nescapes %" PRIu64 "\ntable %" PRIu64
          "\npublished %zu\nslabs %zu\nrefused %" PRIu64 "\npeak_kib %ld\n",
          sum.n_files, sum.text, sum.covered, sum.frames, sum.rows, sum.escapes, sum.table,
          sysprof_unwind_publisher_get_use (publisher).table_bytes,
          sysprof_unwind_publisher_get_use (publisher).slab_bytes,
          sysprof_unwind_publisher_get_use (publisher).n_refused, usage.ru_maxrss);
  return 0;
}
