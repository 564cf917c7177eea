// SPDX-License-Identifier: GPL-3.0-or-later

/* Decodes x86-64 instructions: their length, and their effect on the stack. Source: Intel 64
 * and IA-32 Architectures Software Developer's Manual, volume 2, chapters 2 (formats) and A
 * (opcode maps). */

#include "unwind/x86.h"

#include <string.h>

#define MOST_BYTES 15

/* What follows an opcode. */
enum
{
  M = 1,   /* a ModR/M byte */
  B = 2,   /* an immediate byte */
  Z = 4,   /* an immediate of 4 bytes, 2 with the prefix 66 */
  R = 8,   /* a relative address of 4 bytes */
  W = 16,  /* an immediate of 2 bytes */
  V = 32,  /* an immediate of the operand's size: 8 bytes with REX.W */
  A = 64,  /* an absolute address */
  X = 128, /* not an instruction in 64-bit mode */
  MB = M | B,
  MZ = M | Z,
};

/* clang-format off */
static const uint8_t one_byte[256] = {
  /*       0  1  2  3   4  5  6  7   8  9  a  b   c  d  e  f */
  /* 0 */  M, M, M, M,  B, Z, X, X,  M, M, M, M,  B, Z, X, X,
  /* 1 */  M, M, M, M,  B, Z, X, X,  M, M, M, M,  B, Z, X, X,
  /* 2 */  M, M, M, M,  B, Z, X, X,  M, M, M, M,  B, Z, X, X,
  /* 3 */  M, M, M, M,  B, Z, X, X,  M, M, M, M,  B, Z, X, X,
  /* 4 */  0, 0, 0, 0,  0, 0, 0, 0,  0, 0, 0, 0,  0, 0, 0, 0,
  /* 5 */  0, 0, 0, 0,  0, 0, 0, 0,  0, 0, 0, 0,  0, 0, 0, 0,
  /* 6 */  X, X, X, M,  0, 0, 0, 0,  Z, MZ,B, MB, 0, 0, 0, 0,
  /* 7 */  B, B, B, B,  B, B, B, B,  B, B, B, B,  B, B, B, B,
  /* 8 */  MB,MZ,X, MB, M, M, M, M,  M, M, M, M,  M, M, M, M,
  /* 9 */  0, 0, 0, 0,  0, 0, 0, 0,  0, 0, X, 0,  0, 0, 0, 0,
  /* a */  A, A, A, A,  0, 0, 0, 0,  B, Z, 0, 0,  0, 0, 0, 0,
  /* b */  B, B, B, B,  B, B, B, B,  V, V, V, V,  V, V, V, V,
  /* c */  MB,MB,W, 0,  X, X, MB,MZ, W|B,0,W, 0,  0, B, X, 0,
  /* d */  M, M, M, M,  X, X, X, 0,  M, M, M, M,  M, M, M, M,
  /* e */  B, B, B, B,  B, B, B, B,  R, R, X, B,  0, 0, 0, 0,
  /* f */  0, 0, 0, 0,  0, 0, M, M,  0, 0, 0, 0,  0, 0, M, M,
};

static const uint8_t two_bytes[256] = {
  /*       0  1  2  3   4  5  6  7   8  9  a  b   c  d  e  f */
  /* 0 */  M, M, M, M,  X, 0, 0, 0,  0, 0, X, 0,  X, M, 0, MB,
  /* 1 */  M, M, M, M,  M, M, M, M,  M, M, M, M,  M, M, M, M,
  /* 2 */  M, M, M, M,  X, X, X, X,  M, M, M, M,  M, M, M, M,
  /* 3 */  0, 0, 0, 0,  0, 0, X, 0,  X, X, X, X,  X, X, X, X,
  /* 4 */  M, M, M, M,  M, M, M, M,  M, M, M, M,  M, M, M, M,
  /* 5 */  M, M, M, M,  M, M, M, M,  M, M, M, M,  M, M, M, M,
  /* 6 */  M, M, M, M,  M, M, M, M,  M, M, M, M,  M, M, M, M,
  /* 7 */  MB,MB,MB,MB, M, M, M, 0,  M, M, X, X,  M, M, M, M,
  /* 8 */  R, R, R, R,  R, R, R, R,  R, R, R, R,  R, R, R, R,
  /* 9 */  M, M, M, M,  M, M, M, M,  M, M, M, M,  M, M, M, M,
  /* a */  0, 0, 0, M,  MB,M, X, X,  0, 0, 0, M,  MB,M, M, M,
  /* b */  M, M, M, M,  M, M, M, M,  M, M, MB,M,  M, M, M, M,
  /* c */  M, M, MB,M,  MB,MB,MB,M,  0, 0, 0, 0,  0, 0, 0, 0,
  /* d */  M, M, M, M,  M, M, M, M,  M, M, M, M,  M, M, M, M,
  /* e */  M, M, M, M,  M, M, M, M,  M, M, M, M,  M, M, M, M,
  /* f */  M, M, M, M,  M, M, M, M,  M, M, M, M,  M, M, M, M,
};
/* clang-format on */

