// SPDX-License-Identifier: GPL-3.0-or-later

/* A kernel lies elsewhere in memory each time that it starts: by as much as its label `_text`, in the list of its symbols, is away
 * from that label in its file. Who was not told the list was not told that either, and finds nothing here.
 *
 * Modules are not looked for: a list says where their functions are, and not where their sections are, which lie in any order.
 *
 * Source: the kernel's Documentation/ABI and kbuild, and where distributions put the file: Debian's linux-image-*-dbg, Fedora's
 * kernel-debuginfo. */

#include "symbolize/vmlinux.h"

#include "symbolize/elf-sandbox.h"
#include "symbolize/fetched-files.h"
#include "symbolize/file-locator.h"
#include "symbolize/lines.h"
#include "symbolize/stop-event.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUILD_ID_KEY "org.gnome.sysprof.kernel-build-id"
#define RELEASE_KEY  "uname.release"
#define TIME_KEY     "capture-time" /* told once by each recording */
#define LINE_END     " _text\n"
#define DEBUG_DIR    "/usr/lib/debug"

typedef struct
{
  Symbolization *symbolization;
  const char *build_id; /* lower-case hex */
  const char *release;  /* "" = unknown */
  int root;             /* of the sysroot; -1 = ours */
  Opener opener;
  ElfSandbox sandbox;
  bool use_sandbox;
  StopEvent stop;       /* debug information of a kernel takes seconds */
  ElfFacts facts;       /* of what is open */
  UnnamedReason reason; /* why there is none */
} Search;

/* --- where it may be --- */

static void
add_for_release (GPtrArray *paths, const char *dir, const char *release)
{
  static const char *const forms[] = { "%s/boot/vmlinux-%s", "%s/boot/vmlinux-%s.debug",
                                       "%s/lib/modules/%s/vmlinux",
                                       "%s/lib/modules/%s/vmlinux.debug" };

  if (release[0] == 0)
    return;
  for (size_t i = 0; i < G_N_ELEMENTS (forms); i++)
    {
      g_auto (GStrv) parts = g_strsplit (forms[i], "%s", 3);

      g_ptr_array_add (paths, g_strconcat (dir, parts[1], release, parts[2], NULL));
    }
}

static void
add_debug_dir (GPtrArray *paths, const char *dir, const char *build_id, const char *release)
{
  g_ptr_array_add (paths,
                   g_strdup_printf ("%s/.build-id/%.2s/%s.debug", dir, build_id, build_id + 2));
  g_ptr_array_add (paths,
                   g_strdup_printf ("%s/.build-id/%.2s/%s", dir, build_id, build_id + 2));
  add_for_release (paths, dir, release);
}

/* Below the root. */
static GPtrArray *
list_places (const Search *self)
{
  const SymbolizeOptions *options = self->symbolization->options;
  GPtrArray *paths = g_ptr_array_new_with_free_func (g_free);

  for (size_t i = 0; options->inner_debug_dirs != NULL && options->inner_debug_dirs[i] != NULL;
       i++)
    add_debug_dir (paths, options->inner_debug_dirs[i], self->build_id, self->release);
  add_debug_dir (paths, DEBUG_DIR, self->build_id, self->release);
  if (self->release[0] != 0)
    {
      g_ptr_array_add (paths, g_strconcat ("/boot/vmlinux-", self->release, NULL));
      g_ptr_array_add (paths, g_strconcat ("/lib/modules/", self->release, "/vmlinux", NULL));
      g_ptr_array_add (paths,
                       g_strconcat ("/lib/modules/", self->release, "/build/vmlinux", NULL));
    }
  return paths;
}

/* On this machine. */
static GPtrArray *
list_given_places (const Search *self)
{
  const SymbolizeOptions *options = self->symbolization->options;
  GPtrArray *paths = g_ptr_array_new_with_free_func (g_free);

  for (size_t i = 0; options->debug_dirs != NULL && options->debug_dirs[i] != NULL; i++)
    {
      add_debug_dir (paths, options->debug_dirs[i], self->build_id, self->release);
      g_ptr_array_add (paths, g_build_filename (options->debug_dirs[i], "vmlinux", NULL));
    }
  return paths;
}

/* --- is it the kernel that was recorded? --- */

static bool
has_build_id (const ElfFacts *facts, const char *hex)
{
  size_t n = facts->build_id_size;

  if (n == 0 || strlen (hex) != 2 * n)
    return false;
  for (size_t i = 0; i < n; i++)
    {
      char byte[3];

      g_snprintf (byte, sizeof byte, "%02x", facts->build_id[i]);
      if (strncmp (byte, hex + 2 * i, 2) != 0)
        return false;
    }
  return true;
}

/* Whether there is all that is wanted. */
static bool
is_of_use (const Search *self)
{
  if (self->facts.kernel_text == 0)
    return false;
  return self->symbolization->lines != NULL ? self->facts.has_lines : self->facts.is_full;
}

