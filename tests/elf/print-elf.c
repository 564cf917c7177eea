// SPDX-License-Identifier: GPL-3.0-or-later

/* Prints what src/elf reads from a file as text, for tests that compare it with nm, readelf and
 * c++filt.
 *
 *     print-elf build-id|link|crc|count FILE
 *     print-elf find|stub|bounds|entry|address FILE   reads hex numbers, one per line
 *     print-elf demangle                         reads names
 */

#include "elf/elf.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int
print_demangled (void)
{
  char *line = NULL;
  size_t capacity = 0;
  ssize_t size;

  while ((size = getline (&line, &capacity, stdin)) > 0)
    {
      char *name;

      line[strcspn (line, "\n")] = 0;
      name = sysprof_elf_demangle (line);
      puts (name != NULL ? name : line);
      free (name);
    }

  free (line);
  return 0;
}

static void
print_find (ElfStubs *stubs, const ElfSymbols *symbols, uint64_t address)
{
  ElfSymbol symbol;

  if (stubs != NULL ? sysprof_elf_stubs_find (stubs, address, &symbol)
                    : symbols != NULL && sysprof_elf_symbols_find (symbols, address, &symbol))
    printf ("%" PRIx64 " %" PRIx64 " %s\n", symbol.start, symbol.end, symbol.name);
  else
    puts ("-");
}

static void
print_answers (ElfImage *image, const ElfSymbols *symbols, const char *what)
{
  ElfStubs *stubs = strcmp (what, "stub") == 0 ? sysprof_elf_stubs_new (image, symbols) : NULL;
  char line[64];

  while (fgets (line, sizeof line, stdin) != NULL)
    {
      uint64_t address = strtoull (line, NULL, 16);
      uint64_t start, end;

      if (strcmp (what, "find") == 0 || strcmp (what, "stub") == 0)
        print_find (stubs, symbols, address);
      else if (strcmp (what, "entry") == 0)
        puts (sysprof_elf_image_is_entry (image, symbols, address) ? "entry" : "-");
      else if (strcmp (what, "address") == 0 &&
               sysprof_elf_image_address_of_offset (image, address, &start) == ELF_OK)
        printf ("%" PRIx64 "\n", start);
      else if (strcmp (what, "bounds") == 0 &&
               sysprof_elf_image_function_bounds (image, address, &start, &end) == ELF_OK)
        printf ("%" PRIx64 " %" PRIx64 "\n", start, end);
      else
        puts ("-");
    }
  sysprof_elf_stubs_free (stubs);
}

static ElfStatus
print_one (ElfImage *image, int fd, const char *what)
{
  uint8_t id[ELF_MAX_BUILD_ID];
  size_t size;
  char link[256];
  uint32_t crc;
  ElfStatus status;

  if (strcmp (what, "build-id") == 0)
    {
      status = sysprof_elf_image_build_id (image, id, &size);
      for (size_t i = 0; status == ELF_OK && i < size; i++)
        printf ("%02x", id[i]);
    }
  else if (strcmp (what, "link") == 0)
    {
      status = sysprof_elf_image_debug_link (image, link, &crc);
      if (status == ELF_OK)
        printf ("%s %08x", link, crc);
    }
  else
    {
      status = sysprof_elf_file_crc (fd, &crc);
      printf ("%08x", crc);
    }

  puts (status == ELF_OK ? "" : sysprof_elf_status_to_string (status));
  return status;
}

int
main (int argc, char **argv)
{
  ElfImage *image = NULL;
  ElfSymbols *symbols = NULL;
  ElfStatus status;
  int fd;

  if (argc == 2 && strcmp (argv[1], "demangle") == 0)
    return print_demangled ();
  if (argc != 3)
    return 2;

  fd = open (argv[2], O_RDONLY | O_CLOEXEC);
  status = fd < 0 ? ELF_IO_ERROR : sysprof_elf_image_open (fd, &image);
  if (status != ELF_OK)
    {
      puts (sysprof_elf_status_to_string (status));
      return 1;
    }

  if (strcmp (argv[1], "build-id") == 0 || strcmp (argv[1], "link") == 0 ||
      strcmp (argv[1], "crc") == 0)
    {
      status = print_one (image, fd, argv[1]);
    }
  else
    {
      ElfStatus loaded = sysprof_elf_symbols_load (image, &symbols);

      if (strcmp (argv[1], "count") == 0)
        printf ("%zu %s %s\n", symbols != NULL ? sysprof_elf_symbols_count (symbols) : 0,
                symbols != NULL && sysprof_elf_symbols_is_full (symbols) ? "full" : "part",
                sysprof_elf_status_to_string (loaded));
      else
        print_answers (image, symbols, argv[1]);
    }

  sysprof_elf_symbols_free (symbols);
  sysprof_elf_image_free (image);
  close (fd);
  return status == ELF_OK ? 0 : 1;
}
