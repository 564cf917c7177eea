// SPDX-License-Identifier: GPL-3.0-or-later

/* Recognizes files of other programs by their first bytes, to say what to do with them.
 *
 * The bytes are untrusted: nothing but the bytes of the table is looked for. */

#include "util/foreign-file.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define BEGIN_SIZE ((size_t) 64 << 10) /* bytes in which `contains` is looked for */

#define BYTES(text) text, sizeof text - 1
#define FOLD_PERF                                                            \
  "perf.data: convert it with 'perf script -i FILE | stackcollapse-perf.pl " \
  ">out.folded' (FlameGraph's script) and open out.folded"

/* The first matching row counts. The bytes are at `offset`; a row without bytes matches files
 * that begin with { or [, which is JSON. */
static const struct
{
  size_t offset;
  const char *bytes;
  size_t size;
  const char *contains; /* a text further on, or NULL */
  const char *description;
} formats[] = {
  { 0, BYTES ("PERFILE2"), NULL, FOLD_PERF },
  { 0, BYTES ("2ELIFREP"), NULL, FOLD_PERF },
  { 16, BYTES ("\4\0"), "\177ELF",
    "an ELF core dump: open it in a debugger, as 'gdb PROGRAM FILE'" },
  { 0, BYTES ("\177ELF"), NULL,
    "an ELF program or library: record a program with 'sysprof-cli -- PROGRAM'" },
  { 0, BYTES ("\27\10\104tracing"), NULL,
    "a trace of trace-cmd: show it with 'trace-cmd report FILE' or KernelShark" },
  { 0, BYTES ("# callgrind format"), NULL,
    "a Callgrind profile: show it with 'callgrind_annotate FILE' or KCachegrind" },
  { 0, BYTES ("version: 1\ncreator: callgrind"), NULL,
    "a Callgrind profile: show it with 'callgrind_annotate FILE' or KCachegrind" },
  { 0, BYTES ("desc: "),
    "\ntime_unit: ", "a Massif profile: show it with 'ms_print FILE' or massif-visualizer" },
  { 0, BYTES ("v "), "\nX ",
    "a heaptrack profile: convert it with 'heaptrack_print -F out.folded FILE' and open "
    "out.folded" },
  { 0, BYTES ("FLR\0"), NULL,
    "a Java flight recording: convert it with 'jfrconv -o collapsed FILE out.folded' "
    "(async-profiler) and open out.folded" },
  { 0, BYTES ("\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0"), NULL,
    "a gperftools profile: convert it with 'pprof --collapsed PROGRAM FILE >out.folded' and "
    "open out.folded" },
  { 0, BYTES ("\4\"M\30"), NULL, "compressed with lz4: decompress it with 'lz4 -d FILE'" },
  { 0, BYTES ("PK\3\4"), NULL, "a ZIP archive: extract it" },
  { 257, BYTES ("ustar"), NULL, "a tar archive: extract it" },
  { 0, BYTES ("<svg"), NULL,
    "a picture: show it in a browser, and give the capture that it was made of" },
  { 0, BYTES ("<!DOCTYPE html"), NULL,
    "a web page: show it in a browser, and give the capture that it was made of" },
  { 0, NULL, 0, "\"sysprof-report\"",
    "a report in JSON: give the capture that it was made of" },
  { 0, NULL, 0, "\"dhatFileVersion\"", "a DHAT profile: show it with Valgrind's dh_view.html" },
  { 0, NULL, 0, "speedscope.app/file-format-schema",
    "a speedscope profile: show it at https://www.speedscope.app" },
  { 0, NULL, 0, "\"preprocessedProfileVersion\"",
    "a profile of the Firefox Profiler or samply: show it at https://profiler.firefox.com" },
  { 0, NULL, 0, "\"timeDeltas\"",
    "a CPU profile of Node.js or Chrome: show it in the browser's developer tools or at "
    "https://www.speedscope.app" },
  { 0, NULL, 0, "\"traceEvents\"", "a Chrome trace: show it at https://ui.perfetto.dev" },
  { 0, NULL, 0, "\"ph\"", "a Chrome trace: show it at https://ui.perfetto.dev" },
};

/* A profile of pprof begins with the type of its samples: a message with the numbers of two
 * texts. */
static bool
is_pprof (const uint8_t *bytes, size_t size)
{
  return size > 6 && bytes[0] == 0x0a && bytes[1] == 4 && bytes[2] == 0x08 && bytes[4] == 0x10;
}

const char *
sysprof_foreign_file_describe (const void *bytes, size_t size)
{
  const char *begin = bytes;
  bool is_json = size > 0 && (begin[0] == '{' || begin[0] == '[');

  if (is_pprof (bytes, size))
    return "a pprof profile: convert it with 'go tool pprof -raw FILE | stackcollapse-go.pl "
           ">out.folded' (FlameGraph's script) and open out.folded";
  for (size_t i = 0; i < G_N_ELEMENTS (formats); i++)
    {
      const char *contains = formats[i].contains;

      if (formats[i].bytes == NULL
              ? !is_json
              : size < formats[i].offset + formats[i].size ||
                    memcmp (begin + formats[i].offset, formats[i].bytes, formats[i].size) != 0)
        continue;
      if (contains == NULL ||
          memmem (begin, MIN (size, BEGIN_SIZE), contains, strlen (contains)) != NULL)
        return formats[i].description;
    }
  return NULL;
}
