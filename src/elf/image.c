// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads the header, segments and sections. If a part is missing or outside the file, the rest
 * is still usable: a file without section headers has segments and a build ID. */

#include "elf/image.h"

#include "elf/inflate.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Sizes that depend on the class. */
#define HEADER_SIZE(is_64)  ((is_64) ? sizeof (Elf64_Ehdr) : sizeof (Elf32_Ehdr))
#define SEGMENT_SIZE(is_64) ((is_64) ? sizeof (Elf64_Phdr) : sizeof (Elf32_Phdr))
#define SECTION_SIZE(is_64) ((is_64) ? sizeof (Elf64_Shdr) : sizeof (Elf32_Shdr))

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#  define OUR_ORDER ELFDATA2LSB
#else
#  define OUR_ORDER ELFDATA2MSB
#endif

/* Positions of the tables according to the ELF header. */
typedef struct
{
  uint64_t segments_offset;
  uint64_t sections_offset;
  uint16_t segment_size;
  uint16_t n_segments;
  uint16_t section_size;
  uint16_t n_sections;
  uint16_t names_index;
} Tables;

static bool
parse_header (ElfImage *self, Bytes bytes, Tables *tables)
{
  uint32_t version, flags;
  uint16_t header_size;

  return sysprof_bytes_u16 (&bytes, &self->type) &&
         sysprof_bytes_u16 (&bytes, &self->machine) && sysprof_bytes_u32 (&bytes, &version) &&
         sysprof_bytes_word (&bytes, &self->entry) &&
         sysprof_bytes_word (&bytes, &tables->segments_offset) &&
         sysprof_bytes_word (&bytes, &tables->sections_offset) &&
         sysprof_bytes_u32 (&bytes, &flags) && sysprof_bytes_u16 (&bytes, &header_size) &&
         sysprof_bytes_u16 (&bytes, &tables->segment_size) &&
         sysprof_bytes_u16 (&bytes, &tables->n_segments) &&
         sysprof_bytes_u16 (&bytes, &tables->section_size) &&
         sysprof_bytes_u16 (&bytes, &tables->n_sections) &&
         sysprof_bytes_u16 (&bytes, &tables->names_index);
}

static bool
parse_segment (Bytes bytes, ElfSegment *segment)
{
  uint64_t physical;

  if (!sysprof_bytes_u32 (&bytes, &segment->type))
    return false;
  if (bytes.is_64 && !sysprof_bytes_u32 (&bytes, &segment->flags))
    return false;
  if (!sysprof_bytes_word (&bytes, &segment->offset) ||
      !sysprof_bytes_word (&bytes, &segment->address) ||
      !sysprof_bytes_word (&bytes, &physical) ||
      !sysprof_bytes_word (&bytes, &segment->file_size) ||
      !sysprof_bytes_word (&bytes, &segment->memory_size))
    return false;
  if (!bytes.is_64 && !sysprof_bytes_u32 (&bytes, &segment->flags))
    return false;

  return sysprof_bytes_word (&bytes, &segment->align);
}

static bool
parse_section (Bytes bytes, ElfSection *section)
{
  return sysprof_bytes_u32 (&bytes, &section->name) &&
         sysprof_bytes_u32 (&bytes, &section->type) &&
         sysprof_bytes_word (&bytes, &section->flags) &&
         sysprof_bytes_word (&bytes, &section->address) &&
         sysprof_bytes_word (&bytes, &section->offset) &&
         sysprof_bytes_word (&bytes, &section->size) &&
         sysprof_bytes_u32 (&bytes, &section->link) &&
         sysprof_bytes_u32 (&bytes, &section->info) &&
         sysprof_bytes_word (&bytes, &section->align) &&
         sysprof_bytes_word (&bytes, &section->entry_size);
}

/* Reads a complete table. Its entries may be longer than those of the format, but not
 * shorter. */
static ElfStatus
read_table (const ElfImage *self,
            uint64_t offset,
            uint64_t n,
            uint64_t entry_size,
            uint64_t least_size,
            uint8_t **bytes)
{
  uint64_t size;

  if (entry_size < least_size || entry_size > 4096)
    return ELF_CORRUPT;
  if (__builtin_mul_overflow (n, entry_size, &size))
    return ELF_CORRUPT;

  return sysprof_elf_source_read_new (&self->source, offset, size, ELF_MAX_SECTION, bytes);
}

