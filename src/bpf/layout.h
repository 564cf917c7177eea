// SPDX-License-Identifier: GPL-3.0-or-later

/* The memory layout that the walker in the kernel and the recorder share: unwind tables,
 * mappings, processes, and the reasons why a walk ended. Included by C and by BPF programs; a
 * BPF program defines the integer types itself.
 *
 * The recorder writes all of it and has no privileges, so the program in the kernel must not
 * trust any number: it checks each index before use, and a bad row can only end a walk.
 *
 *   file      inode … ──► first, count ──► mapping[first … first + count)   by file offset
 *   process   pid ──► first, count ──► mapping[first … first + count)     sorted by start
 *   mapping   start, end, origin, first_page, n_pages ──►
 *             page[first_page + (address - origin) / 64 KiB]
 *   page      slab, offset ──► a block in one of the slabs                 0 = no rules
 *   block     16-bit rows, sorted; each refers to one of the block's own rules */

#pragma once

#ifndef __bpf__
#  include <stdbool.h>
#  include <stdint.h>
#endif

/* --- a block: the unwind rules of one page of text --- */

/* Pages are aligned to 64 KiB of link-time addresses.
 *
 *   offset  0    u16 first[257]   index of the first row of each 256 bytes;
 *                                 first[256] = number of rows
 *         514    u16 n_rules
 *         516    u32 rule[n_rules]
 *           …    u16 row[]        (address & 255) << 8 | rule index; ascending
 *
 * The rule for an address is that of the last row at or before it. Row 0 is for the first byte
 * of the page. Blocks have the byte order of the machine, are aligned to 4, and never cross a
 * slab. */
#define UNWIND_PAGE_SHIFT     16
#define UNWIND_PAGE_SIZE      (1u << UNWIND_PAGE_SHIFT)
#define UNWIND_BLOCKS         256u /* pieces of 256 bytes in a page */
#define UNWIND_N_RULES_OFFSET 514u
#define UNWIND_RULES_OFFSET   516u
#define UNWIND_MOST_RULES     256u   /* of a block: an index has one byte */
#define UNWIND_MOST_ROWS      65535u /* of a block */

/* Bytes of a block. */
#define UNWIND_BLOCK_SIZE(n_rules, n_rows) \
  ((UNWIND_RULES_OFFSET + 4u * (n_rules) + 2u * (n_rows) + 3u) & ~3u)

/* --- a rule: how to unwind one frame --- */

/* The CFA is the canonical frame address: the value of the stack pointer before the call. It
 * must rise with each frame.
 *
 *   bits  0–3   kind
 *   bits  4–17  offset / 8, unsigned
 *   bits 18–31  slot: where the frame pointer (RBP, X29) of the caller is saved */
#define RULE_KIND(rule)   ((rule) &15u)
#define RULE_OFFSET(rule) (((rule) >> 4 & 0x3fffu) * 8u)
#define RULE_SLOT(rule)   ((rule) >> 18)
#define RULE_MAKE(kind, offset, slot) \
  ((uint32_t) (kind) | (uint32_t) (offset) / 8u << 4 | (uint32_t) (slot) << 18)
#define RULE_MOST_OFFSET (0x3fffu * 8u)

typedef enum
{
  RULE_NONE, /* no rule: use the frame pointer, with checks */
  RULE_END,  /* the outermost frame: this code has no caller */
  RULE_SP,   /* CFA = SP + offset */
  RULE_BP,   /* CFA = FP + offset */
  /* CFA = another register + offset; first frame only. Bits 4–7 register, 8–17 offset / 8 */
  RULE_REG,
  RULE_BP_LOAD, /* CFA = word at FP - offset: a frame with a realigned stack */
  /* CFA = SP + 8, or + 16 if IP & 15 ≥ offset / 8: a stub of the procedure linkage table */
  RULE_PLT,
  RULE_SIGNAL, /* a signal frame: all registers are in it */
  RULE_ESCAPE, /* a rule that this format cannot express */
  RULE_SP_FAR, /* CFA = SP + offset, large. Bits 4–23 offset / 8, 24–31 slot */
  /* CFA = word at SP + offset, + 8: assembly that realigned its stack and saved the old SP */
  RULE_SP_LOAD,
  /* arm64: CFA = SP + offset, return address still in X30; first frame, or after a signal */
  RULE_LR,
  /* as RULE_SP, with the slot of the caller's RBX. Bits 4–13 offset / 8, 14–20 slot, 21–27 slot
   * of RBX */
  RULE_SP_BX,
  RULE_BP_BX, /* as RULE_BP, with the slot of RBX */
  /* CFA = SP + offset, return address in a register; first frame only. Fields as in RULE_REG */
  RULE_RA,
  RULE_GO, /* Go's runtime is on its own stack, its caller on a goroutine's */
  RULE_KINDS,

  /* arm64: CFA = SP + offset, the slot has the return address; the frame pointer is
   * unchanged */
  RULE_SP_LINK = RULE_PLT
} RuleKind;

