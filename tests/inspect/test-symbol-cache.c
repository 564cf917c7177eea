// SPDX-License-Identifier: GPL-3.0-or-later

/* The symbol cache on disk must return what the file itself would return, or nothing. A program
 * of the test is symbolized, and the cached answers are compared with those of the child that
 * parses. */

#include "inspect/elf-cache.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utime.h>

#ifndef TEST_PROGRAM
#  error "TEST_PROGRAM: an ELF file with symbols"
#endif

#define MOST_OFFSETS 4000

typedef struct
{
  char *directory; /* of the test; the cache is in it, once something is stored */
  char *cache;
  char *program;
  uint64_t offset[MOST_OFFSETS];
  size_t n;
} Fixture;

static void
copy_program (const char *to)
{
  g_autofree char *bytes = NULL;
  size_t size;

  g_assert_true (g_file_get_contents (TEST_PROGRAM, &bytes, &size, NULL));
  g_assert_true (g_file_set_contents (to, bytes, (gssize) size, NULL));
}

/* A file that was just written may change again without a visible trace: it is not cached. */
static void
let_settle (const char *path)
{
  const int64_t deadline = g_get_monotonic_time () + 30 * G_USEC_PER_SEC;
  FileIdentity identity;
  struct stat info;

  g_assert_cmpint (stat (path, &info), ==, 0);
  while (!sysprof_file_identity_init (&identity, &info))
    {
      g_assert_cmpint (g_get_monotonic_time (), <, deadline);
      g_usleep (10000);
    }
}

static void
set_up (Fixture *self, const void *data)
{
  struct stat info;

  self->directory = g_dir_make_tmp ("sysprof-symbol-cache-XXXXXX", NULL);
  g_assert_nonnull (self->directory);
  self->cache = g_build_filename (self->directory, "cache", "symbols", NULL);
  self->program = g_build_filename (self->directory, "program", NULL);
  g_assert_true (g_setenv (SYMBOL_CACHE_VARIABLE, self->cache, TRUE));
  copy_program (self->program);
  g_assert_cmpint (stat (self->program, &info), ==, 0);
  for (uint64_t at = 0; self->n < MOST_OFFSETS && at < (uint64_t) info.st_size; at += 7)
    self->offset[self->n++] = at;
  let_settle (self->program);
}

static void
remove_tree (const char *path)
{
  g_autoptr (GDir) directory = NULL;
  const char *name;

  if (!g_file_test (path, G_FILE_TEST_IS_SYMLINK))
    directory = g_dir_open (path, 0, NULL);
  while (directory != NULL && (name = g_dir_read_name (directory)) != NULL)
    {
      g_autofree char *below = g_build_filename (path, name, NULL);

      remove_tree (below);
    }
  g_assert_cmpint (g_remove (path), ==, 0);
}

static void
tear_down (Fixture *self, const void *data)
{
  remove_tree (self->directory);
  g_free (self->directory);
  g_free (self->cache);
  g_free (self->program);
}

/* --- asking --- */

typedef struct
{
  ElfCache elf;
  ElfFacts facts;
} Asked;

static void
reopen_program (Asked *self, const char *path, bool is_for_lines)
{
  autofd fd = open (path, O_RDONLY | O_CLOEXEC);
  autofd envelope = sysprof_envelope_seal (fd);
  struct stat info;

  g_assert_cmpint (fstat (fd, &info), ==, 0);
  g_assert_cmpint (
      sysprof_elf_cache_open (&self->elf, envelope, &info, is_for_lines, &self->facts), ==,
      ELF_OK);
}

static void
open_program (Asked *self, const char *path, bool has_cache, bool is_for_lines)
{
  self->elf = (ElfCache) REMEMBERED_ELF_INIT;
  self->elf.cache = has_cache ? sysprof_symbol_cache_new () : NULL;
  reopen_program (self, path, is_for_lines);
}

/* Every answer in words. */
static char *
describe_names (const ElfAnswers *names)
{
  GString *text = g_string_new (NULL);

  for (size_t i = 0; i < names->n; i++)
    {
      const ElfAnswer *row = &names->symbol[i];

      g_string_append_printf (text,
                              "%" G_GINT64_MODIFIER "x %" G_GINT64_MODIFIER
                              "x %" G_GINT64_MODIFIER "x %s %s %d\n",
                              row->link_address, row->start, row->end, names->text + row->name,
                              names->text + row->demangled, row->is_entry);
    }
  return g_string_free (text, FALSE);
}

