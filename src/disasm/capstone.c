// SPDX-License-Identifier: GPL-3.0-or-later

/* Disassembles with libcapstone. Loads only the version of the header that was used to build
 * this, because the layout of an instruction differs between versions. */

#include "disasm/disasm.h"

#include <capstone.h>
#include <dlfcn.h>
#include <elf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_OF(number)  #number
#define NAME_OF(version) "libcapstone.so." TEXT_OF (version)
#define LIBRARY          NAME_OF (CS_API_MAJOR)

/* *Frozen* once load_once() has run. */
static struct
{
  cs_err (*open) (cs_arch, cs_mode, csh *);
  cs_err (*close) (csh *);
  cs_insn *(*allocate) (csh);
  void (*free) (cs_insn *, size_t);
  bool (*next) (csh, const uint8_t **, size_t *, uint64_t *, cs_insn *);
  char problem[256]; /* empty = the library is loaded */
} library = { .problem = "it was not loaded" };

static void
load_once (void)
{
  const struct
  {
    const char *name;
    void *into;
  } functions[] = {
    { "cs_open", &library.open },        { "cs_close", &library.close },
    { "cs_malloc", &library.allocate },  { "cs_free", &library.free },
    { "cs_disasm_iter", &library.next },
  };
  void *handle = dlopen (LIBRARY, RTLD_NOW | RTLD_LOCAL);

  if (handle == NULL)
    {
      (void) snprintf (library.problem, sizeof library.problem,
                       "the disassembler cannot be loaded: %.120s. Install " LIBRARY
                       ", Debian's package libcapstone%d.",
                       dlerror (), CS_API_MAJOR);
      return;
    }
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
    {
      void *function = dlsym (handle, functions[i].name);

      if (function == NULL)
        {
          (void) snprintf (library.problem, sizeof library.problem,
                           "the disassembler " LIBRARY " has no %s. Install the one of your "
                           "distribution.",
                           functions[i].name);
          return;
        }
      memcpy (functions[i].into, &function, sizeof function);
    }
  library.problem[0] = '\0';
}

bool
sysprof_disasm_load (const char **problem)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;

  (void) pthread_once (&once, load_once);
  *problem = library.problem;
  return library.problem[0] == '\0';
}

/* --- machines --- */

typedef struct
{
  cs_arch architecture;
  unsigned mode;   /* of cs_mode, which is a set of bits */
  uint8_t granule; /* alignment of instructions, in bytes */
} Machine;

/* Nearly all instructions of the older instruction set have the condition "always" in their
 * highest bits; Thumb code has no such pattern. Symbols would distinguish them, but a stripped
 * file has none. */
static bool
is_thumb (const DisasmCode *code)
{
  size_t n = 0, n_always = 0;

  if (code->address % 4 != 0)
    return true;
  for (size_t at = 0; at + 4 <= code->size; at += 4, n++)
    n_always += code->bytes[at + 3] >> 4 == 0xe;
  return n_always * 2 < n;
}

static bool
find_machine (const DisasmCode *code, Machine *machine)
{
  unsigned order = code->is_big_endian ? (unsigned) CS_MODE_BIG_ENDIAN : CS_MODE_LITTLE_ENDIAN;

  switch (code->machine)
    {
    case EM_X86_64:
      *machine = (Machine){ CS_ARCH_X86, CS_MODE_64, 1 };
      return true;
    case EM_386:
      *machine = (Machine){ CS_ARCH_X86, CS_MODE_32, 1 };
      return true;
    /* ARM code is little-endian even if the data is big-endian. */
    case EM_AARCH64:
      *machine = (Machine){ CS_ARCH_ARM64, CS_MODE_ARM, 4 };
      return true;
    case EM_ARM:
      if (is_thumb (code))
        *machine = (Machine){ CS_ARCH_ARM, CS_MODE_THUMB | CS_MODE_V8, 2 };
      else
        *machine = (Machine){ CS_ARCH_ARM, CS_MODE_ARM | CS_MODE_V8, 4 };
      return true;
    case EM_S390:
      *machine = (Machine){ CS_ARCH_SYSZ, CS_MODE_BIG_ENDIAN, 2 };
      return true;
    case EM_PPC:
    case EM_PPC64:
      *machine = (Machine){ CS_ARCH_PPC, (code->is_64 ? CS_MODE_64 : CS_MODE_32) | order, 4 };
      return true;
#if CS_API_MAJOR >= 5
    case EM_RISCV:
      *machine =
          (Machine){ CS_ARCH_RISCV,
                     (code->is_64 ? CS_MODE_RISCV64 : CS_MODE_RISCV32) | CS_MODE_RISCVC, 2 };
      return true;
#endif
    default:
      return false;
    }
}

