// SPDX-License-Identifier: GPL-3.0-or-later

/* Call-frame bytes that no compiler wrote: rules stay within their function, and missing rules
 * are not invented. */

#include "tests/unwind/make-elf.h"
#include "unwind/unwind.h"

#include <glib.h>

/* --- writing call-frame bytes --- */

static void
put_u32 (GByteArray *bytes, uint32_t value)
{
  g_byte_array_append (bytes, (const guint8 *) &value, sizeof value);
}

static void
put_entry (GByteArray *bytes, uint32_t id, const void *body, guint size)
{
  put_u32 (bytes, size + 4);
  put_u32 (bytes, id);
  g_byte_array_append (bytes, body, size);
}

/* "zR" with addresses of 8 bytes; CFA = RSP + 8, return address at CFA - 8; `more` are further
 * instructions. */
static void
put_common (GByteArray *bytes, const char *more, guint n_more)
{
  GByteArray *body = g_byte_array_new ();
  static const guint8 head[] = { 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x00, 0x0c, 7, 8, 0x90, 1 };

  g_byte_array_append (body, head, sizeof head);
  g_byte_array_append (body, (const guint8 *) more, n_more);
  put_entry (bytes, 0, body->data, body->len);
  g_byte_array_unref (body);
}

/* A function whose common entry is at the beginning of the section. */
static void
put_function (GByteArray *bytes, uint64_t start, uint64_t size, const char *program, guint n)
{
  GByteArray *body = g_byte_array_new ();
  guint8 no_augmentation = 0;

  g_byte_array_append (body, (const guint8 *) &start, sizeof start);
  g_byte_array_append (body, (const guint8 *) &size, sizeof size);
  g_byte_array_append (body, &no_augmentation, 1);
  g_byte_array_append (body, (const guint8 *) program, n);
  put_entry (bytes, bytes->len + 4, body->data, body->len);
  g_byte_array_unref (body);
}

#define PUT(bytes, start, size, program) \
  put_function (bytes, start, size, program, sizeof program - 1)

static UnwindTable
build (GByteArray *frames)
{
  UnwindTable table = { 0 };
  ElfImage *image;
  size_t size;
  uint8_t *file = make_elf (NULL, frames->data, frames->len, 0, EM_X86_64, &size);

  g_assert_cmpint (sysprof_elf_image_open_memory (file, size, &image), ==, ELF_OK);
  g_assert_cmpint (sysprof_unwind_table_build (image, NULL, &table), ==, ELF_OK);
  sysprof_elf_image_free (image);
  free (file);
  g_byte_array_unref (frames);
  return table;
}

/* Row by row from the page's beginning: what the walker's search must find. */
static uint32_t
naive_rule (const UnwindTable *table, uint64_t address)
{
  uint64_t at = address - table->header->start;
  uint32_t page = (uint32_t) (at >> UNWIND_PAGE_SHIFT), n_rules, found = RULE_NONE;
  const uint16_t *first, *row;
  const uint32_t *rule;

  if (page >= table->header->n_pages || table->block[page] == 0)
    return RULE_NONE;
  first = (const uint16_t *) (const void *) (table->bytes + table->block[page]);
  n_rules = first[UNWIND_BLOCKS + 1];
  rule = (const uint32_t *) (const void *) ((const uint8_t *) first + UNWIND_RULES_OFFSET);
  row = (const uint16_t *) (const void *) (rule + n_rules);
  for (uint32_t block = 0; block < UNWIND_BLOCKS; block++)
    for (uint32_t i = first[block]; i < first[block + 1]; i++)
      if (block * 256 + (row[i] >> 8) <= (at & 0xffff))
        {
          g_assert_cmpuint (row[i] & 255, <, n_rules);
          found = rule[row[i] & 255];
        }
  return found;
}

#define RSP(offset) RULE_MAKE (RULE_SP, offset, SLOT_UNCHANGED)

/* --- what it does --- */