static char *
describe_lines (const ElfAnswers *lines)
{
  GString *text = g_string_new (NULL);

  for (size_t i = 0; i < lines->n; i++)
    {
      g_string_append_printf (text, "%" G_GSIZE_FORMAT ":", i);
      for (uint32_t j = 0; j < lines->line[i].n; j++)
        {
          const ElfLineFrame *frame = &lines->frame[lines->line[i].first + j];

          g_string_append_printf (text, " %s %s %s:%u (%s:%u) %d", lines->text + frame->name,
                                  lines->text + frame->demangled, lines->text + frame->file,
                                  frame->line, lines->text + frame->decl_file, frame->decl_line,
                                  frame->is_inlined);
        }
      g_string_append_c (text, '\n');
    }
  return g_string_free (text, FALSE);
}

/* `was_asked`: whether the file itself had to be. */
static char *
ask (const char *path,
     bool has_cache,
     bool is_for_lines,
     const uint64_t *offsets,
     size_t n,
     bool *was_asked)
{
  Asked asked;
  ElfAnswers names = { 0 };
  ElfAnswers lines = { 0 };
  char *text;

  open_program (&asked, path, has_cache, is_for_lines);
  if (is_for_lines)
    g_assert_cmpint (
        sysprof_elf_cache_resolve (
            &asked.elf, &(ElfQuery){ .kind = ELF_LINES, .offsets = offsets, .n = n }, &lines),
        ==, ELF_OK);
  else
    g_assert_cmpint (sysprof_elf_cache_resolve (
                         &asked.elf, &(ElfQuery){ .offsets = offsets, .n = n }, &names),
                     ==, ELF_OK);
  text = is_for_lines ? describe_lines (&lines) : describe_names (&names);
  if (was_asked != NULL)
    *was_asked = asked.elf.sandbox.pid != 0;
  sysprof_elf_answers_clear (&names);
  sysprof_elf_answers_clear (&lines);
  sysprof_elf_cache_clear (&asked.elf);
  return text;
}

static void
assert_answers (Fixture *self, bool is_for_lines, size_t n, bool must_ask)
{
  g_autofree char *expected = ask (self->program, false, is_for_lines, self->offset, n, NULL);
  bool was_asked;
  g_autofree char *text = ask (self->program, true, is_for_lines, self->offset, n, &was_asked);

  g_assert_cmpstr (text, ==, expected);
  g_assert_cmpint (was_asked, ==, must_ask);
}

/* The only entry of that kind. */
static char *
find_entry (Fixture *self, const char *suffix)
{
  g_autoptr (GDir) directory = g_dir_open (self->cache, 0, NULL);
  char *found = NULL;
  const char *name;

  while (directory != NULL && (name = g_dir_read_name (directory)) != NULL)
    if (g_str_has_suffix (name, suffix))
      {
        g_assert_null (found);
        found = g_build_filename (self->cache, name, NULL);
      }
  g_assert_nonnull (found);
  return found;
}

/* How the program was compiled decides whether it has lines. */
static bool
can_be_asked (Fixture *self, bool is_for_lines)
{
  Asked asked;

  open_program (&asked, self->program, false, is_for_lines);
  sysprof_elf_cache_clear (&asked.elf);
  if (is_for_lines && !asked.facts.has_lines)
    g_test_skip ("the program has no debug information");
  return !is_for_lines || asked.facts.has_lines;
}

static void
test_answers_are_the_files (Fixture *self, const void *data)
{
  bool is_for_lines = GPOINTER_TO_INT (data);

  if (!can_be_asked (self, is_for_lines))
    return;
  assert_answers (self, is_for_lines, self->n, true);
  assert_answers (self, is_for_lines, self->n, false);
  assert_answers (self, is_for_lines, self->n / 3, false);
}

/* Names by address; FALSE: from the cache. */
static bool
ask_addresses (Fixture *self, const uint64_t *addresses, size_t n, const char *expected)
{
  Asked asked = { .elf = REMEMBERED_ELF_INIT };
  ElfAnswers names = { 0 };
  g_autofree char *text = NULL;
  bool was_asked;

  asked.elf.cache = sysprof_symbol_cache_new ();
  asked.elf.is_by_address = true;
  reopen_program (&asked, self->program, false);
  g_assert_cmpint (sysprof_elf_cache_resolve (
                       &asked.elf,
                       &(ElfQuery){ .are_addresses = true, .offsets = addresses, .n = n },
                       &names),
                   ==, ELF_OK);
  text = describe_names (&names);
  g_assert_cmpstr (text, ==, expected);
  was_asked = asked.elf.sandbox.pid != 0;
  sysprof_elf_answers_clear (&names);
  sysprof_elf_cache_clear (&asked.elf);
  return was_asked;
}

