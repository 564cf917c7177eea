// SPDX-License-Identifier: GPL-3.0-or-later

/* Resolves kernel addresses with vmlinux and the files of modules. The kernel gets a different
 * load address at each boot. The difference is that between the address of `_text` in the
 * symbol list and in the file (kernel-parts.h).
 *
 * Source: the kernel's Documentation/ABI and kbuild, and where distributions put the file:
 * Debian's linux-image-*-dbg, Fedora's kernel-debuginfo. */

#include "symbolize/vmlinux.h"

#include "symbolize/fetched-files.h"
#include "symbolize/kernel-parts.h"
#include "symbolize/request.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RELEASE_KEY "uname.release"
#define DEBUG_DIR   "/usr/lib/debug"
#define MODULES_DIR "/lib/modules/"

#define MOST_MODULE_NAME 64 /* the kernel's own limit is 56 */

typedef struct
{
  Symbolization *symbolization;
  const char *build_id; /* of the file that is searched for */
  const char *release;  /* "" = unknown */
  /* path below the directory of the release's modules; NULL: the kernel itself */
  const char *module;
  /* list of all module paths as written by depmod; NULL = not read yet, "" = unknown */
  char *modules;
  int root; /* of the sysroot; -1 = our own */
  Opener opener;
  ElfCache elf;
  bool use_sandbox;
  /* reading a kernel's debug information takes seconds */
  StopEvent stop;
  ElfFacts facts;                        /* of the open file */
  UnnamedReason reason;                  /* why there is none */
  uint32_t n_sections;                   /* number of module sections that were looked for */
  int64_t usec;                          /* total time of these */
  uint32_t n_left_out;                   /* number of sections that were skipped */
  char first_left_out[MOST_MODULE_NAME]; /* the first one of them */
} Search;

/* --- paths of kernel files --- */