typedef enum
{
  MAP_ONE,
  MAP_0F,
  MAP_0F38,
  MAP_0F3A,
} Map;

#define REX_B 1u
#define REX_X 2u
#define REX_R 4u
#define REX_W 8u

typedef struct
{
  const uint8_t *bytes;
  size_t size; /* at most MOST_BYTES */
  size_t at;
  Map map;
  uint8_t opcode;
  uint8_t rex;
  bool is_narrow; /* prefix 66 */
  bool is_repeat; /* prefix f3 */
  bool is_vector; /* VEX or EVEX */
  bool has_modrm;
  uint8_t modrm;
  uint8_t sib;
  int32_t displacement;
  int64_t immediate;
} Decoder;

static bool
take (Decoder *self, uint8_t *byte)
{
  if (self->at == self->size)
    return false;
  *byte = self->bytes[self->at++];
  return true;
}

/* A signed integer of 1, 2, 4 or 8 bytes. */
static bool
take_signed (Decoder *self, unsigned n, int64_t *value)
{
  uint64_t wide = 0;

  if (self->size - self->at < n)
    return false;
  for (unsigned i = 0; i < n; i++)
    wide |= (uint64_t) self->bytes[self->at + i] << (8 * i);
  self->at += n;
  *value = n == 8 ? (int64_t) wide : (int64_t) (wide << (64 - 8 * n)) >> (64 - 8 * n);
  return true;
}

static bool
take_prefixes (Decoder *self)
{
  uint8_t byte;

  for (;;)
    {
      if (!take (self, &byte))
        return false;
      switch (byte)
        {
        case 0x66:
          self->is_narrow = true;
          break;
        case 0xf3:
          self->is_repeat = true;
          break;
        case 0x67:
        case 0xf0:
        case 0xf2:
        case 0x2e:
        case 0x36:
        case 0x3e:
        case 0x26:
        case 0x64:
        case 0x65:
          break;
        default:
          self->at--;
          return true;
        }
    }
}

/* The bytes after c5, c4 or 62: the opcode map, and the bits of REX, inverted. */
static bool
take_vector_prefix (Decoder *self, uint8_t first)
{
  uint8_t bytes[3];
  unsigned n = first == 0xc5 ? 1 : first == 0xc4 ? 2 : 3;
  unsigned map;

  for (unsigned i = 0; i < n; i++)
    if (!take (self, &bytes[i]))
      return false;

  self->is_vector = true;
  map = first == 0xc5 ? 1 : bytes[0] & (first == 0xc4 ? 0x1f : 0x07);
  if (map == 0 || (first == 0xc4 && map > 3) || map == 4 || map == 7)
    return false;
  /* 5 and 6 are half-precision instructions, without immediates. */
  self->map = map == 1 ? MAP_0F : map == 3 ? MAP_0F3A : MAP_0F38;
  return take (self, &self->opcode);
}

static bool
take_opcode (Decoder *self)
{
  uint8_t byte;

  if (!take (self, &byte))
    return false;
  if ((byte & 0xf0) == 0x40)
    {
      self->rex = byte;
      if (!take (self, &byte))
        return false;
    }

  if (byte == 0xc4 || byte == 0xc5 || byte == 0x62)
    return take_vector_prefix (self, byte);
  if (byte != 0x0f)
    {
      self->opcode = byte;
      return true;
    }

  if (!take (self, &self->opcode))
    return false;
  self->map = MAP_0F;
  if (self->opcode == 0x38 || self->opcode == 0x3a)
    {
      self->map = self->opcode == 0x38 ? MAP_0F38 : MAP_0F3A;
      return take (self, &self->opcode);
    }
  return true;
}