static void
test_plain (void)
{
  GByteArray *frames = g_byte_array_new ();
  UnwindTable table;

  put_common (frames, "", 0);
  /* push rbp: CFA + 16, RBP at CFA - 16; mov rsp, rbp: CFA by RBP; pop: RSP + 8 */
  PUT (frames, TEXT + 0x100, 0x40, "\x41\x0e\x10\x86\x02\x43\x0d\x06\x70\x0c\x07\x08");
  table = build (frames);

  g_assert_cmpuint (naive_rule (&table, TEXT + 0xff), ==, RULE_NONE);
  g_assert_cmpuint (naive_rule (&table, TEXT + 0x100), ==, RSP (8));
  g_assert_cmpuint (naive_rule (&table, TEXT + 0x101), ==, RULE_MAKE (RULE_SP, 16, 2));
  g_assert_cmpuint (naive_rule (&table, TEXT + 0x103), ==, RULE_MAKE (RULE_SP, 16, 2));
  g_assert_cmpuint (naive_rule (&table, TEXT + 0x104), ==, RULE_MAKE (RULE_BP, 16, 2));
  g_assert_cmpuint (naive_rule (&table, TEXT + 0x13f), ==, RULE_MAKE (RULE_SP, 8, 2));
  g_assert_cmpuint (naive_rule (&table, TEXT + 0x140), ==, RULE_NONE);
  g_assert_cmpuint (table.header->n_functions, ==, 1);
  g_assert_cmpuint (table.header->covered_size, ==, 0x40);
  sysprof_unwind_table_clear (&table);
}

static void
test_overlap (void)
{
  GByteArray *frames = g_byte_array_new ();
  UnwindTable table;

  put_common (frames, "", 0);
  PUT (frames, TEXT + 0x2000, 0x1000, "\x0e\x30"); /* not in order */
  PUT (frames, TEXT + 0x1000, 0x4000, "\x0e\x18"); /* into the one above, and beyond it */
  PUT (frames, TEXT + 0x1000, 0x10, "\x0e\x20");   /* the same start */
  PUT (frames, TEXT - 0x1000, 0x1800, "\x0e\x28"); /* begins before the text */
  PUT (frames, TEXT + TEXT_SIZE - 16, UINT64_MAX - TEXT - TEXT_SIZE,
       "\x0e\x38");                             /* ends behind it */
  PUT (frames, UINT64_MAX - 8, 64, "\x0e\x38"); /* wraps */
  PUT (frames, TEXT + 0x5000, 0, "\x0e\x38");
  table = build (frames);

  g_assert_cmpuint (naive_rule (&table, TEXT), ==, RULE_NONE);
  g_assert_cmpuint (naive_rule (&table, TEXT + 0x1fff), ==, RSP (24));
  g_assert_cmpuint (naive_rule (&table, TEXT + 0x2000), ==, RSP (48));
  g_assert_cmpuint (naive_rule (&table, TEXT + 0x2fff), ==, RSP (48));
  g_assert_cmpuint (naive_rule (&table, TEXT + 0x3000), ==, RULE_NONE);
  g_assert_cmpuint (naive_rule (&table, TEXT + 0x5000), ==, RULE_NONE);
  g_assert_cmpuint (naive_rule (&table, TEXT + TEXT_SIZE - 1), ==, RSP (56));
  sysprof_unwind_table_clear (&table);
}

static void
test_references (void)
{
  GByteArray *frames = g_byte_array_new ();
  UnwindTable table;
  uint32_t place;

  put_common (frames, "", 0);
  place = frames->len;
  /* To itself; into the middle of the common entry; far before the section; to the bytes
   * after it. */
  put_entry (frames, 4, "\0\0\1\0\0\0\0\0\x10\0\0\0\0\0\0\0", 17);
  put_entry (frames, frames->len + 4 - 2, "\0\0\1\0\0\0\0\0\x10\0\0\0\0\0\0\0", 17);
  put_entry (frames, 0x7fffffff, "\0\0\1\0\0\0\0\0\x10\0\0\0\0\0\0\0", 17);
  put_entry (frames, (uint32_t) -64, "\0\0\1\0\0\0\0\0\x10\0\0\0\0\0\0\0", 17);
  g_assert_cmpuint (place, <, frames->len);
  table = build (frames);

  g_assert_cmpuint (table.header->n_functions, ==, 0);
  g_assert_cmpuint (table.header->n_refused, ==, 4);
  sysprof_unwind_table_clear (&table);
}