/* RULE_NONE for a program that switches stacks in unknown ways: a stack that frame pointers
 * find is not reported as complete. */
#define RULE_DOUBT RULE_MAKE (RULE_NONE, 8, 0)

/* On x86-64 the return address is at CFA - 8. On arm64 it arrives in X30, and is saved after
 * the frame pointer: one slot holds both, 16 bytes. */

/* Fields of RULE_REG; the register by its DWARF number. */
#define RULE_REG_NUMBER(rule) ((rule) >> 4 & 15u)
#define RULE_REG_OFFSET(rule) (((rule) >> 8 & 0x3ffu) * 8u)
#define RULE_REG_FIELD(reg, offset) \
  ((uint32_t) (reg) *8u | (uint32_t) (offset) << 4) /* the offset field of RULE_MAKE */
#define RULE_REG_MOST_OFFSET (0x3ffu * 8u)

/* Fields of RULE_SP_FAR. */
#define RULE_FAR_OFFSET(rule) (((rule) >> 4 & 0xfffffu) * 8u)
#define RULE_FAR_SLOT(rule)   ((rule) >> 24)
#define RULE_MAKE_FAR(offset, slot) \
  ((uint32_t) RULE_SP_FAR | (uint32_t) (offset) / 8u << 4 | (uint32_t) (slot) << 24)
#define RULE_FAR_MOST_OFFSET (0xfffffu * 8u)
#define RULE_FAR_MOST_SLOT   253u

/* On arm64 the slot has the position of the saved pair in words above SP, where large frames
 * keep it: */
#define FAR_FROM_CFA   64u  /* or in words below the CFA */
#define FAR_LINK       128u /* only the return address is saved */
#define FAR_IN_LR      255u /* as RULE_LR */
#define FAR_MOST_WORDS 62u

/* Fields of RULE_SP_BX and RULE_BP_BX. RBX gives the CFA of a frame other than the first in few
 * files: in the dynamic loader, for the stub that resolves the first call of each function. The
 * tables of such files say where RBX is saved. */
#define RULE_BX_OFFSET(rule) (((rule) >> 4 & 0x3ffu) * 8u)
#define RULE_BX_SLOT(rule)   ((rule) >> 14 & 127u)
#define RULE_BX_BX(rule)     ((rule) >> 21 & 127u)
#define RULE_MAKE_BX(kind, offset, slot, bx)                                     \
  ((uint32_t) (kind) | (uint32_t) (offset) / 8u << 4 | (uint32_t) (slot) << 14 | \
   (uint32_t) (bx) << 21)
#define RULE_BX_MOST_OFFSET (0x3ffu * 8u)

/* Fields of RULE_GO. Bits 4–5: one of GO_…; 6–9: distance of the current goroutine's pointer
 * below the thread base, / 8; 10–17: a size, / 8; 18–22: offset of the thread's user goroutine
 * in its struct, / 8; 23–31: see RULE_GO_BY_WORD. */
#define GO_CALL   0u /* the goroutine's SP was saved, in a frame of `size` */
#define GO_GROWTH 1u /* its SP and IP were saved */
#define GO_FRAME  2u /* CFA = FP + size, on this stack or another */
#define GO_FOREIGN \
  3u /* between Go and C, which runs on the thread's stack: one of the two below */
#define RULE_GO_MODE(rule)   ((rule) >> 4 & 3u)
#define RULE_GO_BELOW(rule)  (((rule) >> 6 & 15u) * 8u)
#define RULE_GO_SIZE(rule)   (((rule) >> 10 & 255u) * 8u)
#define RULE_GO_OFFSET(rule) (((rule) >> 18 & 31u) * 8u)
#define RULE_MAKE_GO(mode, below, size, offset)                                 \
  ((uint32_t) RULE_GO | (uint32_t) (mode) << 4 | (uint32_t) (below) / 8u << 6 | \
   (uint32_t) (size) / 8u << 10 | (uint32_t) (offset) / 8u << 18)