/* The numbers of some offsets are addresses of something else. */
static void
test_addresses_are_kept_apart (Fixture *self, const void *data)
{
  Asked asked;
  ElfAnswers names = { 0 };
  g_autofree uint64_t *addresses = g_new0 (uint64_t, self->n);
  g_autofree char *expected = NULL;
  size_t n = 0;

  open_program (&asked, self->program, false, false);
  g_assert_cmpint (
      sysprof_elf_cache_resolve (&asked.elf,
                                 &(ElfQuery){ .offsets = self->offset, .n = self->n }, &names),
      ==, ELF_OK);
  /* Some are in no segment. */
  for (size_t i = 0; i < self->n; i++)
    if (names.symbol[i].link_address > (n > 0 ? addresses[n - 1] : 0))
      {
        addresses[n] = names.symbol[i].link_address;
        names.symbol[n++] = names.symbol[i];
      }
  names.n = n;
  expected = describe_names (&names);
  g_assert_cmpuint (n, >, 10);
  sysprof_elf_answers_clear (&names);
  sysprof_elf_cache_clear (&asked.elf);

  assert_answers (self, false, self->n, true);
  g_assert_true (ask_addresses (self, addresses, n, expected));
  g_assert_false (ask_addresses (self, addresses, n, expected));
  assert_answers (self, false, self->n, false);
}

/* Every other one, then all. */
static void
test_entry_grows (Fixture *self, const void *data)
{
  bool is_for_lines = GPOINTER_TO_INT (data), was_asked;
  g_autofree uint64_t *half = g_new (uint64_t, self->n);
  g_autofree char *text = NULL;
  size_t n = 0;

  if (!can_be_asked (self, is_for_lines))
    return;
  for (size_t i = 0; i < self->n; i += 2)
    half[n++] = self->offset[i];
  text = ask (self->program, true, is_for_lines, half, n, &was_asked);
  g_assert_true (was_asked);
  assert_answers (self, is_for_lines, self->n, true);
  assert_answers (self, is_for_lines, self->n, false);
}

/* --- what must not be believed --- */

static void
write_entry (const char *path, const char *bytes, size_t size)
{
  g_assert_true (g_file_set_contents (path, bytes, (gssize) size, NULL));
}

static void
test_damage (Fixture *self, const void *data)
{
  g_autofree char *path = NULL, *bytes = NULL;
  size_t size;

  assert_answers (self, false, 100, true);
  path = find_entry (self, ".names");
  g_assert_true (g_file_get_contents (path, &bytes, &size, NULL));
  for (size_t i = 0; i < size; i += i < 400 ? 1 : 97)
    {
      g_autofree char *changed = g_memdup2 (bytes, size);

      changed[i] ^= 1;
      g_assert_null (sysprof_cache_entry_parse ((const uint8_t *) changed, size, false));
      g_assert_null (sysprof_cache_entry_parse ((const uint8_t *) bytes, i, false));
    }
  g_assert_null (sysprof_cache_entry_parse ((const uint8_t *) bytes, size, true));

  for (unsigned i = 0; i < 3; i++)
    {
      g_autofree char *changed = g_memdup2 (bytes, size);

      changed[size / 2] ^= 0x40;
      write_entry (path, changed, i == 0 ? size : i == 1 ? size / 2 : 0);
      assert_answers (self, false, 100, true);
      assert_answers (self, false, 100, false); /* it was written again */
    }
}

