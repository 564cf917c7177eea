// SPDX-License-Identifier: GPL-3.0-or-later

/* A debug file that crashes the child costs only its own data, and a message names it. The file
 * itself is read again. The program here is its own debug file, and the child is killed at the
 * point where a hostile file would crash it. */

#include "inspect/elf-parser.h"

#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <unistd.h>

#ifndef TEST_PROGRAM
#  error "TEST_PROGRAM: an ELF file with symbols"
#endif

#define MOST_OFFSETS 4096

typedef struct
{
  ElfParser parser;
  ElfFacts facts;
  int envelope;
  struct stat info;
  uint64_t offset[MOST_OFFSETS];
  size_t n_named; /* of these offsets */
} Fixture;

static size_t
count_named (const ElfAnswers *answers)
{
  size_t n = 0;

  for (size_t i = 0; i < answers->n; i++)
    n += answers->symbol[i].name != 0;
  return n;
}

static ElfStatus
ask (Fixture *self, ElfAnswers *answers)
{
  return sysprof_elf_cache_resolve (
      &self->parser.elf, &(ElfQuery){ .offsets = self->offset, .n = MOST_OFFSETS }, answers);
}

static void
assert_names (Fixture *self)
{
  ElfAnswers answers = { 0 };

  g_assert_cmpint (ask (self, &answers), ==, ELF_OK);
  g_assert_cmpuint (count_named (&answers), ==, self->n_named);
  sysprof_elf_answers_clear (&answers);
}

static void
open_program (Fixture *self)
{
  g_assert_cmpint (sysprof_elf_parser_open (&self->parser, self->envelope, &self->info, -1,
                                            TEST_PROGRAM, &self->facts),
                   ==, ELF_OK);
}

static void
set_up (Fixture *self, const void *data)
{
  autofd fd = open (TEST_PROGRAM, O_RDONLY | O_CLOEXEC);
  ElfAnswers answers = { 0 };

  self->parser = (ElfParser){ .use_sandbox = true, .elf = REMEMBERED_ELF_INIT };
  self->envelope = sysprof_envelope_seal (fd);
  g_assert_cmpint (fstat (fd, &self->info), ==, 0);
  for (size_t i = 0; i < MOST_OFFSETS; i++)
    self->offset[i] = i * 8;
  open_program (self);
  g_assert_cmpint (ask (self, &answers), ==, ELF_OK);
  self->n_named = count_named (&answers);
  g_assert_cmpuint (self->n_named, >, 0);
  sysprof_elf_answers_clear (&answers);
}

static void
tear_down (Fixture *self, const void *data)
{
  sysprof_elf_parser_close (&self->parser);
  (void) close (self->envelope);
}

/* `size` tells debug files apart that are the same one. */
static ElfStatus
add_debug (Fixture *self, off_t size)
{
  struct stat info = self->info;

  info.st_size = size;
  return sysprof_elf_parser_add_part (&self->parser, &(ElfPart){ ELF_PART_DEBUG },
                                      self->envelope, &info, -1, "/debug");
}

static void
kill_child (Fixture *self)
{
  g_assert_cmpint (self->parser.elf.sandbox.pid, >, 0);
  g_assert_cmpint (kill (self->parser.elf.sandbox.pid, SIGKILL), ==, 0);
}

static void
assert_blamed (Fixture *self, guint n)
{
  g_assert_cmpuint (sysprof_elf_parser_n_blamed (&self->parser), ==, n);
  for (guint i = 0; i < n; i++)
    g_assert_cmpstr (self->parser.blamed->pdata[i], ==, "/debug");
}

/* While it is added. */
static void
test_adding (Fixture *self, const void *data)
{
  kill_child (self);
  g_assert_cmpint (add_debug (self, 1000), ==, ELF_GIVEN_UP);
  g_assert_false (self->parser.has_debug);
  assert_blamed (self, 1);
  assert_names (self);

  /* It is not tried again, in no way; another one is. */
  g_assert_cmpint (add_debug (self, 1000), ==, ELF_GIVEN_UP);
  assert_blamed (self, 2);
  g_assert_cmpint (add_debug (self, 1001), ==, ELF_OK);
  assert_names (self);
  assert_blamed (self, 2);
}

/* While names are looked for. */
static void
test_asking (Fixture *self, const void *data)
{
  ElfAnswers answers = { 0 };
  ElfStatus status;

  g_assert_cmpint (add_debug (self, 1000), ==, ELF_OK);
  kill_child (self);
  status = ask (self, &answers);
  g_assert_cmpint (status, ==, ELF_GIVEN_UP);
  g_assert_true (sysprof_elf_parser_do_without (&self->parser, status));
  g_assert_false (self->parser.has_debug);
  assert_blamed (self, 1);
  assert_names (self);
  g_assert_cmpint (add_debug (self, 1000), ==, ELF_GIVEN_UP);

  /* There is no part left that could be omitted. */
  kill_child (self);
  status = ask (self, &answers);
  g_assert_cmpint (status, ==, ELF_GIVEN_UP);
  g_assert_false (sysprof_elf_parser_do_without (&self->parser, status));
  sysprof_elf_parser_forgive (&self->parser, 0);
  assert_blamed (self, 0);

  /* Nor is the file lost for good. */
  open_program (self);
  assert_names (self);
}

/* An error that the living child reports about a debug file is no crash. */
static void
test_unfit (Fixture *self, const void *data)
{
  autofd fd = open ("/dev/null", O_RDONLY | O_CLOEXEC);
  autofd envelope = sysprof_envelope_seal (fd);
  struct stat info;

  g_assert_cmpint (fstat (fd, &info), ==, 0);
  g_assert_cmpint (sysprof_elf_parser_add_part (&self->parser, &(ElfPart){ ELF_PART_DEBUG },
                                                envelope, &info, -1, "/dev/null"),
                   ==, ELF_NOT_ELF);
  assert_blamed (self, 0);
  assert_names (self);
}

/* Each costs time: a file that has many has some. */
static void
test_many (Fixture *self, const void *data)
{
  for (off_t size = 1000; size < 1003; size++)
    {
      kill_child (self);
      g_assert_cmpint (add_debug (self, size), ==, ELF_GIVEN_UP);
    }
  g_assert_cmpint (add_debug (self, 1003), ==, ELF_GIVEN_UP);
  assert_blamed (self, 3);
  assert_names (self);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, func) \
  g_test_add ("/failed-parts/" name, Fixture, NULL, set_up, func, tear_down)
  ADD ("adding", test_adding);
  ADD ("asking", test_asking);
  ADD ("unfit", test_unfit);
  ADD ("many", test_many);
  return g_test_run ();
}