/* Go has called C: at SP + `size` is the distance of the goroutine's SP below the end of its
 * stack, followed by the goroutine; if the goroutine is 0, the SP itself. */
#define RULE_MAKE_GO_CALLED_C(size) RULE_MAKE_GO (GO_FOREIGN, 0, size, 0)
/* C has called Go: the SP of a frame of `size` on the thread's stack was saved; that frame
 * saves, at SP, the one of the previous call from C. */
#define RULE_MAKE_GO_CALLED_BY_C(below, size) RULE_MAKE_GO (GO_FOREIGN, below, size, 0)
/* The same, and SP equals the saved one. */
#define RULE_MAKE_GO_NOTED(below, size) RULE_MAKE_GO (GO_FOREIGN, below, size, 8)
#define RULE_GO_MOST_BELOW              (14u * 8u)
#define RULE_GO_MOST_SIZE               (255u * 8u)
#define RULE_GO_MOST_OFFSET             (31u * 8u)
/* `below` in a library: the offset of the goroutine's pointer differs in each process, and is
 * in a word that mov word(%rip), %rcx loads. The instruction is `distance` bytes from the
 * address GO_BEFORE_BLOCK bytes before the block of GO_BLOCK bytes that contains the
 * address. */
#define RULE_GO_BY_WORD                       (15u * 8u)
#define RULE_GO_DISTANCE(rule)                ((rule) >> 23)
#define RULE_GO_MAKE_DISTANCE(rule, distance) ((rule) | (uint32_t) (distance) << 23)
#define RULE_GO_MOST_DISTANCE                 511u
#define GO_BLOCK                              256u
#define GO_BEFORE_BLOCK                       128u

/* Slots: the caller's frame pointer is saved at CFA - 8 · slot, or: */
#define SLOT_UNCHANGED 0u      /* still in its register */
#define SLOT_AT_FP     0x3ffeu /* at the address in the frame pointer */
#define SLOT_LOST      0x3fffu /* unknown */
#define SLOT_MOST      0x3ffdu
/* The last two in the 8 bits of RULE_SP_FAR. */
#define SLOT_FAR_AT_FP 254u
#define SLOT_FAR_LOST  255u
/* The last two in the 7 bits of RULE_SP_BX and RULE_BP_BX, for both registers. */
#define SLOT_BX_AT_FP 126u
#define SLOT_BX_LOST  127u
#define SLOT_BX_MOST  125u

/* --- slabs and the page directory --- */

#define UNWIND_SLAB_SIZE  (4u << 20) /* bytes: one array map of one value */
#define UNWIND_MOST_SLABS 64u
#define UNWIND_MOST_PAGES (1u << 18)

/* An entry of the directory. Offset 0 of slab 0 is unused, so that 0 can mean "no rules". */
#define UNWIND_PAGE_SLAB(entry)        ((entry) >> 20)
#define UNWIND_PAGE_OFFSET(entry)      (((entry) &0xfffffu) * 4u)
#define UNWIND_PAGE_MAKE(slab, offset) ((uint32_t) (slab) << 20 | (uint32_t) (offset) / 4u)

/* --- mappings and processes --- */

#define UNWIND_MOST_MAPPINGS 65536u
#define UNWIND_PROCESS_BITS  14
#define UNWIND_PROCESS_SLOTS (1u << UNWIND_PROCESS_BITS)
#define UNWIND_MOST_PROBES   32u /* slots that are probed for one process */

/* An executable mapping. Lists are never changed in place: the recorder writes a new list and
 * then makes the process refer to it. It reuses the memory of the old list a second later. */
typedef struct
{
  uint64_t start;
  uint64_t end;    /* exclusive */
  uint64_t origin; /* the address of the first byte of its first page; may be below `start` */
  uint32_t first_page; /* index into the directory; if n_pages is 0, one of MAPPING_… */
  uint32_t n_pages;
} UnwindMapping;