static void
test_other_files_in_its_place (Fixture *self, const void *data)
{
  g_autofree char *elsewhere = g_build_filename (self->directory, "elsewhere", NULL);
  g_autofree char *path = NULL, *bytes = NULL, *after = NULL;
  struct stat info;
  size_t size;

  assert_answers (self, false, 100, true);
  path = find_entry (self, ".names");
  g_assert_true (g_file_get_contents (path, &bytes, &size, NULL));

  /* A good entry, behind a link: replaced itself, and not what it leads to. */
  write_entry (elsewhere, bytes, size);
  g_assert_cmpint (g_unlink (path), ==, 0);
  g_assert_cmpint (symlink (elsewhere, path), ==, 0);
  assert_answers (self, false, 200, true);
  g_assert_cmpint (lstat (path, &info), ==, 0);
  g_assert_true (S_ISREG (info.st_mode));
  g_assert_cmpint (info.st_mode & 07777, ==, 0600);
  g_assert_true (g_file_get_contents (elsewhere, &after, NULL, NULL));
  g_assert_cmpmem (after, size, bytes, size);

  /* A pipe without a writer. */
  g_assert_cmpint (g_unlink (path), ==, 0);
  g_assert_cmpint (mkfifo (path, 0600), ==, 0);
  assert_answers (self, false, 100, true);
  assert_answers (self, false, 100, false);

  /* Others may write into it. */
  g_assert_cmpint (chmod (path, 0666), ==, 0);
  assert_answers (self, false, 100, true);
  assert_answers (self, false, 100, false);

  /* It belongs to another user. */
  if (geteuid () == 0)
    {
      g_assert_cmpint (chown (path, 65534, 65534), ==, 0);
      assert_answers (self, false, 100, true);
      assert_answers (self, false, 100, false);
    }
}

static void
test_others_directories (Fixture *self, const void *data)
{
  g_autofree char *parent = g_path_get_dirname (self->cache);

  assert_answers (self, false, 100, true);
  g_assert_cmpint (chmod (self->cache, 0777), ==, 0);
  assert_answers (self, false, 100, true);
  g_assert_cmpint (chmod (self->cache, 0700), ==, 0);
  assert_answers (self, false, 100, false);
  if (geteuid () == 0)
    {
      g_assert_cmpint (chown (self->cache, 65534, 65534), ==, 0);
      assert_answers (self, false, 100, true);
      remove_tree (self->cache);

      /* A folder is not made inside a folder that belongs to another user. */
      g_assert_cmpint (chown (self->directory, 65534, 65534), ==, 0);
      g_assert_cmpint (g_rmdir (parent), ==, 0);
      assert_answers (self, false, 100, true);
      g_assert_false (g_file_test (self->cache, G_FILE_TEST_EXISTS));
    }
}

/* A process with root's rights and another user's HOME, in which a link leads to a file of
 * root. */
static void
test_others_links (Fixture *self, const void *data)
{
  g_autofree char *home = g_build_filename (self->directory, "home", NULL);
  g_autofree char *link = g_build_filename (home, ".cache", NULL);
  g_autofree char *place = g_build_filename (self->directory, "place", NULL);
  g_autofree char *cache = g_build_filename (link, "symbols", NULL);

  if (geteuid () != 0)
    {
      g_test_skip ("needs root");
      return;
    }
  g_assert_cmpint (g_mkdir (home, 0700), ==, 0);
  g_assert_cmpint (g_mkdir (place, 0755), ==, 0);
  g_assert_cmpint (symlink (place, link), ==, 0);
  g_assert_true (g_setenv (SYMBOL_CACHE_VARIABLE, cache, TRUE));
  assert_answers (self, false, 100, true);
  assert_answers (self, false, 100, false); /* its own link */

  remove_tree (cache);
  g_assert_cmpint (chown (home, 65534, 65534), ==, 0);
  g_assert_cmpint (lchown (link, 65534, 65534), ==, 0);
  assert_answers (self, false, 100, true);
  g_assert_false (g_file_test (cache, G_FILE_TEST_EXISTS));
}

static void
test_cannot_be_written (Fixture *self, const void *data)
{
  g_autofree char *below_file = g_build_filename (self->program, "symbols", NULL);

  g_assert_true (g_setenv (SYMBOL_CACHE_VARIABLE, below_file, TRUE));
  assert_answers (self, false, 100, true);
  assert_answers (self, false, 100, true);
  g_assert_true (g_setenv (SYMBOL_CACHE_VARIABLE, "", TRUE));
  g_assert_null (sysprof_symbol_cache_new ());
}

