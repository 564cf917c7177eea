// SPDX-License-Identifier: GPL-3.0-or-later

/* Demangles symbols. Mangled names are untrusted: a short one can expand to an endless text by
 * substituting substitutions repeatedly. libiberty limits its recursion but not its output. So
 * the output callback limits the output, and leaves by longjmp(). That is safe because the
 * demanglers keep their state on the stack. The demangler for D has no callback; for D, the
 * length is estimated first. */

#include "elf/elf.h"

#if __has_include(<libiberty/demangle.h>)
#  include <libiberty/demangle.h>
#else /* libiberty comes with the headers of binutils, as in Fedora */
#  include <demangle.h>
#endif
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NAME   (64 * 1024)
#define MAX_OUTPUT (16 * 1024) /* the longest names in common libraries have about 2,000 */
#define MAX_D_SIZE (64 * 1024) /* upper estimate of a D name's length */
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
      /* not a local variable: these are undefined after longjmp() */
      calloc (1, sizeof *output);
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

/* Decodes the number after the Q at `at`: base 26, upper case digits, the last one lower case.
 * Returns the number of letters; 0 if it is not a back reference. */
static size_t
read_back_reference (const char *name, size_t at, size_t *distance)
{
  size_t i = at + 1;

  for (*distance = 0; name[i] >= 'A' && name[i] <= 'Z' && *distance < MAX_NAME; i++)
    *distance = *distance * 26 + (size_t) (name[i] - 'A');
  if (name[i] < 'a' || name[i] > 'z')
    return 0;
  *distance = *distance * 26 + (size_t) (name[i] - 'a');
  return *distance > 0 && *distance < at ? i - at : 0;
}

/* Whether the name is short after expanding its back references. Each stands for an identifier,
 * or for a type somewhere between its target and itself. */
static bool
is_short_d (const char *name, size_t size)
{
  size_t *sum = calloc (size + 1, sizeof *sum); /* of all letters before */
  bool is_short;

  if (sum == NULL)
    return false;

  for (size_t at = 0; at < size; at++)
    {
      size_t distance, letters = 1;
      size_t behind = name[at] == 'Q' ? read_back_reference (name, at, &distance) : 0;

      if (behind > 0)
        {
          const char *target = name + at - distance;

          letters = *target >= '0' && *target <= '9' ? strtoul (target, NULL, 10)
                                                     : sum[at] - sum[at - distance];
        }
      if (letters > MAX_D_SIZE)
        letters = MAX_D_SIZE;
      for (size_t end = at + behind; at < end; at++)
        sum[at + 1] = sum[at];
      sum[at + 1] = sum[at] + letters;
    }

  is_short = sum[size] <= MAX_D_SIZE;
  free (sum);
  return is_short;
}

static char *
demangle_d (const char *name)
{
  char *text = is_short_d (name, strlen (name)) ? dlang_demangle (name, OPTIONS) : NULL;

  if (text != NULL && strlen (text) > MAX_OUTPUT)
    {
      free (text);
      return NULL;
    }
  return text;
}

static char *
demangle_function (const char *name)
{
  char *text = NULL;

  if (name[1] == 'R')
    return demangle_bounded (rust_demangle_callback, name);
  if (name[1] == 'D')
    return demangle_d (name);

  if (name[1] == 'Z')
    {
      /* Legacy Rust names look like C++ names with a hash at the end. */
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

char *
sysprof_elf_demangle (const char *name)
{
  size_t size = strnlen (name, MAX_NAME + 1);
  size_t suffix_size = sizeof ELF_STUB_SUFFIX - 1;
  char *function, *text, *with_suffix;

  if (name[0] != '_' || size > MAX_NAME)
    return NULL;
  if (size <= suffix_size || strcmp (name + size - suffix_size, ELF_STUB_SUFFIX) != 0)
    return demangle_function (name);

  function = strndup (name, size - suffix_size);
  text = function != NULL ? demangle_function (function) : NULL;
  free (function);
  size = text != NULL ? strlen (text) : 0;
  with_suffix = text != NULL ? realloc (text, size + sizeof ELF_STUB_SUFFIX) : NULL;
  if (with_suffix == NULL)
    {
      free (text);
      return NULL;
    }
  memcpy (with_suffix + size, ELF_STUB_SUFFIX, sizeof ELF_STUB_SUFFIX);
  return with_suffix;
}