/* code generated at run time, or a file without unwind rules: frame pointers */
#define MAPPING_WITHOUT_RULES 0u
#define MAPPING_PENDING       1u /* its table is being built */
#define MAPPING_FAILED        2u /* no table could be built: frame pointers, as without rules */

/* A hash table with open addressing from sysprof_unwind_slot(). A search stops at pid 0 and
 * passes over PROCESS_GONE. The list is stored with one write of 8 bytes. */
typedef struct
{
  uint32_t pid;        /* thread group */
  uint32_t generation; /* changes with each program that the process executes */
  uint64_t list;       /* low half: first mapping; high half: number of mappings */
} UnwindProcess;

#define PROCESS_GONE UINT32_C (0xffffffff)

#define PROCESS_LIST(first, count) ((uint64_t) (first) | (uint64_t) (count) << 32)
#define PROCESS_LIST_FIRST(list)   ((uint32_t) (list))
#define PROCESS_LIST_COUNT(list)   ((uint32_t) ((list) >> 32))

/* If the program in the kernel can find the mapped file in the kernel's own data, it does not
 * need the mappings of processes. It only needs the tables of each file. The segments of a file
 * are mappings with file offsets (bytes) instead of addresses.
 *
 * A hash table with open addressing from sysprof_unwind_file_slot(). A search stops at inode 0
 * and passes over FILE_GONE. */
typedef struct
{
  uint64_t inode;
  uint64_t size;       /* bytes; FILE_ANY_SIZE = any */
  uint32_t device;     /* UNWIND_DEVICE() */
  uint32_t generation; /* of the inode; 0 = any */
  /* as in UnwindProcess; if its count is 0, its first is one of MAPPING_… */
  uint64_t list;
} UnwindFileSlot;

/* The identity of a file. The walker sends it when it finds a file without a table. */
typedef struct
{
  uint64_t inode;
  uint64_t size;       /* bytes, or FILE_ANY_SIZE */
  uint32_t device;     /* UNWIND_DEVICE() */
  uint32_t generation; /* of the inode; 0 = unknown */
} UnwindFileKey;

#define UNWIND_FILE_BITS      14
#define UNWIND_FILE_SLOTS     (1u << UNWIND_FILE_BITS)
#define UNWIND_MOST_SEGMENTS  16u /* executable segments of a file: most files have one */
#define UNWIND_DEVICE(mj, mi) ((uint32_t) (mj) << 20 | (uint32_t) (mi))
#define FILE_GONE             UINT64_MAX
#define FILE_ANY_SIZE         UINT64_MAX
/* The vDSO, which the kernel maps into every process. */
#define FILE_VDSO_INODE  UINT64_C (1)
#define FILE_VDSO_DEVICE UINT32_C (0xffffffff)

/* Everything that is looked up by index, as one mapped value. */
typedef struct
{
  /* changes with each change of a file, and before pages are reused: cached results of walks
   * belong to one version */
  uint32_t version;
  /* number of drains of the rings: each renews the `copy_budget` of each CPU */
  uint32_t n_drains;
  /* bytes of stacks that a CPU may copy into its ring between two drains */
  uint32_t copy_budget;
  uint32_t padding;
  UnwindFileSlot file[UNWIND_FILE_SLOTS];
  UnwindProcess process[UNWIND_PROCESS_SLOTS];
  UnwindMapping mapping[UNWIND_MOST_MAPPINGS];
  uint32_t page[UNWIND_MOST_PAGES];
} UnwindIndex;

static inline uint32_t
sysprof_unwind_slot (uint32_t pid)
{
  return (pid * 0x9e3779b1u) >> (32 - UNWIND_PROCESS_BITS);
}

static inline uint32_t
sysprof_unwind_file_slot (uint64_t inode, uint32_t device)
{
  uint32_t mixed = (uint32_t) inode ^ (uint32_t) (inode >> 32) ^ device * 0x85ebca6bu;

  return (mixed * 0x9e3779b1u) >> (32 - UNWIND_FILE_BITS);
}

/* --- why a walk ended --- */

