// SPDX-License-Identifier: GPL-3.0-or-later

/* Mangled names come from files that nobody vouches for: a short one can ask for an endless text by repeating
 * substitutions of substitutions. libiberty bounds its recursion, not its output; the callback does, and leaves
 * by longjmp, which is safe because the demanglers keep their state on the stack. */

#include "elf/elf.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NAME   (64 * 1024)
#define MAX_OUTPUT (256 * 1024)
#define OPTIONS    (DMGL_PARAMS | DMGL_ANSI)

typedef struct
{
  char *text;
  size_t size;
  size_t capacity;
  jmp_buf too_long;
} Output;

typedef int (*DemangleFunc) (const char *name, int options, demangle_callbackref, void *data);

static void
append (const char *text, size_t size, void *data)
{
  Output *output = data;

  if (size > MAX_OUTPUT - output->size)
    longjmp (output->too_long, 1);

  if (size >= output->capacity - output->size)
    {
      size_t capacity = (output->size + size + 1) * 2;
      char *larger = realloc (output->text, capacity);

      if (larger == NULL)
        longjmp (output->too_long, 1);
      output->text = larger;
      output->capacity = capacity;
    }

  memcpy (output->text + output->size, text, size);
  output->size += size;
  output->text[output->size] = 0;
}

static char *
demangle_bounded (DemangleFunc demangle, const char *name)
{
  Output *output =
      calloc (1, sizeof *output); /* not a local: those are undefined behind a longjmp */
  char *text = NULL;

  if (output == NULL)
    return NULL;

  if (setjmp (output->too_long) == 0 && demangle (name, OPTIONS, append, output) &&
      output->size > 0)
    {
      text = output->text;
      output->text = NULL;
    }

  free (output->text);
  free (output);
  return text;
}

static char *
demangle_d (const char *name)
{
  char *text = dlang_demangle (name, OPTIONS);

  if (text != NULL && strlen (text) > MAX_OUTPUT)
    {
      free (text);
      return NULL;
    }
  return text;
}

char *
sysprof_elf_demangle (const char *name)
{
  char *text = NULL;

  if (name[0] != '_' || strnlen (name, MAX_NAME + 1) > MAX_NAME)
    return NULL;

  if (name[1] == 'R')
    return demangle_bounded (rust_demangle_callback, name);
  if (name[1] == 'D')
    return demangle_d (name);

  if (name[1] == 'Z')
    {
      /* Old Rust names look like C++ ones with a hash at the end. */
      text = demangle_bounded (rust_demangle_callback, name);
      if (text == NULL)
        text = demangle_bounded (cplus_demangle_v3_callback, name);
    }
  else if (strncmp (name, "_GLOBAL_", 8) == 0)
    {
      text = demangle_bounded (cplus_demangle_v3_callback, name);
    }

  return text;
}