static ElfStatus
read_segments (ElfImage *self, const Tables *tables)
{
  ElfStatus status;
  uint8_t *bytes;

  if (tables->n_segments == 0 || tables->segments_offset == 0)
    return ELF_OK;

  status = read_table (self, tables->segments_offset, tables->n_segments, tables->segment_size,
                       SEGMENT_SIZE (self->is_64), &bytes);
  if (status != ELF_OK)
    return status == ELF_NO_MEMORY ? status : ELF_OK;

  self->segments = calloc (tables->n_segments, sizeof (ElfSegment));
  if (self->segments == NULL)
    {
      free (bytes);
      return ELF_NO_MEMORY;
    }

  for (uint32_t i = 0; i < tables->n_segments; i++)
    {
      const uint8_t *entry = bytes + (uint64_t) i * tables->segment_size;

      if (parse_segment (sysprof_elf_image_cursor (self, entry, tables->segment_size),
                         &self->segments[self->n_segments]))
        self->n_segments++;
    }

  free (bytes);
  return ELF_OK;
}

/* A count that is too large for the header is in section 0. */
static bool
count_sections (const ElfImage *self, const Tables *tables, uint64_t *n, uint32_t *names_index)
{
  uint8_t bytes[sizeof (Elf64_Shdr)];
  size_t size = SECTION_SIZE (self->is_64);
  ElfSection first;

  *n = tables->n_sections;
  *names_index = tables->names_index;
  if (tables->sections_offset == 0)
    return false;
  if (*n != 0 && *names_index != SHN_XINDEX)
    return true;

  if (sysprof_elf_source_read (&self->source, tables->sections_offset, bytes, size) != ELF_OK ||
      !parse_section (sysprof_elf_image_cursor (self, bytes, size), &first))
    return false;

  if (*n == 0)
    *n = first.size;
  if (*names_index == SHN_XINDEX)
    *names_index = first.link;
  return *n > 0 && *n <= ELF_MAX_SECTIONS;
}

static ElfStatus
read_sections (ElfImage *self, const Tables *tables)
{
  ElfStatus status;
  uint8_t *bytes;
  uint64_t n;
  uint32_t names_index;

  if (!count_sections (self, tables, &n, &names_index))
    return ELF_OK;

  status = read_table (self, tables->sections_offset, n, tables->section_size,
                       SECTION_SIZE (self->is_64), &bytes);
  if (status != ELF_OK)
    return status == ELF_NO_MEMORY ? status : ELF_OK;

  self->sections = calloc ((size_t) n, sizeof (ElfSection));
  if (self->sections == NULL)
    {
      free (bytes);
      return ELF_NO_MEMORY;
    }

  for (uint64_t i = 0; i < n; i++)
    {
      const uint8_t *entry = bytes + i * tables->section_size;

      if (!parse_section (sysprof_elf_image_cursor (self, entry, tables->section_size),
                          &self->sections[i]))
        break;
      self->n_sections++;
    }
  free (bytes);

  if (names_index < self->n_sections)
    {
      const ElfSection *names = &self->sections[names_index];

      if (names->type != SHT_NOBITS &&
          sysprof_elf_source_read_new (&self->source, names->offset, names->size,
                                       ELF_MAX_SECTION / 16,
                                       (uint8_t **) &self->section_names) == ELF_OK)
        self->section_names_size = names->size;
    }

  return ELF_OK;
}

