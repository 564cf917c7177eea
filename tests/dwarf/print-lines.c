// SPDX-License-Identifier: GPL-3.0-or-later

/* Prints the answers of src/dwarf about addresses in the format of `addr2line -f -i -a`, for
 * tests that compare them.
 *
 *     print-lines [-pt] [-s SUPPLEMENT] [-w PACKAGE] FILE
 *         reads hex numbers from standard input, in any order
 *
 * -p also prints the range of the function of the address; -t looks up the addresses in two
 * turns. Split units are opened by their names.
 */

#include "dwarf/dwarf.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int
open_split (void *closure, const char *directory, const char *name)
{
  char path[4096];

  (void) closure;
  if (name[0] == '/')
    snprintf (path, sizeof path, "%s", name);
  else
    snprintf (path, sizeof path, "%s/%s", directory, name);
  return open (path, O_RDONLY | O_CLOEXEC); /* stays open until the end */
}

static ElfImage *
open_image (const char *path)
{
  int fd = open (path, O_RDONLY | O_CLOEXEC); /* stays open until the end */
  ElfImage *image = NULL;

  if (fd < 0 || sysprof_elf_image_open (fd, &image) != ELF_OK)
    fprintf (stderr, "print-lines: cannot read '%s'\n", path);
  return image;
}

static int
compare (const void *a, const void *b)
{
  const uint64_t *left = a, *right = b;

  return (*left > *right) - (*left < *right);
}

static uint64_t *
read_addresses (size_t *n)
{
  uint64_t *addresses = NULL;
  char line[64];

  for (*n = 0; fgets (line, sizeof line, stdin) != NULL; (*n)++)
    {
      if ((*n & (*n - 1)) == 0)
        addresses = realloc (addresses, (*n == 0 ? 1 : 2 * *n) * sizeof *addresses);
      if (addresses == NULL)
        abort ();
      addresses[*n] = strtoull (line, NULL, 16);
    }
  if (*n > 0)
    qsort (addresses, *n, sizeof *addresses, compare);
  return addresses;
}

static void
print_row (const DwarfAnswers *answers, uint64_t address, const DwarfRow *row, bool has_range)
{
  printf ("0x%016" PRIx64, address);
  if (has_range)
    printf (" %" PRIx64 " %" PRIx64, row->start, row->end);
  puts ("");
  if (row->n == 0)
    puts ("??\n??:0");
  for (uint32_t i = 0; i < row->n; i++)
    {
      const DwarfFrame *frame = &answers->frame[row->first + i];
      const char *name = answers->text + frame->name, *file = answers->text + frame->file;

      puts (name[0] != 0 ? name : "??");
      if (frame->line != 0)
        printf ("%s:%u\n", file[0] != 0 ? file : "??", frame->line);
      else
        printf ("%s:%s\n", file[0] != 0 ? file : "??", file[0] != 0 ? "?" : "0");
    }
}

static void
print_rows (Dwarf *dwarf, const char *path, const uint64_t *addresses, size_t n, bool has_range)
{
  DwarfAnswers answers;
  ElfStatus status = sysprof_dwarf_resolve (dwarf, addresses, n, &answers);

  for (size_t i = 0; i < answers.n; i++)
    print_row (&answers, addresses[i], &answers.row[i], has_range);
  if (status != ELF_OK)
    fprintf (stderr, "print-lines: '%s': %s\n", path, sysprof_elf_status_to_string (status));
  sysprof_dwarf_answers_clear (&answers);
}

int
main (int argc, char **argv)
{
  DwarfFiles files = { .open_split = open_split };
  bool has_range = false, is_in_turns = false;
  uint64_t *addresses;
  Dwarf *dwarf = NULL;
  ElfStatus status;
  int option;
  size_t n, n_first;

  while ((option = getopt (argc, argv, "pts:w:")) != -1)
    {
      if (option == 'p')
        has_range = true;
      else if (option == 't')
        is_in_turns = true;
      else if (option == 's')
        files.supplement = open_image (optarg);
      else if (option == 'w')
        files.package = open_image (optarg);
      else
        return 2;
    }
  if (optind + 1 != argc)
    return 2;
  files.image = open_image (argv[optind]);
  status = files.image != NULL ? sysprof_dwarf_open (&files, &dwarf) : ELF_NOT_ELF;
  if (status != ELF_OK)
    {
      fprintf (stderr, "print-lines: '%s': %s\n", argv[optind],
               sysprof_elf_status_to_string (status));
      sysprof_elf_image_free (files.image);
      return 1;
    }

  addresses = read_addresses (&n);
  n_first = is_in_turns ? n / 2 : n;
  print_rows (dwarf, argv[optind], addresses, n_first, has_range);
  if (is_in_turns)
    print_rows (dwarf, argv[optind], addresses + n_first, n - n_first, has_range);

  sysprof_dwarf_free (dwarf);
  sysprof_elf_image_free (files.image);
  sysprof_elf_image_free (files.supplement);
  sysprof_elf_image_free (files.package);
  free (addresses);
  return 0;
}