static bool
take_modrm (Decoder *self)
{
  unsigned mod, rm, n = 0;
  int64_t displacement = 0;

  self->has_modrm = true;
  if (!take (self, &self->modrm))
    return false;
  mod = self->modrm >> 6;
  rm = self->modrm & 7;
  if (mod == 3)
    return true;

  if (mod == 1)
    n = 1;
  else if (mod == 2 || rm == 5)
    n = 4;
  if (rm == 4)
    {
      if (!take (self, &self->sib))
        return false;
      if (mod == 0 && (self->sib & 7) == 5)
        n = 4;
    }
  if (n > 0 && !take_signed (self, n, &displacement))
    return false;
  self->displacement = (int32_t) displacement;
  return true;
}

static uint8_t
what_follows (const Decoder *self)
{
  switch (self->map)
    {
    case MAP_0F38:
      return M;
    case MAP_0F3A:
      return MB;
    case MAP_0F:
      if (self->is_vector && two_bytes[self->opcode] == 0 && self->opcode != 0x77)
        return X;
      return two_bytes[self->opcode];
    default:
      return one_byte[self->opcode];
    }
}

static bool
take_immediates (Decoder *self, uint8_t follows)
{
  int64_t second;
  unsigned n = 0;

  /* test has an immediate, the others of the group have none */
  if (self->map == MAP_ONE && (self->opcode == 0xf6 || self->opcode == 0xf7) &&
      (self->modrm >> 3 & 7) < 2)
    follows |= self->opcode == 0xf6 ? B : Z;

  if (follows & W)
    n = 2;
  else if (follows & Z)
    n = self->is_narrow ? 2 : 4;
  else if (follows & R)
    n = 4;
  else if (follows & V)
    n = self->rex & REX_W ? 8 : self->is_narrow ? 2 : 4;
  else if (follows & A)
    n = 8;
  if (n > 0 && !take_signed (self, n, &self->immediate))
    return false;
  if (follows & B)
    return take_signed (self, 1, n > 0 ? &second : &self->immediate);
  return true;
}

/* --- what it does --- */

#define MOD(self) ((self)->modrm >> 6)
#define REG(self) (((self)->modrm >> 3 & 7u) | ((self)->rex & REX_R ? 8u : 0u))
#define RM(self)  (((self)->modrm & 7u) | ((self)->rex & REX_B ? 8u : 0u))
#define SP        4u

/* Whether the memory operand is `base` + displacement, without an index; `base` is SP or BP. */
static bool
is_based_on (const Decoder *self, unsigned base)
{
  if (MOD (self) == 3 || (self->rex & (REX_B | REX_X)))
    return false;
  if (base == SP)
    return (self->modrm & 7) == SP && self->sib == 0x24;
  return MOD (self) != 0 && (self->modrm & 7) == base; /* without a displacement, BP means IP */
}

static X86Kind
spoils (unsigned number)
{
  return number == SP ? X86_SPOIL_SP : number == X86_BP ? X86_SPOIL_BP : X86_OTHER;
}

static X86Kind
kind_of_move (const Decoder *self, unsigned to, unsigned from)
{
  if (!(self->rex & REX_W))
    return spoils (to);
  if (to == SP && from == X86_BP)
    return X86_SP_FROM_BP;
  if (to == X86_BP && from == SP)
    return X86_BP_FROM_SP;
  return spoils (to);
}

static bool
is_whole_bp (const Decoder *self)
{
  return (self->rex & REX_W) && REG (self) == X86_BP;
}

static X86Kind
kind_of_store (const Decoder *self, X86Instruction *instruction)
{
  instruction->value = self->displacement;
  return is_based_on (self, SP) ? X86_STORE_BP : X86_OTHER;
}

static X86Kind
kind_of_load (const Decoder *self, X86Instruction *instruction)
{
  instruction->value = self->displacement;
  return is_based_on (self, SP) ? X86_LOAD_BP : X86_SPOIL_BP;
}