/* --- instructions --- */

struct Disassembler
{
  DisasmCode code;
  Machine machine;
  size_t at; /* offset in the code */
  csh handle;
  cs_insn *instruction;
};

Disassembler *
sysprof_disassembler_new (const DisasmCode *code)
{
  Disassembler *self = NULL;
  const char *problem;
  Machine machine;

  if (!sysprof_disasm_load (&problem) || !find_machine (code, &machine))
    return NULL;
  self = calloc (1, sizeof *self);
  if (self == NULL)
    return NULL;

  self->code = *code;
  self->machine = machine;
  if (library.open (machine.architecture, (cs_mode) machine.mode, &self->handle) != CS_ERR_OK)
    {
      free (self);
      return NULL;
    }
  self->instruction = library.allocate (self->handle);
  if (self->instruction == NULL)
    {
      sysprof_disassembler_free (self);
      return NULL;
    }
  return self;
}

void
sysprof_disassembler_free (Disassembler *self)
{
  if (self == NULL)
    return;
  if (self->instruction != NULL)
    library.free (self->instruction, 1);
  /* the result does not matter: only its memory is freed */
  (void) library.close (&self->handle);
  free (self);
}

/* Writes one granule of bytes that are not an instruction. */
static void
write_data (DisasmInstruction *into)
{
  size_t size = 0;

  for (unsigned i = 0; i < into->size; i++)
    size += (size_t) snprintf (into->text + size, sizeof into->text - size, "%s0x%02x",
                               i == 0 ? ".byte " : ", ", into->bytes[i]);
}

/* The target, if the only operand is an address. */
static uint64_t
find_target (const char *operands)
{
  const char *number = operands[0] == '#' ? operands + 1 : operands;
  char *end;
  uint64_t target;

  if (strncmp (number, "0x", 2) != 0)
    return 0;
  target = strtoull (number, &end, 16);
  return *end == '\0' ? target : 0;
}

bool
sysprof_disassembler_next (Disassembler *self, DisasmInstruction *into)
{
  const uint8_t *bytes = self->code.bytes + self->at;
  size_t left = self->code.size - self->at, rest = left;
  uint64_t address = self->code.address + self->at;
  cs_insn *insn = self->instruction;

  if (left == 0)
    return false;

  *into = (DisasmInstruction){ .address = address };
  if (library.next (self->handle, &bytes, &rest, &address, insn) && insn->size > 0 &&
      insn->size <= left && insn->size <= DISASM_MAX_SIZE)
    {
      into->size = (uint8_t) insn->size;
      (void) snprintf (into->text, sizeof into->text, "%s%s%s", insn->mnemonic,
                       insn->op_str[0] != '\0' ? " " : "", insn->op_str);
      into->target = find_target (insn->op_str);
      memcpy (into->bytes, self->code.bytes + self->at, into->size);
    }
  else
    {
      /* Up to the next possible start of an instruction. */
      size_t step = self->machine.granule - into->address % self->machine.granule;

      into->size = (uint8_t) (step < left ? step : left);
      memcpy (into->bytes, self->code.bytes + self->at, into->size);
      write_data (into);
    }
  self->at += into->size;
  return true;
}