/* A child that has read another user's file is not used again. */
static void
test_child_for_each_owner (Fixture *self, const void *data)
{
  g_autofree char *other = g_build_filename (self->directory, "other", NULL);
  Asked asked;
  pid_t first;

  if (geteuid () != 0)
    {
      g_test_skip ("needs root");
      return;
    }

  copy_program (other);
  open_program (&asked, self->program, true, false);
  first = asked.elf.sandbox.pid;
  g_assert_cmpint (first, !=, 0);
  reopen_program (&asked, other, false);
  g_assert_cmpint (asked.elf.sandbox.pid, ==, first);
  g_assert_cmpint (chown (other, 65534, 65534), ==, 0);
  reopen_program (&asked, other, false);
  g_assert_cmpint (asked.elf.sandbox.pid, !=, first);
  sysprof_elf_cache_clear (&asked.elf);
}

/* --- files that change --- */

static void
test_replaced_file (Fixture *self, const void *data)
{
  g_autofree char *other = g_build_filename (self->directory, "other", NULL);
  autofd fd = -1;

  assert_answers (self, false, 100, true);
  copy_program (other);
  g_assert_cmpint (g_rename (other, self->program), ==, 0);
  let_settle (self->program);
  assert_answers (self, false, 100, true);
  assert_answers (self, false, 100, false);

  /* As large as before, and the same file; its time is set back, too. */
  {
    struct stat before;
    struct timespec times[2];

    g_assert_cmpint (stat (self->program, &before), ==, 0);
    fd = open (self->program, O_WRONLY | O_CLOEXEC);
    g_assert_cmpint (fd, >=, 0);
    g_assert_cmpint (pwrite (fd, "\0", 1, before.st_size - 1), ==, 1);
    times[0] = before.st_atim;
    times[1] = before.st_mtim;
    g_assert_cmpint (futimens (fd, times), ==, 0);
  }
  let_settle (self->program);
  assert_answers (self, false, 100, true);
}

static void
test_new_files_are_not_kept (Fixture *self, const void *data)
{
  struct stat info;
  FileIdentity identity;

  g_assert_cmpint (stat (self->program, &info), ==, 0);
  g_assert_true (sysprof_file_identity_init (&identity, &info));
  g_assert_cmpint (clock_gettime (CLOCK_REALTIME, &info.st_mtim), ==, 0);
  g_assert_false (sysprof_file_identity_init (&identity, &info));
}

/* --- the directory --- */

static CacheEntry *
make_entry (uint64_t inode, size_t n)
{
  const ElfFacts no_facts = { 0 };
  const FileIdentity file = { .device = 5, .inode = inode, .size = n };
  CacheEntry *entry = sysprof_cache_entry_new (false, &file, &no_facts);
  g_autofree uint64_t *offsets = g_new (uint64_t, n);
  ElfAnswers names = {
    .n = n, .symbol = g_new0 (ElfAnswer, n), .text = g_strdup (""), .text_size = 1
  };

  for (size_t i = 0; i < n; i++)
    {
      offsets[i] = i;
      names.symbol[i].link_address = inode;
    }
  g_assert_true (sysprof_cache_entry_add (entry, offsets, &names));
  sysprof_elf_answers_clear (&names);
  return entry;
}

static bool
is_kept (SymbolCache *cache, uint64_t inode, size_t n)
{
  const FileIdentity file = { .device = 5, .inode = inode, .size = n };
  g_autoptr (CacheEntry) entry = sysprof_symbol_cache_load (cache, &file, false, false);

  return entry != NULL;
}

/* As a library's next build may have it in the next image of a file system that is only read. */
static void
test_times_of_images_tell_nothing (Fixture *self, const void *data)
{
  struct stat info;
  FileIdentity identity;

  g_assert_cmpint (stat (self->program, &info), ==, 0);
  info.st_dev = makedev (7, 0);
  info.st_mtim = info.st_ctim = (struct timespec){ .tv_sec = 1 };
  g_assert_false (sysprof_file_identity_init (&identity, &info));
  info.st_ctim.tv_nsec = 1;
  g_assert_true (sysprof_file_identity_init (&identity, &info));
}