/* The order is part of the capture format: append only. */
typedef enum
{
  WALK_RUNNING, /* has not ended: the initial value */

  /* Complete stacks. */
  WALK_END,  /* a rule marks the outermost frame */
  WALK_ROOT, /* code without rules, with the frame pointer 0 that a process starts with */
  WALK_KERNEL_THREAD, /* there is no user stack */
  WALK_IN_EXEC,       /* exec: the new program has no stack yet */

  /* Can be continued later, from a copy of the rest of the stack. */
  WALK_NO_PROCESS, /* its mappings are not published yet */
  WALK_NO_MAPPING, /* the address is in no published mapping */
  WALK_NO_TABLE,   /* the mapping's table is being built */
  WALK_ESCAPE,     /* the table format cannot express the rule */

  /* Truncated stacks. */
  WALK_BAD_FP,        /* no rule, and the frame pointer is invalid */
  WALK_FAULT,         /* stack memory that cannot be read */
  WALK_SP_NOT_RISING, /* the caller's frame would be below its callee's */
  WALK_ZERO,          /* a return address of 0 */
  WALK_DEPTH,         /* more frames than a record holds */
  WALK_COMPAT,        /* a 32-bit process without frame pointers */
  /* not walked: the program was still being loaded, and the kernel followed frame pointers */
  WALK_NOT_YET,
  WALK_OVERLOAD,     /* copies of stacks came faster than they could be unwound */
  WALK_TABLE_FAILED, /* invalid frame pointer, and no table could be built for the file */
  WALK_REASONS
} WalkReason;

/* What a walk used, in addition to its reason. */
#define WALK_USED_FP 1u /* at least one step by frame pointer, checked */
#define WALK_USED_FP_FIRST \
  2u /* the first step was one: it may skip the caller of a leaf function or of a prologue */
#define WALK_USED_SIGNAL 4u  /* passed at least one signal frame */
#define WALK_USED_COMPAT 16u /* a 32-bit process: only frame pointers */
#define WALK_USED_DOUBT  32u /* code that may have switched stacks: callers may be missing */
#define WALK_HAS_REST    8u  /* the record continues with a WalkRest and a copy of the stack */

/* --- records of walks --- */

/* Each CPU has two output events, in the map of output events at WALK_OUTPUT_INDEX(). */
typedef enum
{
  WALK_OUTPUT_STACKS,        /* a WalkRecord for each sample */
  WALK_OUTPUT_UNKNOWN_FILES, /* an UnwindFileKey; the record's process has mapped the file */
  WALK_OUTPUTS
} WalkOutput;

#define WALK_OUTPUT_INDEX(cpu, output) ((uint32_t) (cpu) *WALK_OUTPUTS + (uint32_t) (output))

/* The walker reports the same file of the same process again after this time (ns), then after
 * twice that time, and so on. */
#define WALK_LEAST_REPORT_PAUSE UINT64_C (1000000)
#define WALK_MOST_REPORT_PAUSE  UINT64_C (1000000000)

/* The raw part of a perf record, after its 32-bit size; innermost address first. A record has
 * at most 64 KiB, including the kernel's part of the stack. */
#define WALK_MOST_ADDRESSES 8000u

typedef struct
{
  uint8_t reason; /* WalkReason */
  uint8_t used;   /* WALK_USED_… */
  uint16_t n;
  uint64_t address[WALK_MOST_ADDRESSES];
} __attribute__ ((packed, aligned (4))) WalkRecord;

#define WALK_RECORD_SIZE(n) (4u + 8u * (n))

/* Follows the addresses if the recorder can continue the walk: the registers, and a copy of the
 * rest of the stack as far as it can be read. */
typedef struct
{
  uint64_t ip; /* of the next frame, which is the last of the addresses */
  uint64_t sp;
  uint64_t fp;
  uint64_t lr;            /* arm64 */
  uint32_t flags;         /* WALK_REST_… */
  uint32_t size;          /* of the copy, which begins at `sp` */
  uint64_t registers[16]; /* the first ones by DWARF number */
} WalkRest;

#define WALK_REST_IS_EXACT      1u
#define WALK_REST_HAS_REGISTERS 2u /* `registers` and `lr` are those of this frame */
#define WALK_REST_HAS_LOST_SP   4u /* arm64: the true SP is unknown; `sp` is a lower limit */

#define WALK_REST_SIZE 32768u /* of a copy, at most */
/* with more addresses the record has no room for a copy */
#define WALK_REST_MOST_ADDRESSES 3600u
/* The copy of the first thread's stack ends this many bytes above its start: what follows are
 * arguments and the environment. */
#define WALK_REST_ABOVE_START 64u