static X86Kind
kind_of_lea (const Decoder *self, uint64_t next, X86Instruction *instruction)
{
  instruction->value = self->displacement;
  if (REG (self) == SP && is_based_on (self, SP))
    return X86_ADD_SP;
  if (REG (self) == SP && is_based_on (self, X86_BP))
    return X86_SP_FROM_BP;
  if (REG (self) == X86_BP && is_based_on (self, SP))
    return X86_BP_FROM_SP;
  if (MOD (self) == 0 && (self->modrm & 7) == 5 && spoils (REG (self)) == X86_OTHER)
    {
      instruction->target = next + (uint64_t) (int64_t) self->displacement;
      return X86_CODE_ADDRESS;
    }
  return spoils (REG (self));
}

/* add, or, adc, sbb, and, sub, xor, cmp with an immediate. */
static X86Kind
kind_of_arithmetic (const Decoder *self, X86Instruction *instruction)
{
  unsigned operation = self->modrm >> 3 & 7;

  if (MOD (self) != 3 || operation == 7)
    return X86_OTHER;
  if (RM (self) == SP && (self->rex & REX_W) && (operation == 0 || operation == 5))
    {
      instruction->value = operation == 0 ? self->immediate : -self->immediate;
      return X86_ADD_SP;
    }
  return spoils (RM (self));
}

/* inc, dec, call, call far, jmp, jmp far, push */
static X86Kind
kind_of_ff (const Decoder *self, X86Instruction *instruction)
{
  switch (self->modrm >> 3 & 7)
    {
    case 2:
    case 3:
      return X86_CALL;
    case 4:
    case 5:
      instruction->is_got = MOD (self) == 0 && (self->modrm & 7) == 5;
      return X86_JUMP;
    case 6:
      instruction->number = X86_NO_REGISTER;
      return X86_PUSH;
    default:
      return MOD (self) == 3 ? spoils (RM (self)) : X86_OTHER;
    }
}

static X86Kind
kind_of_0f (const Decoder *self, X86Instruction *instruction, uint64_t next)
{
  uint8_t opcode = self->opcode;

  if (self->is_vector)
    return X86_OTHER;
  if (opcode >= 0x80 && opcode <= 0x8f)
    {
      instruction->target = next + (uint64_t) self->immediate;
      return X86_BRANCH;
    }
  if (opcode == 0x0b || opcode == 0xb9 || opcode == 0xff)
    return X86_RETURN; /* ud */
  if (opcode == 0x1f)
    return X86_PADDING;
  if (opcode == 0x1e && self->is_repeat)
    return X86_OTHER; /* endbr64 */
  /* cmov, imul, movzx, movsx, bsf, bsr: into REG */
  if ((opcode & 0xf0) == 0x40 || opcode == 0xaf || (opcode >= 0xb6 && opcode <= 0xb8) ||
      (opcode >= 0xbc && opcode <= 0xbf))
    return spoils (REG (self));
  if (opcode >= 0xc8)
    return opcode <= 0xcf ? spoils ((opcode & 7u) | (self->rex & REX_B ? 8u : 0u)) : X86_OTHER;
  return X86_OTHER;
}