static void
test_oldest_go (Fixture *self, const void *data)
{
  SymbolCache *cache = sysprof_symbol_cache_new ();
  g_autofree char *left_behind = g_build_filename (self->cache, "new-1-2", NULL);
  g_autofree char *being_written = g_build_filename (self->cache, "new-3-4", NULL);
  g_autofree char *others = g_build_filename (self->cache, "README", NULL);
  const struct utimbuf long_ago = { 1000, 1000 };
  uint64_t size = 0;

  for (uint64_t inode = 1; inode <= 4; inode++)
    {
      g_autoptr (CacheEntry) entry = make_entry (inode, 1000);
      g_autofree char *path = g_strdup_printf ("%s/5-%u.names", self->cache, (unsigned) inode);
      const struct utimbuf times = { (time_t) (1000 * inode), (time_t) (1000 * inode) };
      struct stat info;

      sysprof_symbol_cache_store (cache, entry);
      g_assert_cmpint (stat (path, &info), ==, 0);
      size = (uint64_t) info.st_size;
      g_assert_cmpint (utime (path, &times), ==, 0);
    }
  write_entry (left_behind, "x", 1);
  g_assert_cmpint (utime (left_behind, &long_ago), ==, 0);
  write_entry (being_written, "x", 1);
  write_entry (others, "x", 1);
  g_assert_cmpint (utime (others, &long_ago), ==, 0);

  g_assert_true (is_kept (cache, 1, 1000)); /* used now */
  sysprof_symbol_cache_trim (cache, 4 * size);
  g_assert_true (is_kept (cache, 2, 1000)); /* likewise */
  sysprof_symbol_cache_trim (cache, 3 * size);
  g_assert_false (is_kept (cache, 3, 1000));
  sysprof_symbol_cache_trim (cache, 3 * size - 1);
  g_assert_false (is_kept (cache, 4, 1000));
  g_assert_true (is_kept (cache, 1, 1000));
  g_assert_true (is_kept (cache, 2, 1000));
  g_assert_false (g_file_test (left_behind, G_FILE_TEST_EXISTS));
  g_assert_true (g_file_test (being_written, G_FILE_TEST_EXISTS));
  g_assert_true (g_file_test (others, G_FILE_TEST_EXISTS));
  sysprof_symbol_cache_free (cache);
}

/* Two that write while a third one reads: each entry is whole. */
static void
test_all_at_once (Fixture *self, const void *data)
{
  SymbolCache *cache = sysprof_symbol_cache_new ();
  g_autoptr (CacheEntry) first = make_entry (9, 20000);
  pid_t writer[2];
  unsigned n_running = 2;

  sysprof_symbol_cache_store (cache, first);
  for (unsigned i = 0; i < 2; i++)
    {
      writer[i] = fork ();
      if (writer[i] == 0)
        {
          g_autoptr (SymbolCache) own = sysprof_symbol_cache_new ();
          g_autoptr (CacheEntry) entry = make_entry (9, 20000);

          for (unsigned j = 0; j < 50; j++)
            sysprof_symbol_cache_store (own, entry);
          _exit (0);
        }
    }
  while (n_running > 0)
    {
      int status;

      g_assert_true (is_kept (cache, 9, 20000));
      if (waitpid (-1, &status, WNOHANG) > 0)
        {
          g_assert_cmpint (status, ==, 0);
          n_running--;
        }
    }
  sysprof_symbol_cache_free (cache);
}

static void
add (const char *path, int data, void (*test) (Fixture *, const void *))
{
  g_test_add (path, Fixture, GINT_TO_POINTER (data), set_up, test, tear_down);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  add ("/symbol-cache/names-are-the-files", false, test_answers_are_the_files);
  add ("/symbol-cache/lines-are-the-files", true, test_answers_are_the_files);
  add ("/symbol-cache/names-grow", false, test_entry_grows);
  add ("/symbol-cache/lines-grow", true, test_entry_grows);
  add ("/symbol-cache/addresses-are-kept-apart", 0, test_addresses_are_kept_apart);
  add ("/symbol-cache/damage", 0, test_damage);
  add ("/symbol-cache/other-files-in-its-place", 0, test_other_files_in_its_place);
  add ("/symbol-cache/others-directories", 0, test_others_directories);
  add ("/symbol-cache/others-links", 0, test_others_links);
  add ("/symbol-cache/cannot-be-written", 0, test_cannot_be_written);
  add ("/symbol-cache/child-for-each-owner", 0, test_child_for_each_owner);
  add ("/symbol-cache/replaced-file", 0, test_replaced_file);
  add ("/symbol-cache/new-files-are-not-kept", 0, test_new_files_are_not_kept);
  add ("/symbol-cache/times-of-images-tell-nothing", 0, test_times_of_images_tell_nothing);
  add ("/symbol-cache/oldest-go", 0, test_oldest_go);
  add ("/symbol-cache/all-at-once", 0, test_all_at_once);
  return g_test_run ();
}