static void add_format (GPtrArray *paths, const char *dir, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

static void
add_format (GPtrArray *paths, const char *dir, const char *format, ...)
{
  g_autofree char *rest = NULL;
  va_list arguments;

  va_start (arguments, format);
  rest = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_ptr_array_add (paths, g_strconcat (dir, rest, NULL));
}

static void
add_for_release (const Search *self, GPtrArray *paths, const char *dir)
{
  if (self->release[0] == 0)
    return;
  if (self->module != NULL)
    {
      add_format (paths, dir, "/lib/modules/%s/%s", self->release, self->module);
      add_format (paths, dir, "/lib/modules/%s/%s.debug", self->release, self->module);
      return;
    }
  add_format (paths, dir, "/boot/vmlinux-%s", self->release);
  add_format (paths, dir, "/boot/vmlinux-%s.debug", self->release);
  add_format (paths, dir, "/lib/modules/%s/vmlinux", self->release);
  add_format (paths, dir, "/lib/modules/%s/vmlinux.debug", self->release);
}

static void
add_debug_dir (const Search *self, GPtrArray *paths, const char *dir)
{
  add_format (paths, dir, "/.build-id/%.2s/%s.debug", self->build_id, self->build_id + 2);
  add_format (paths, dir, "/.build-id/%.2s/%s", self->build_id, self->build_id + 2);
  add_for_release (self, paths, dir);
}

/* Lists the paths below the root. */
static GPtrArray *
list_places (const Search *self)
{
  const SymbolizeOptions *options = self->symbolization->options;
  GPtrArray *paths = g_ptr_array_new_with_free_func (g_free);

  for (size_t i = 0; options->inner_debug_dirs != NULL && options->inner_debug_dirs[i] != NULL;
       i++)
    add_debug_dir (self, paths, options->inner_debug_dirs[i]);
  add_debug_dir (self, paths, DEBUG_DIR);
  if (self->release[0] == 0)
    return paths;
  if (self->module != NULL)
    {
      static const char *const packed[] = { "", ".xz", ".zst", ".gz" };

      for (size_t i = 0; i < G_N_ELEMENTS (packed); i++)
        add_format (paths, "", MODULES_DIR "%s/%s%s", self->release, self->module, packed[i]);
      return paths;
    }
  add_format (paths, "", "/boot/vmlinux-%s", self->release);
  add_format (paths, "", MODULES_DIR "%s/vmlinux", self->release);
  add_format (paths, "", MODULES_DIR "%s/build/vmlinux", self->release);
  return paths;
}

/* Lists the paths on this machine that the options name. */
static GPtrArray *
list_given_places (const Search *self)
{
  const SymbolizeOptions *options = self->symbolization->options;
  GPtrArray *paths = g_ptr_array_new_with_free_func (g_free);

  for (size_t i = 0; options->debug_dirs != NULL && options->debug_dirs[i] != NULL; i++)
    {
      add_debug_dir (self, paths, options->debug_dirs[i]);
      if (self->module == NULL)
        add_format (paths, options->debug_dirs[i], "/vmlinux");
    }
  return paths;
}

/* --- modules --- */

/* Each line is `kernel/fs/ext4/ext4.ko.xz: …`. */
static void
read_modules (Search *self)
{
  const char *sysroot = self->symbolization->options->sysroot;
  autofd root = sysroot != NULL ? open (sysroot, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
  g_autofree char *path = g_strconcat (MODULES_DIR, self->release, "/modules.dep", NULL);
  autofd envelope = -1, text = -1;
  struct stat info = { 0 };
  ssize_t n = 0;

  self->modules = g_strdup ("");
  if (self->release[0] == 0 || (sysroot != NULL && root < 0))
    return;
  envelope =
      sysprof_open_file (&self->opener, OPEN_TEXT_COPY, READER_OURSELVES, root, path, &info);
  text = envelope >= 0 ? sysprof_envelope_open (envelope) : -1;
  if (text < 0)
    return;
  g_free (self->modules);
  self->modules = g_malloc0 ((size_t) info.st_size + 1);
  n = pread (text, self->modules, (size_t) info.st_size, 0);
  self->modules[MAX (n, 0)] = '\0';
}

/* File names may contain '-' where module names contain '_'. */
static bool
is_file_of (Text path, const char *name, size_t size)
{
  const char *base = memrchr (path.at, '/', sysprof_text_size (path));
  Text file = { base != NULL ? base + 1 : path.at, path.end };

  if (sysprof_text_size (file) < size + 3 || strncmp (file.at + size, ".ko", 3) != 0)
    return false;
  for (size_t i = 0; i < size; i++)
    if (file.at[i] != name[i] && !(file.at[i] == '-' && name[i] == '_'))
      return false;
  return true;
}

/* `binary` is `[NAME]`; the result has no suffix of a compression. *(full)* */
static char *
dup_module_path (Search *self, const char *binary)
{
  size_t size = strlen (binary) - 2;
  Text text, line, path;

  if (self->modules == NULL)
    read_modules (self);
  text = sysprof_text_from_string (self->modules);
  while (sysprof_text_next_line (&text, &line))
    if (sysprof_text_until (&line, ':', &path) && is_file_of (path, binary + 1, size) &&
        memmem (path.at, sysprof_text_size (path), "..", 2) == NULL)
      {
        const char *base = memrchr (path.at, '/', sysprof_text_size (path));
        size_t before = base != NULL ? (size_t) (base + 1 - path.at) : 0;

        return g_strndup (path.at, before + size + strlen (".ko"));
      }
  return g_strndup (binary + 1, size); /* it may still be found by build ID */
}

/* --- is it the file that was recorded? --- */

/* Whether the file contains everything that is wanted. */
static bool
is_of_use (const Search *self)
{
  if (self->module == NULL ? self->facts.kernel_text == 0 : self->facts.n_text_sections == 0)
    return false;
  if (self->symbolization->request->reads_code)
    return self->facts.text_size == 0; /* a debug file has no code */
  return self->symbolization->request->is_complete (&self->facts);
}

static bool
add_debug_file (Search *self, int root, const char *path)
{
  struct stat info = { 0 };
  autofd envelope =
      sysprof_open_file (&self->opener, OPEN_REGULAR_FILE, READER_OURSELVES, root, path, &info);

  return envelope >= 0 && sysprof_elf_cache_add_part (&self->elf, &(ElfPart){ ELF_PART_DEBUG },
                                                      envelope, &info, &self->facts) == ELF_OK;
}

static bool
open_file (Search *self, int root, const char *path)
{
  struct stat info = { 0 };
  autofd envelope =
      sysprof_open_file (&self->opener, OPEN_REGULAR_FILE, READER_OURSELVES, root, path, &info);

  if (envelope < 0)
    return false;
  if (self->elf.sandbox.pid == 0) /* a child that was ended has lost its files */
    {
      self->elf.sandbox.keeps_rights = !self->use_sandbox;
      self->elf.sandbox.stop_fd = self->opener.stop_fd;
      self->elf.sandbox.has_stop_fd = self->opener.has_stop_fd;
    }
  if (sysprof_elf_cache_open (&self->elf, envelope, &info,
                              self->symbolization->request->reads_lines,
                              &self->facts) != ELF_OK)
    return false;
  if (sysprof_elf_has_build_id (&self->facts, self->build_id))
    return is_of_use (self);

  self->reason = UNNAMED_OTHER_KERNEL_FILE;
  return false;
}

static bool
open_first (Search *self,
            bool (*open_one) (Search *self, int root, const char *path),
            int root,
            const GPtrArray *paths)
{
  for (guint i = 0;
       i < paths->len && !sysprof_progress_is_cancelled (self->symbolization->progress); i++)
    if (open_one (self, root, paths->pdata[i]))
      return true;
  return false;
}

static bool
find_in_all_places (Search *self, bool (*open_one) (Search *self, int root, const char *path))
{
  const char *sysroot = self->symbolization->options->sysroot;
  g_autoptr (GPtrArray) given = list_given_places (self);
  g_autoptr (GPtrArray) paths = list_places (self);
  autofd fd = sysroot != NULL ? open (sysroot, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;

  return open_first (self, open_one, -1, given) ||
         ((fd >= 0 || sysroot == NULL) && open_first (self, open_one, fd, paths));
}

/* Some distributions put a module's lines into a separate file, so the file with its code may
 * have none. */
static bool
find_file (Search *self)
{
  const Symbolization *symbolization = self->symbolization;

  if (!find_in_all_places (self, open_file))
    return false;
  if (symbolization->request->reads_code && symbolization->options->with_lines &&
      !self->facts.has_lines)
    (void) find_in_all_places (self, add_debug_file);
  return true;
}

/* --- answers --- */

/* Captures store lines by offset from `_text`, because readers may not have the file with its
 * link-time address. */
static uint64_t *
list_addresses (const KernelPart *part, uint64_t link_base)
{
  uint64_t *addresses = g_new (uint64_t, part->offsets->len + 1);

  for (guint i = 0; i < part->offsets->len; i++)
    addresses[i] = link_base + g_array_index (part->offsets, uint64_t, i);
  return addresses;
}

/* Drops addresses after the section: in memory it is followed by other data than in the
 * file. */
static void
cut_batch (FileBatch *batch, uint64_t size)
{
  while (batch->n_offsets > 0 && batch->offsets[batch->n_offsets - 1] >= size)
    batch->n_offsets--;
  while (batch->n_items > 0 && batch->items[batch->n_items - 1].offset >= size)
    batch->n_items--;
}

/* Uses the open file, in which the part starts at `link_base` and has `size` bytes. */
static void
use_file (Search *self, const KernelPart *part, uint64_t link_base, uint64_t size)
{
  Symbolization *symbolization = self->symbolization;
  FileBatch batch = sysprof_kernel_part_get_batch (part);
  g_autofree uint64_t *addresses = list_addresses (part, link_base);

  cut_batch (&batch, size);
  /* Addresses in a request must ascend. */
  if (batch.n_offsets > 0 && addresses[batch.n_offsets - 1] >= addresses[0])
    symbolization->request->resolve_kernel (symbolization, &self->elf, &batch, addresses,
                                            part->base - link_base);
}

/* Only names have a reason: lines and code are looked up for functions that have a name. */
static void
explain (Symbolization *self, UnnamedReason reason)
{
  if (self->request->reads_lines)
    return;
  for (AddressId address = 1; address < self->store->addresses.n; address++)
    if (sysprof_kernel_is_asked_for (self, address))
      sysprof_symbolization_explain (self, address, &(UnnamedAnswer){ .reason = reason });
}

/* --- --- */

static void
start (Search *self, Symbolization *symbolization, bool use_sandbox)
{
  const char *release = sysprof_symbolization_find_metadata (symbolization, RELEASE_KEY);

  *self = (Search){
    .symbolization = symbolization,
    .release =
        release != NULL && release[0] != '.' && strchr (release, '/') == NULL ? release : "",
    .opener = OPENER_INIT,
    .elf = REMEMBERED_ELF_INIT,
    .use_sandbox = use_sandbox,
  };
  sysprof_stop_event_init (&self->stop, symbolization->progress->cancellable);
  self->elf.is_by_address = true;
  if (!symbolization->options->no_cache && symbolization->request->is_cached)
    self->elf.cache = sysprof_symbol_cache_new ();
  self->opener.stop_fd = self->stop.fd;
  self->opener.has_stop_fd = self->stop.fd >= 0;
}

static void
finish (Search *self)
{
  g_free (self->modules);
  sysprof_opener_clear (&self->opener);
  sysprof_elf_cache_clear (&self->elf);
  sysprof_stop_event_clear (&self->stop);
}

static void
resolve_kernel (Search *self, const KernelPart *kernel)
{
  Symbolization *symbolization = self->symbolization;
  bool is_found;

  self->module = NULL;
  if (kernel->build_id[0] == '\0')
    return;
  self->build_id = kernel->build_id;
  self->reason = UNNAMED_NO_KERNEL_SYMBOLS;
  is_found = (kernel->base == 0 || kernel->items->len > 0) && find_file (self);
  if (is_found && kernel->base != 0)
    use_file (self, kernel, self->facts.kernel_text, UINT64_MAX);
  else
    explain (symbolization, is_found ? UNNAMED_KERNEL_MOVED : self->reason);
  if (!is_found && kernel->items->len > 0 && symbolization->wanted_kernel[0] == '\0')
    g_strlcpy (symbolization->wanted_kernel, kernel->build_id,
               sizeof symbolization->wanted_kernel);
}

/* Returns NULL if the open file has no section of that name. */
static const ElfTextSection *
find_section (const ElfFacts *facts, const char *name)
{
  for (size_t i = 0; i < facts->n_text_sections; i++)
    if (strcmp (facts->text_section[i].name, name) == 0)
      return &facts->text_section[i];
  return NULL;
}

static bool
has_room_for_module (Search *self, const KernelPart *part)
{
  if (self->n_sections < MOST_MODULE_SECTIONS &&
      self->usec < MOST_MODULE_SECONDS * G_TIME_SPAN_SECOND)
    return true;
  if (self->n_left_out++ == 0)
    g_strlcpy (self->first_left_out, part->binary, sizeof self->first_left_out);
  return false;
}

static void
note_wanted_module (Symbolization *self, const KernelPart *part)
{
  WantedModule *wanted = NULL;

  for (guint i = 0; i < self->wanted_modules->len && wanted == NULL; i++)
    {
      WantedModule *known = &g_array_index (self->wanted_modules, WantedModule, i);

      if (strcmp (known->build_id, part->build_id) == 0)
        wanted = known;
    }
  if (wanted == NULL)
    {
      g_array_set_size (self->wanted_modules, self->wanted_modules->len + 1);
      wanted =
          &g_array_index (self->wanted_modules, WantedModule, self->wanted_modules->len - 1);
      g_strlcpy (wanted->build_id, part->build_id, sizeof wanted->build_id);
      wanted->addresses = g_array_new (FALSE, FALSE, sizeof (AddressId));
    }
  for (guint i = 0; i < part->items->len; i++)
    g_array_append_val (wanted->addresses, g_array_index (part->items, BatchItem, i).address);
}

/* Without a build ID the recorded file cannot be identified. */
static void
resolve_module (Search *self, const KernelPart *part)
{
  int64_t began = g_get_monotonic_time ();
  g_autofree char *module = NULL;
  const ElfTextSection *section;
  bool is_found;

  if (part->build_id[0] == '\0' || part->items->len == 0 || !has_room_for_module (self, part))
    return;
  module = dup_module_path (self, part->binary);
  self->module = module;
  self->build_id = part->build_id;
  is_found = find_file (self);
  section = is_found ? find_section (&self->facts, part->section) : NULL;
  if (section != NULL)
    use_file (self, part, section->address, section->size);
  if (!is_found && !self->symbolization->request->reads_code) /* debug files contain no code */
    note_wanted_module (self->symbolization, part);
  self->module = NULL;
  self->n_sections++;
  self->usec += g_get_monotonic_time () - began;
}

void
sysprof_vmlinux_resolve (Symbolization *self)
{
  g_autoptr (KernelParts) parts = sysprof_kernel_parts_new (self);
  Search search;

  if (parts->are_mixed)
    explain (self, UNNAMED_MIXED_KERNELS);
  if (parts->parts->len == 0)
    return;

  start (&search, self, self->options->use_sandbox || self->request->reads_code);
  for (guint i = 0; i < parts->parts->len && !sysprof_progress_is_cancelled (self->progress);
       i++)
    {
      const KernelPart *part = &g_array_index (parts->parts, KernelPart, i);

      (part->section[0] == '\0' ? resolve_kernel : resolve_module) (&search, part);
    }
  if (search.n_left_out > 0)
    sysprof_symbolization_note_gap (self, "[kernel]", DEBUG_GAP_MODULES_LEFT_OUT,
                                    search.n_left_out, search.first_left_out);
  finish (&search);
}

/* Returns FALSE if the file has another build ID. */
static bool
use_fetched (Search *self, const KernelPart *part, const char *path)
{
  bool is_kernel = part->section[0] == '\0';
  const ElfTextSection *section;

  self->build_id = part->build_id;
  self->module = is_kernel ? NULL : part->binary;
  if (!open_file (self, -1, path))
    return false;
  section = is_kernel ? NULL : find_section (&self->facts, part->section);
  if (is_kernel)
    use_file (self, part, self->facts.kernel_text, UINT64_MAX);
  else if (section != NULL)
    use_file (self, part, section->address, section->size);
  return true;
}

void
sysprof_vmlinux_resolve_fetched (Symbolization *self, FetchedKernelFile *files, guint n)
{
  g_autoptr (KernelParts) parts = sysprof_kernel_parts_new (self);
  Search search;

  start (&search, self, true);
  for (guint i = 0; i < n; i++)
    for (guint j = 0; j < parts->parts->len && !sysprof_progress_is_cancelled (self->progress);
         j++)
      {
        const KernelPart *part = &g_array_index (parts->parts, KernelPart, j);

        if (part->items->len > 0 && strcmp (part->build_id, files[i].build_id) == 0)
          files[i].is_fit = use_fetched (&search, part, files[i].path) || files[i].is_fit;
      }
  finish (&search);
}