static ElfStatus
open_source (ElfSource source, ElfImage **image)
{
  uint8_t header[sizeof (Elf64_Ehdr)];
  Tables tables = { 0 };
  ElfImage *self;
  ElfStatus status;
  bool is_64;

  status = sysprof_elf_source_read (&source, 0, header, EI_NIDENT);
  if (status != ELF_OK)
    return status == ELF_TRUNCATED ? ELF_NOT_ELF : status;
  if (memcmp (header, ELFMAG, SELFMAG) != 0)
    return ELF_NOT_ELF;
  if ((header[EI_CLASS] != ELFCLASS32 && header[EI_CLASS] != ELFCLASS64) ||
      (header[EI_DATA] != ELFDATA2LSB && header[EI_DATA] != ELFDATA2MSB) ||
      header[EI_VERSION] != EV_CURRENT)
    return ELF_UNSUPPORTED;

  is_64 = header[EI_CLASS] == ELFCLASS64;
  status = sysprof_elf_source_read (&source, 0, header, HEADER_SIZE (is_64));
  if (status != ELF_OK)
    return status;

  self = calloc (1, sizeof *self);
  if (self == NULL)
    return ELF_NO_MEMORY;
  self->source = source;
  self->is_64 = is_64;
  self->is_swapped = header[EI_DATA] != OUR_ORDER;

  if (!parse_header (
          self,
          sysprof_elf_image_cursor (self, header + EI_NIDENT, HEADER_SIZE (is_64) - EI_NIDENT),
          &tables))
    status = ELF_CORRUPT;
  if (status == ELF_OK)
    status = read_segments (self, &tables);
  if (status == ELF_OK)
    status = read_sections (self, &tables);
  if (status == ELF_OK && self->type == ET_REL)
    sysprof_elf_image_place_sections (self);
  if (status != ELF_OK)
    {
      sysprof_elf_image_free (self);
      return status;
    }

  *image = self;
  return ELF_OK;
}

/* fstat() of newer C libraries uses a system call that also takes a path. The sandbox cannot
 * see strings, so it cannot allow that call. */
static int
stat_descriptor (int fd, struct stat *info)
{
#if defined(__LP64__) && (defined(__x86_64__) || defined(__aarch64__))
  return (int) syscall (SYS_fstat, fd, info); /* the kernel's structure is the same there */
#else
  return fstat (fd, info);
#endif
}

/* Kernel modules are often compressed as a whole. */
static ElfStatus
open_packed (ElfSource source, ElfImage **image)
{
  uint8_t *bytes;
  uint64_t size;
  ElfStatus status = sysprof_elf_inflate_file (&source, &bytes, &size);

  if (status != ELF_OK)
    return status;
  status = open_source ((ElfSource){ .fd = -1, .memory = bytes, .size = size }, image);
  if (status == ELF_OK)
    (*image)->unpacked = bytes;
  else
    free (bytes);
  return status;
}

ElfStatus
sysprof_elf_image_open (int fd, ElfImage **image)
{
  struct stat info;
  ElfSource source;
  ElfStatus status;

  if (stat_descriptor (fd, &info) < 0)
    return ELF_IO_ERROR;
  if (!S_ISREG (info.st_mode))
    return ELF_NOT_ELF; /* reading a pipe or device could block or never end */

  source = (ElfSource){ .fd = fd, .size = (uint64_t) info.st_size };
  status = open_source (source, image);
  return status == ELF_NOT_ELF ? open_packed (source, image) : status;
}

ElfStatus
sysprof_elf_image_open_memory (const void *bytes, size_t size, ElfImage **image)
{
  return open_source ((ElfSource){ .fd = -1, .memory = bytes, .size = size }, image);
}

void
sysprof_elf_image_free (ElfImage *image)
{
  if (image == NULL)
    return;

  free (image->unpacked);
  free (image->segments);
  free (image->sections);
  free (image->section_names);
  free (image->frame_header);
  free (image->frame_window);
  free (image);
}

const ElfSection *
sysprof_elf_image_find_section (const ElfImage *self, const char *name)
{
  for (uint32_t i = 1; i < self->n_sections; i++)
    if (self->sections[i].name < self->section_names_size &&
        strcmp (self->section_names + self->sections[i].name, name) == 0)
      return &self->sections[i];

  return NULL;
}

bool
sysprof_elf_image_has_section (const ElfImage *image, const char *name)
{
  return sysprof_elf_image_find_section (image, name) != NULL;
}

ElfStatus
sysprof_elf_image_read_section_unlinked (ElfImage *self,
                                         const ElfSection *section,
                                         uint8_t **bytes,
                                         uint64_t *size)
{
  ElfStatus status;
  uint8_t *stored;

  if (section->type == SHT_NOBITS)
    return ELF_ABSENT;

  status = sysprof_elf_source_read_new (&self->source, section->offset, section->size,
                                        ELF_MAX_SECTION, &stored);
  if (status != ELF_OK)
    return status;

  if (!(section->flags & SHF_COMPRESSED))
    {
      *bytes = stored;
      *size = section->size;
      return ELF_OK;
    }

  status = sysprof_elf_inflate_section (sysprof_elf_image_cursor (self, stored, section->size),
                                        bytes, size);
  free (stored);
  return status;
}