static bool
open_file (Search *self, int root, const char *path)
{
  struct stat info = { 0 };
  autofd envelope = sysprof_open_regular_file (&self->opener, root, path, &info);

  if (envelope < 0)
    return false;
  if (self->sandbox.pid == 0) /* one that ended has forgotten them */
    {
      self->sandbox.keeps_rights = !self->use_sandbox;
      self->sandbox.stop_fd = self->opener.stop_fd;
      self->sandbox.has_stop_fd = self->opener.has_stop_fd;
    }
  if (sysprof_elf_sandbox_open (&self->sandbox, envelope, &info,
                                self->symbolization->lines != NULL, &self->facts) != ELF_OK)
    return false;
  if (has_build_id (&self->facts, self->build_id))
    return is_of_use (self);

  self->reason = UNNAMED_OTHER_KERNEL_FILE;
  return false;
}

static bool
open_first (Search *self, int root, const GPtrArray *paths)
{
  for (guint i = 0;
       i < paths->len && !sysprof_progress_is_cancelled (self->symbolization->progress); i++)
    if (open_file (self, root, paths->pdata[i]))
      return true;
  return false;
}

static bool
find_file (Search *self)
{
  const char *sysroot = self->symbolization->options->sysroot;
  g_autoptr (GPtrArray) given = list_given_places (self);
  g_autoptr (GPtrArray) paths = list_places (self);
  autofd fd = sysroot != NULL ? open (sysroot, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;

  return open_first (self, -1, given) ||
         ((fd >= 0 || sysroot == NULL) && open_first (self, fd, paths));
}

/* --- where the kernel lay --- */

uint64_t
sysprof_kallsyms_find_text (const char *text, size_t size)
{
  const char *end = text + size;
  const char *found = text != NULL ? memmem (text, size, LINE_END, strlen (LINE_END)) : NULL;
  const char *line = found;
  uint64_t address = 0;
  Text rest;

  if (found == NULL)
    return 0;
  while (line > text && line[-1] != '\n')
    line--;
  rest = (Text){ line, end };
  return sysprof_text_hex (&rest, &address) ? address : 0;
}

static uint64_t
find_kernel (const Symbolization *self)
{
  g_autoptr (GBytes) list = NULL;
  g_autofree char *own = NULL;
  gsize size = 0;
  const char *text;

  if (self->options->kernel_symbols != NULL)
    list = g_bytes_ref (self->options->kernel_symbols);
  else
    list = sysprof_store_read_file_cancellable (self->store, "/proc/kallsyms",
                                                self->progress->cancellable, NULL);
  if (list != NULL)
    {
      text = g_bytes_get_data (list, &size);
      return sysprof_kallsyms_find_text (text, size);
    }
  if (!self->is_this_boot || self->options->sysroot != NULL ||
      !g_file_get_contents ("/proc/kallsyms", &own, &size, NULL))
    return 0;
  return sysprof_kallsyms_find_text (own, size);
}

/* --- addresses --- */

static bool
is_asked_for (const Symbolization *self, AddressId address)
{
  return self->store->addresses.kind[address] == ADDRESS_KERNEL &&
         (self->lines != NULL ? sysprof_line_collection_wants (self, address)
                              : sysprof_symbolization_is_open (self, address));
}

static bool
has_asked_for (const Symbolization *self)
{
  for (AddressId address = 1; address < self->store->addresses.n; address++)
    if (is_asked_for (self, address))
      return true;
  return false;
}

static int
compare_items (const void *a, const void *b)
{
  const BatchItem *left = a, *right = b;

  if (left->offset != right->offset)
    return left->offset < right->offset ? -1 : 1;
  return left->address < right->address ? -1 : left->address > right->address;
}

/* Of BatchItem, whose offsets are link-time addresses. `shift` may be negative, as a number below 2^64. */
static GArray *
collect_items (const Symbolization *self, uint64_t shift)
{
  GArray *items = g_array_new (FALSE, FALSE, sizeof (BatchItem));

  for (AddressId address = 1; address < self->store->addresses.n; address++)
    if (is_asked_for (self, address))
      {
        BatchItem item = { sysprof_symbolization_lookup_address (self, address) - shift,
                           address, 0 };

        g_array_append_val (items, item);
      }
  qsort (items->data, items->len, sizeof (BatchItem), compare_items);
  return items;
}

static uint64_t *
list_offsets (const GArray *items, uint32_t *n)
{
  uint64_t *offsets = g_new (uint64_t, items->len + 1);

  *n = 0;
  for (guint i = 0; i < items->len; i++)
    {
      uint64_t offset = g_array_index (items, BatchItem, i).offset;

      if (*n == 0 || offsets[*n - 1] != offset)
        offsets[(*n)++] = offset;
    }
  return offsets;
}

/* --- answers --- */

static void
name_address (Symbolization *self,
              AddressId address,
              const ElfAnswers *answers,
              const ElfAnswer *answer)
{
  uint64_t at = sysprof_symbolization_lookup_address (self, address);
  const char *raw_name = answers->text + answer->name;

  (void) sysprof_symbolization_name (
      self, address,
      &(SymbolAnswer){
          .name = answer->demangled != 0 ? answers->text + answer->demangled : raw_name,
          .raw_name = raw_name,
          .binary = "[kernel]",
          .kind = SYMBOL_KERNEL,
          .start = at - (answer->link_address - answer->start),
          .end = at + (answer->end - answer->link_address),
      });
}

static void
use_answers (Symbolization *self, const FileBatch *batch, const ElfAnswers *answers)
{
  uint32_t at = 0;

  for (uint32_t i = 0; i < batch->n_items; i++)
    {
      while (batch->offsets[at] != batch->items[i].offset)
        at++;
      if (answers->row[at].name != 0)
        name_address (self, batch->items[i].address, answers, &answers->row[at]);
    }
}

static void
use_file (Search *self, uint64_t text)
{
  Symbolization *symbolization = self->symbolization;
  g_autoptr (GArray) items = collect_items (symbolization, text - self->facts.kernel_text);
  FileBatch batch = { .path = "[kernel]",
                      .build_id = self->build_id,
                      .items = (const BatchItem *) (const void *) items->data,
                      .n_items = items->len };
  g_autofree uint64_t *offsets = list_offsets (items, &batch.n_offsets);
  ElfAnswers answers = { 0 };
  ElfLines lines = { 0 };

  batch.offsets = offsets;
  if (symbolization->lines != NULL)
    {
      if (sysprof_elf_sandbox_resolve_lines (&self->sandbox, true, offsets, batch.n_offsets,
                                             &lines) == ELF_OK)
        sysprof_line_collection_add (symbolization, &batch, &lines);
    }
  else if (sysprof_elf_sandbox_resolve (&self->sandbox, true, offsets, batch.n_offsets,
                                        &answers) == ELF_OK)
    use_answers (symbolization, &batch, &answers);
  sysprof_elf_answers_clear (&answers);
  sysprof_elf_lines_clear (&lines);
}

static void
explain (Symbolization *self, UnnamedReason reason)
{
  for (AddressId address = 1; address < self->store->addresses.n; address++)
    if (is_asked_for (self, address))
      sysprof_symbolization_explain (self, address, &(UnnamedAnswer){ .reason = reason });
}

/* --- --- */

/* Of captures that were joined each may be of another start of the machine, and where the kernel lay is kept of one. */
static bool
is_of_one_recording (const Store *store, const char *key)
{
  StringId id = sysprof_intern_lookup (&store->strings, key);
  uint32_t n = 0;

  for (uint32_t i = 0; id != 0 && i < store->n_metadata; i++)
    n += store->metadata[i].id == id;
  return n <= 1;
}

/* The capture says what it likes: the texts become parts of paths. FALSE: it does not say which kernel it was. */
static bool
start (Search *search, Symbolization *self, bool use_sandbox)
{
  const char *build_id = sysprof_symbolization_find_metadata (self, BUILD_ID_KEY);
  const char *release = sysprof_symbolization_find_metadata (self, RELEASE_KEY);

  if (build_id == NULL || strlen (build_id) < 4 || strlen (build_id) >= BUILD_ID_TEXT_SIZE ||
      strspn (build_id, "0123456789abcdef") != strlen (build_id) ||
      !is_of_one_recording (self->store, BUILD_ID_KEY) ||
      !is_of_one_recording (self->store, TIME_KEY))
    return false;

  *search = (Search){
    .symbolization = self,
    .build_id = build_id,
    .release = release != NULL && strchr (release, '/') == NULL ? release : "",
    .opener = OPENER_INIT,
    .sandbox = ELF_SANDBOX_INIT,
    .use_sandbox = use_sandbox,
    .reason = UNNAMED_NO_KERNEL_SYMBOLS,
  };
  sysprof_stop_event_init (&search->stop, self->progress->cancellable);
  search->opener.stop_fd = search->stop.fd;
  search->opener.has_stop_fd = search->stop.fd >= 0;
  return true;
}

static void
finish (Search *self)
{
  sysprof_opener_clear (&self->opener);
  sysprof_elf_sandbox_clear (&self->sandbox);
  sysprof_stop_event_clear (&self->stop);
}

void
sysprof_vmlinux_resolve (Symbolization *self)
{
  Search search;
  uint64_t text;
  bool is_found;

  if (!has_asked_for (self) || !start (&search, self, self->options->use_sandbox))
    return;

  is_found = find_file (&search);
  text = find_kernel (self);
  if (is_found && text != 0)
    use_file (&search, text);
  else if (self->lines == NULL)
    explain (self, is_found ? UNNAMED_KERNEL_MOVED : search.reason);
  if (!is_found && text != 0)
    self->wanted_kernel = search.build_id;
  finish (&search);
}

bool
sysprof_vmlinux_resolve_fetched (Symbolization *self, const char *path)
{
  uint64_t text = find_kernel (self);
  Search search;
  bool is_fit;

  if (text == 0 || !start (&search, self, true))
    return false;

  is_fit = open_file (&search, -1, path);
  if (is_fit)
    use_file (&search, text);
  finish (&search);
  return is_fit;
}