static X86Kind
kind_of_one (const Decoder *self, X86Instruction *instruction, uint64_t next)
{
  uint8_t opcode = self->opcode;
  uint8_t low = (uint8_t) ((opcode & 7) | (self->rex & REX_B ? 8 : 0));

  /* The eight operations: to rm, or to REG if bit 1 is set; a comparison writes nothing. */
  if (opcode < 0x40 && (opcode & 7) < 4)
    {
      if ((opcode & 0x38) == 0x38)
        return X86_OTHER;
      if ((opcode == 0x31 || opcode == 0x33) && MOD (self) == 3 && REG (self) == X86_BP &&
          RM (self) == X86_BP)
        return X86_ZERO_BP;
      if (opcode & 2)
        return opcode & 1 ? spoils (REG (self)) : X86_OTHER;
      return MOD (self) == 3 && (opcode & 1) ? spoils (RM (self)) : X86_OTHER;
    }
  if (opcode >= 0x50 && opcode <= 0x57)
    {
      instruction->number = low;
      return self->is_narrow ? X86_SPOIL_SP : X86_PUSH;
    }
  if (opcode >= 0x58 && opcode <= 0x5f)
    {
      instruction->number = low;
      return self->is_narrow || low == SP ? X86_SPOIL_SP : X86_POP;
    }
  if (opcode >= 0x70 && opcode <= 0x7f)
    {
      instruction->target = next + (uint64_t) self->immediate;
      return X86_BRANCH;
    }
  if (opcode >= 0x91 && opcode <= 0x97)
    return spoils (low);
  if (opcode >= 0xb8 && opcode <= 0xbf)
    return spoils (low);

  switch (opcode)
    {
    case 0x63: /* movslq */
    case 0x69: /* imul */
    case 0x6b:
      return spoils (REG (self));
    case 0x68:
    case 0x6a:
    case 0x9c: /* pushf */
      instruction->number = X86_NO_REGISTER;
      return X86_PUSH;
    case 0x9d:
      instruction->number = X86_NO_REGISTER;
      return X86_POP;
    case 0x8f:
      instruction->number = X86_NO_REGISTER;
      return MOD (self) == 3 ? X86_SPOIL_SP : X86_POP;
    case 0x81:
    case 0x83:
      return kind_of_arithmetic (self, instruction);
    case 0x87:
      return spoils (REG (self)) != X86_OTHER ? spoils (REG (self))
             : MOD (self) == 3                ? spoils (RM (self))
                                              : X86_OTHER;
    case 0x89:
      if (MOD (self) == 3)
        return kind_of_move (self, RM (self), REG (self));
      return is_whole_bp (self) ? kind_of_store (self, instruction) : X86_OTHER;
    case 0x8b:
      if (MOD (self) == 3)
        return kind_of_move (self, REG (self), RM (self));
      return is_whole_bp (self) ? kind_of_load (self, instruction) : spoils (REG (self));
    case 0x8d:
      return kind_of_lea (self, next, instruction);
    case 0x90:
      return X86_PADDING;
    case 0xc1: /* shifts */
    case 0xd1:
    case 0xd3:
    case 0xc7:
      return MOD (self) == 3 ? spoils (RM (self)) : X86_OTHER;
    case 0xf7: /* test, not, neg, mul, imul, div, idiv */
      return MOD (self) == 3 && (self->modrm >> 3 & 7) >= 2 && (self->modrm >> 3 & 7) <= 3
                 ? spoils (RM (self))
                 : X86_OTHER;
    case 0xc8: /* enter */
      return X86_SPOIL_SP;
    case 0xc9:
      return X86_LEAVE;
    case 0xc2:
    case 0xc3:
    case 0xca:
    case 0xcb:
    case 0xcc: /* int3: between functions */
    case 0xcf:
    case 0xf4: /* hlt */
      return X86_RETURN;
    case 0xe0:
    case 0xe1:
    case 0xe2:
    case 0xe3:
      instruction->target = next + (uint64_t) self->immediate;
      return X86_BRANCH;
    case 0xe8:
      instruction->target = next + (uint64_t) self->immediate;
      return X86_CALL;
    case 0xe9:
    case 0xeb:
      instruction->target = next + (uint64_t) self->immediate;
      return X86_JUMP;
    case 0xff:
      return kind_of_ff (self, instruction);
    default:
      return X86_OTHER;
    }
}

bool
sysprof_x86_decode (const uint8_t *bytes,
                    size_t size,
                    uint64_t address,
                    X86Instruction *instruction)
{
  Decoder decoder = { .bytes = bytes, .size = size < MOST_BYTES ? size : MOST_BYTES };
  uint64_t next;
  uint8_t follows;

  if (!take_prefixes (&decoder) || !take_opcode (&decoder))
    return false;
  follows = what_follows (&decoder);
  if (follows == X || (follows & M && !take_modrm (&decoder)) ||
      !take_immediates (&decoder, follows))
    return false;

  next = address + decoder.at;
  *instruction = (X86Instruction){ .length = (uint8_t) decoder.at };
  instruction->kind = decoder.map == MAP_ONE  ? kind_of_one (&decoder, instruction, next)
                      : decoder.map == MAP_0F ? kind_of_0f (&decoder, instruction, next)
                                              : X86_OTHER;
  return true;
}