ElfStatus
sysprof_elf_image_read_section (ElfImage *self,
                                const ElfSection *section,
                                uint8_t **bytes,
                                uint64_t *size)
{
  ElfStatus status = sysprof_elf_image_read_section_unlinked (self, section, bytes, size);

  if (status != ELF_OK || self->type != ET_REL)
    return status;
  status = sysprof_elf_image_relocate (self, section, *bytes, *size);
  if (status != ELF_OK)
    free (*bytes);
  return status;
}

/* Executable segments first: their pages may contain bytes of a neighboring segment, too. */
ElfStatus
sysprof_elf_image_address_of_offset (ElfImage *image, uint64_t file_offset, uint64_t *address)
{
  for (unsigned pass = 0; pass < 2; pass++)
    for (uint32_t i = 0; i < image->n_segments; i++)
      {
        const ElfSegment *segment = &image->segments[i];

        if (segment->type != PT_LOAD || (pass == 0) != ((segment->flags & PF_X) != 0))
          continue;
        if (file_offset >= segment->offset &&
            file_offset - segment->offset < segment->file_size)
          {
            *address = segment->address + (file_offset - segment->offset);
            return ELF_OK;
          }
      }

  return ELF_ABSENT;
}

/* The same for an object file that is not linked: its first code section, if no code section
 * has bytes. */
static bool
left_out_sections (const ElfImage *image, uint64_t *address, uint64_t *size)
{
  const char *name;
  ElfCode code;

  for (uint32_t i = 1; i < image->n_sections; i++)
    if (sysprof_elf_image_object_code (image, i, &code))
      return false;
  return sysprof_elf_image_object_text (image, 0, &name, address, size);
}

bool
sysprof_elf_image_left_out_code (const ElfImage *image, uint64_t *address, uint64_t *size)
{
  const ElfSegment *code = NULL;

  for (uint32_t i = 0; i < image->n_segments; i++)
    {
      const ElfSegment *segment = &image->segments[i];

      if (segment->type != PT_LOAD || (segment->flags & PF_X) == 0)
        continue;
      if (code != NULL)
        return false;
      code = segment;
    }
  if (code == NULL && image->type == ET_REL)
    return left_out_sections (image, address, size);
  if (code == NULL || code->file_size >= code->memory_size)
    return false;

  *address = code->address;
  *size = code->memory_size;
  return true;
}

ElfStatus
sysprof_elf_image_offset_of_address (const ElfImage *self,
                                     uint64_t address,
                                     uint64_t *offset,
                                     uint64_t *left)
{
  for (uint32_t i = 0; i < self->n_segments; i++)
    {
      const ElfSegment *segment = &self->segments[i];

      if (segment->type != PT_LOAD)
        continue;
      if (address >= segment->address && address - segment->address < segment->file_size)
        {
          uint64_t delta = address - segment->address;

          if (__builtin_add_overflow (segment->offset, delta, offset))
            return ELF_CORRUPT;
          *left = segment->file_size - delta;
          return ELF_OK;
        }
    }
  for (uint32_t i = 1; self->type == ET_REL && i < self->n_sections; i++)
    {
      ElfCode code;

      if (!sysprof_elf_image_object_code (self, i, &code) || address < code.start ||
          address >= code.end)
        continue;
      *offset = code.offset + (address - code.start);
      *left = code.end - address;
      return ELF_OK;
    }

  return ELF_ABSENT;
}

const char *
sysprof_elf_status_to_string (ElfStatus status)
{
  switch (status)
    {
    case ELF_OK:
      return "ok";
    case ELF_TRUNCATED:
      return "the file is truncated";
    case ELF_NOT_ELF:
      return "not an ELF file";
    case ELF_UNSUPPORTED:
      return "an ELF file of an unsupported kind";
    case ELF_ABSENT:
      return "not in the file";
    case ELF_CORRUPT:
      return "the file is corrupt";
    case ELF_TOO_LARGE:
      return "over a size limit";
    case ELF_MISMATCH:
      return "belongs to another file";
    case ELF_NO_MEMORY:
      return "not enough memory";
    case ELF_IO_ERROR:
      return "the file cannot be read";
    case ELF_SKIPPED:
      return "skipped: files of other users have used up their budget";
    case ELF_GIVEN_UP:
      return "reading it took too long, or killed the child process that read it";
    default:
      return "unknown status";
    }
}