static void
test_instructions (void)
{
  static const struct
  {
    const char *program;
    guint n;
    uint32_t first; /* at the function's beginning */
    uint32_t last;  /* in its last byte */
  } broken[] = {
#define PROGRAM(text) text, sizeof text - 1
    { PROGRAM ("\x0e"), RULE_ESCAPE, RULE_ESCAPE }, /* operand cut off */
    { PROGRAM ("\x44\x0e\x10\x0b"), RSP (8),
      RULE_ESCAPE },                                /* restores what was not remembered */
    { PROGRAM ("\x44\x3f"), RSP (8), RULE_ESCAPE }, /* no such instruction */
    { PROGRAM ("\x44\x0f\x7f\x77\x08"), RSP (8),
      RULE_ESCAPE }, /* an expression longer than the rest */
    { PROGRAM ("\x0e\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), RULE_ESCAPE, RULE_ESCAPE },
    { PROGRAM ("\x0e\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), RULE_ESCAPE,
      RULE_ESCAPE },
    { PROGRAM ("\x0e\x0c"), RULE_ESCAPE, RULE_ESCAPE }, /* not a multiple of 8 */
    { PROGRAM ("\x0e\x88\x80\x08"), RULE_MAKE_FAR (131080, 0), RULE_MAKE_FAR (131080, 0) },
    { PROGRAM ("\x0e\xf8\xff\xff\x03"), RULE_MAKE_FAR (8388600, 0),
      RULE_MAKE_FAR (8388600, 0) },
    { PROGRAM ("\x0e\x80\x80\x80\x04"), RULE_ESCAPE,
      RULE_ESCAPE }, /* 8 MiB: too large to be said */
    { PROGRAM ("\x04\xff\xff\xff\xff\x0e\x10"), RSP (8),
      RSP (8) }, /* behind the function's end */
    { PROGRAM ("\x01\x00\x00\x00\x00\x00\x00\x00\x00"), RULE_ESCAPE,
      RULE_ESCAPE },                                    /* backwards */
    { PROGRAM ("\x44\x90\x02"), RSP (8), RULE_ESCAPE }, /* return address elsewhere */
    { PROGRAM ("\x44\x07\x10"), RSP (8), RULE_END },    /* return address undefined */
    { PROGRAM ("\x44\x09\x06\x03"), RSP (8),
      RULE_MAKE (RULE_SP, 8, SLOT_LOST) }, /* RBP in RBX */
    { PROGRAM ("\x44\x86\x00"), RSP (8),
      RULE_MAKE (RULE_SP, 8, SLOT_LOST) }, /* RBP at the CFA */
    { PROGRAM ("\x44\x86\xff\xff\x7f"), RSP (8), RULE_MAKE (RULE_SP, 8, SLOT_LOST) },
    { PROGRAM ("\x44\x0d\x10"), RSP (8), RULE_ESCAPE }, /* CFA by RIP */
    { PROGRAM ("\x44\x0d\x80\x80\x80\x80\x10"), RSP (8), RULE_ESCAPE },
    { PROGRAM ("\x44\x0f\x00"), RSP (8), RULE_ESCAPE },         /* an empty expression */
    { PROGRAM ("\x44\x0f\x02\x2f\xfe"), RSP (8), RULE_ESCAPE }, /* one that jumps to itself */
    { PROGRAM ("\x44\x0f\x03\x76\x78\x06"), RSP (8), RULE_MAKE (RULE_BP_LOAD, 8, 0) },
    { PROGRAM ("\x44\x0f\x03\x76\x79\x06"), RSP (8), RULE_ESCAPE }, /* RBP - 7 */
    { PROGRAM ("\x44\x0f\x03\x76\x08\x06"), RSP (8), RULE_ESCAPE }, /* above RBP */
    { PROGRAM ("\x44\x0f\x06\x77\x98\x01\x06\x23\x08"), RSP (8),
      RULE_MAKE (RULE_SP_LOAD, 152, 0) },
    { PROGRAM ("\x44\x0f\x06\x77\x98\x01\x06\x23\x10"), RSP (8), RULE_ESCAPE },
    { PROGRAM ("\x2e\x88\x01\x44\x0e\x10"), RSP (8),
      RSP (16) }, /* the size of arguments: of no use */
#undef PROGRAM
  };

  for (size_t i = 0; i < G_N_ELEMENTS (broken); i++)
    {
      GByteArray *frames = g_byte_array_new ();
      UnwindTable table;

      put_common (frames, "", 0);
      put_function (frames, TEXT, 0x100, broken[i].program, broken[i].n);
      PUT (frames, TEXT + 0x100, 0x100, "\x0e\x20");
      table = build (frames);

      g_test_message ("program %zu", i);
      g_assert_cmphex (naive_rule (&table, TEXT), ==, broken[i].first);
      g_assert_cmphex (naive_rule (&table, TEXT + 0xff), ==, broken[i].last);
      g_assert_cmphex (naive_rule (&table, TEXT + 0x100), ==, RSP (32));
      sysprof_unwind_table_clear (&table);
    }
}

static void
test_remembers_32_states (void)
{
  for (unsigned depth = 31; depth <= 34; depth++)
    {
      GByteArray *frames = g_byte_array_new ();
      GByteArray *program = g_byte_array_new ();
      UnwindTable table;

      for (unsigned i = 0; i < depth; i++)
        g_byte_array_append (program, (const guint8 *) "\x0a\x0e\x40\x41", 4);
      for (unsigned i = 0; i < depth; i++)
        g_byte_array_append (program, (const guint8 *) "\x0b\x41", 2);
      put_common (frames, "", 0);
      put_function (frames, TEXT, 0x100, (const char *) program->data, program->len);
      table = build (frames);

      g_assert_cmpuint (naive_rule (&table, TEXT + 0xff), ==,
                        depth <= 32 ? RSP (8) : RULE_ESCAPE);
      g_assert_cmpuint (table.header->n_broken, ==, depth > 32);
      g_byte_array_unref (program);
      sysprof_unwind_table_clear (&table);
    }
}

/* Each of 50,000 functions begins where the others do; each of 50,000 refers to a common entry
 * with a thousand instructions. In either case work that grows with the product would not end
 * while somebody waits. */
static void
test_many (void)
{
  GByteArray *frames = g_byte_array_new ();
  GByteArray *long_program = g_byte_array_new ();
  UnwindTable table;

  for (unsigned i = 0; i < 30000; i++)
    g_byte_array_append (long_program, (const guint8 *) "\x86\x02", 2);
  put_common (frames, (const char *) long_program->data, long_program->len);
  for (unsigned i = 0; i < 50000; i++)
    PUT (frames, TEXT + 0x100, 0x10 + i, "\x0e\x10");
  for (unsigned i = 0; i < 50000; i++)
    PUT (frames, TEXT + 0x20000 + i, 1, "\x0e\x18");
  table = build (frames);

  g_assert_cmpuint (naive_rule (&table, TEXT + 0x100), ==, RULE_MAKE (RULE_SP, 16, 2));
  g_assert_cmpuint (naive_rule (&table, TEXT + 0x20000 + 49999), ==,
                    RULE_MAKE (RULE_SP, 24, 2));
  g_assert_cmpuint (table.header->n_functions, ==, 50001);
  g_byte_array_unref (long_program);
  sysprof_unwind_table_clear (&table);
}

/* A row for each byte, each of another rule: more rules than a page can name, and every one of
 * its rows. */
static void
test_full_page (void)
{
  GByteArray *frames = g_byte_array_new ();
  GByteArray *program = g_byte_array_new ();
  UnwindTable table;
  unsigned n_right = 0, n_wrong = 0;

  for (unsigned i = 0; i < 0x10000; i++)
    {
      /* Half of the rows share ten rules; the others have one each, of two thousand. */
      uint32_t offset = i % 2 == 0 ? 8 + i / 2 % 10 * 8 : 1000 + i % 4096 * 8;
      guint8 code[] = { 0x0e, (guint8) (offset & 0x7f) | 0x80,
                        (guint8) (offset >> 7 & 0x7f) | 0x80, (guint8) (offset >> 14), 0x41 };

      g_byte_array_append (program, code, sizeof code);
    }
  put_common (frames, "", 0);
  put_function (frames, TEXT, 0x10000, (const char *) program->data, program->len);
  table = build (frames);

  for (unsigned i = 0; i < 0xffff; i++)
    {
      uint32_t rule = naive_rule (&table, TEXT + i);

      if (i % 2 == 0 && rule == RSP (8 + i / 2 % 10 * 8))
        n_right++;
      else if (i % 2 == 0 || (rule != RULE_ESCAPE && rule != RSP (1000 + i % 4096 * 8)))
        n_wrong++;
    }
  g_assert_cmpuint (n_wrong, ==, 0);
  g_assert_cmpuint (n_right, ==, 0x8000);
  g_byte_array_unref (program);
  sysprof_unwind_table_clear (&table);
}

static void
test_adopt_refuses_damage (void)
{
  GByteArray *frames = g_byte_array_new ();
  UnwindTable table, adopted;
  size_t header = sizeof (UnwindTableHeader);
  size_t block;

  put_common (frames, "", 0);
  PUT (frames, TEXT + 0x100, 0x40, "\x41\x0e\x10\x86\x02\x43\x0d\x06");
  table = build (frames);
  block = table.block[0];

  /* Each is one value of 32 bits elsewhere in the file; 0 stands for none. */
  const struct
  {
    size_t at;
    uint32_t value;
    bool is_taken;
  } damage[] = {
    { 0, UNWIND_TABLE_MAGIC, true },
    { 0, UNWIND_TABLE_MAGIC + 1, false },
    { offsetof (UnwindTableHeader, n_pages), 0, false },
    { offsetof (UnwindTableHeader, n_pages), UNWIND_MOST_PAGES + 1, false },
    { offsetof (UnwindTableHeader, n_pages), UNWIND_MOST_PAGES, false },
    { offsetof (UnwindTableHeader, start), 0x10001, false },
    { offsetof (UnwindTableHeader, n_segments), 17, false },
    { header, (uint32_t) block + 2, false },
    { header, (uint32_t) table.size, false },
    { header, (uint32_t) table.size - 4, false },
    { header, UINT32_MAX - 3, false },
    { header, 4, false },
    { header + 4, (uint32_t) block, false }, /* two pages in one block */
    { block + UNWIND_N_RULES_OFFSET - 2, 257u << 16, false },
    { block, 0xffff, false },
    { block + 512, 0xffff, false },
    { block + 512, 0x3fffffff, false },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (damage); i++)
    {
      uint8_t *bytes = g_memdup2 (table.bytes, table.size);

      g_test_message ("damage %zu", i);
      memcpy (bytes + damage[i].at, &damage[i].value, 4);
      g_assert_cmpint (sysprof_unwind_table_adopt (&adopted, bytes, table.size), ==,
                       damage[i].is_taken);
      if (damage[i].is_taken)
        sysprof_unwind_table_clear (&adopted);
    }
  for (size_t size = 0; size < table.size; size += 1 + size / 9)
    g_assert_false (
        sysprof_unwind_table_adopt (&adopted, g_memdup2 (table.bytes, MAX (size, 1)), size));

  sysprof_unwind_table_clear (&table);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/unwind/cfi/plain", test_plain);
  g_test_add_func ("/unwind/cfi/overlap", test_overlap);
  g_test_add_func ("/unwind/cfi/references", test_references);
  g_test_add_func ("/unwind/cfi/instructions", test_instructions);
  g_test_add_func ("/unwind/cfi/remembers-32-states", test_remembers_32_states);
  g_test_add_func ("/unwind/cfi/many", test_many);
  g_test_add_func ("/unwind/table/full-page", test_full_page);
  g_test_add_func ("/unwind/table/adopt-refuses-damage", test_adopt_refuses_damage);
  return g_test_run ();
}
