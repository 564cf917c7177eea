// SPDX-License-Identifier: GPL-3.0-or-later

/* A program whose symbols the tests know: exported, static, weak, aliased, and an assembly
 * label without a size. */

#include <stdlib.h>

int exported_function (int value);
int weak_function (int value);
int aliased_function (int value);
int alias_of_function (int value) __attribute__ ((weak, alias ("aliased_function")));
void assembly_function (void);

__asm__(".text\n"
        "assembly_function:\n"
        "  nop\n"
        "  nop\n"
        ".globl assembly_function\n");

static __attribute__ ((noinline)) int
static_function (int value)
{
  return value * 3 + rand ();
}

int
exported_function (int value)
{
  return static_function (value) + 1;
}

__attribute__ ((weak)) int
weak_function (int value)
{
  return exported_function (value) + 1;
}

int
aliased_function (int value)
{
  return weak_function (value) + 1;
}

int
main (int argc, char **argv)
{
  return aliased_function (argc) == 0;
}
