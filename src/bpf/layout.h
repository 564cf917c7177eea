// SPDX-License-Identifier: GPL-3.0-or-later

/* What the walker in the kernel and the two programs outside agree on, byte for byte: unwind tables, mappings,
 * processes, and why a walk ended. Included by C and by BPF programs alike; a BPF program brings the integer types
 * (vmlinux.h) itself.
 *
 * Everything here is written by the recorder, who has no rights, and read by the program in the kernel, who takes each
 * number as possibly wrong: an index is checked before use, a bad row ends a walk and nothing more.
 *
 *   file      inode … ──► first, count ──► mapping[first … first + count)   places in the file instead of addresses
 *   process   pid ──► first, count ──► mapping[first … first + count)     sorted by start
 *   mapping   start, end, origin, first_page, n_pages ──► page[first_page + (address - origin) / 64 KiB]
 *   page      slab, offset ──► a block in one of the slabs                 0 = no rules
 *   block     16-bit rows, sorted; each names one of the block's own rules
 */

#pragma once

#ifndef __bpf__
#  include <stdbool.h>
#  include <stdint.h>
#endif

/* --- a block: the rules for one page of text --- */

/* Pages are cut at multiples of 64 KiB of link-time addresses.
 *
 *   offset  0    u16 first[257]   row index where each 256 bytes begin; first[256] = how many rows
 *         514    u16 n_rules
 *         516    u32 rule[n_rules]
 *           …    u16 row[]        (address & 255) << 8 | rule index; ascending
 *
 * The last row at or before an address is in force there. Row 0 stands at the page's first byte, so there is one.
 * In the byte order of the machine; 4-aligned; never crosses a slab. */
#define UNWIND_PAGE_SHIFT     16
#define UNWIND_PAGE_SIZE      (1u << UNWIND_PAGE_SHIFT)
#define UNWIND_BLOCKS         256u /* of 256 bytes in a page */
#define UNWIND_N_RULES_OFFSET 514u
#define UNWIND_RULES_OFFSET   516u
#define UNWIND_MOST_RULES     256u   /* of a block: what a byte can name */
#define UNWIND_MOST_ROWS      65535u /* of a block */

/* Bytes of a block. */
#define UNWIND_BLOCK_SIZE(n_rules, n_rows) \
  ((UNWIND_RULES_OFFSET + 4u * (n_rules) + 2u * (n_rows) + 3u) & ~3u)

/* --- a rule: how to get from one frame to its caller --- */

/* CFA: the canonical frame address, what the stack pointer was before the call. It must rise with each frame.
 *
 *   bits  0–3   kind
 *   bits  4–17  offset / 8, no sign
 *   bits 18–31  slot: where the frame pointer (RBP, X29) of the caller is
 */
#define RULE_KIND(rule)   ((rule) &15u)
#define RULE_OFFSET(rule) (((rule) >> 4 & 0x3fffu) * 8u)
#define RULE_SLOT(rule)   ((rule) >> 18)
#define RULE_MAKE(kind, offset, slot) \
  ((uint32_t) (kind) | (uint32_t) (offset) / 8u << 4 | (uint32_t) (slot) << 18)
#define RULE_MOST_OFFSET (0x3fffu * 8u)

typedef enum
{
  RULE_NONE, /* nothing is known: frame pointer, checked */
  RULE_END,  /* the outermost frame: nobody called this code */
  RULE_SP,   /* CFA = SP + offset */
  RULE_BP,   /* CFA = FP + offset */
  RULE_REG, /* CFA = another register + offset; first frame only. Bits 4–7 register, 8–17 offset / 8 */
  RULE_BP_LOAD, /* CFA = word at FP - offset: a frame that aligned its stack */
  RULE_PLT, /* CFA = SP + 8, and 8 more where IP & 15 ≥ offset / 8: a stub of the procedure linkage table */
  RULE_SIGNAL, /* the kernel called this: all registers are in the frame */
  RULE_ESCAPE, /* a rule that cannot be said here */
  RULE_SP_FAR, /* CFA = SP + offset, large. Bits 4–23 offset / 8, 24–31 slot */
  RULE_SP_LOAD, /* CFA = word at SP + offset, + 8: assembly that aligned its stack and kept the old SP there */
  RULE_LR, /* arm64: CFA = SP + offset, return address still in X30; first frame, or after a signal */
  RULE_SP_BX, /* as RULE_SP, and says where the caller's RBX is. Bits 4–13 offset / 8, 14–20 slot, 21–27 slot of RBX */
  RULE_BP_BX, /* as RULE_BP, the same */
  RULE_RA, /* CFA = SP + offset, return address in a register; first frame only. Fields as of RULE_REG */
  RULE_GO, /* Go's runtime is on its own stack, and what called it on a goroutine's */
  RULE_KINDS,

  RULE_SP_LINK =
      RULE_PLT, /* arm64: CFA = SP + offset, the slot has the return address; nobody has touched the frame pointer */
  RULE_HANDOVER = RULE_LR /* x86-64: an exception is handed to who catches it */
} RuleKind;

/* RULE_NONE of a program that changes stacks where nobody knows: what is found by frame pointers is not called whole. */
#define RULE_DOUBT RULE_MAKE (RULE_NONE, 8, 0)

/* On x86-64 the return address is at CFA - 8. On arm64 it comes in X30, and is saved behind the frame pointer: one slot has
 * both, 16 bytes. */

/* Of RULE_REG; the register by its DWARF number. */
#define RULE_REG_NUMBER(rule) ((rule) >> 4 & 15u)
#define RULE_REG_OFFSET(rule) (((rule) >> 8 & 0x3ffu) * 8u)
#define RULE_REG_FIELD(reg, offset) \
  ((uint32_t) (reg) *8u | (uint32_t) (offset) << 4) /* as offset of RULE_MAKE */
#define RULE_REG_MOST_OFFSET (0x3ffu * 8u)

/* Of RULE_SP_FAR. */
#define RULE_FAR_OFFSET(rule) (((rule) >> 4 & 0xfffffu) * 8u)
#define RULE_FAR_SLOT(rule)   ((rule) >> 24)
#define RULE_MAKE_FAR(offset, slot) \
  ((uint32_t) RULE_SP_FAR | (uint32_t) (offset) / 8u << 4 | (uint32_t) (slot) << 24)
#define RULE_FAR_MOST_OFFSET (0xfffffu * 8u)
#define RULE_FAR_MOST_SLOT   253u

/* On arm64 its slot says where the pair is, in words up from SP, which is where large frames have it: */
#define FAR_FROM_CFA   64u  /* or down from the CFA */
#define FAR_LINK       128u /* only the return address is there */
#define FAR_IN_LR      255u /* as of RULE_LR */
#define FAR_MOST_WORDS 62u

/* Of RULE_SP_BX and RULE_BP_BX. Few files find the CFA of a frame that is not the first by RBX: the dynamic loader, in the stub
 * through which the first call of each function goes. Their tables say where RBX is. */
#define RULE_BX_OFFSET(rule) (((rule) >> 4 & 0x3ffu) * 8u)
#define RULE_BX_SLOT(rule)   ((rule) >> 14 & 127u)
#define RULE_BX_BX(rule)     ((rule) >> 21 & 127u)
#define RULE_MAKE_BX(kind, offset, slot, bx)                                     \
  ((uint32_t) (kind) | (uint32_t) (offset) / 8u << 4 | (uint32_t) (slot) << 14 | \
   (uint32_t) (bx) << 21)
#define RULE_BX_MOST_OFFSET (0x3ffu * 8u)

/* Of RULE_GO. Bits 4–5: one of GO_…; 6–9: how far below the thread's base its goroutine is noted, / 8; 10–17: a size, / 8;
 * 18–22: where a thread notes the goroutine that it works for, / 8; 23–31: see RULE_GO_BY_WORD. */
#define GO_CALL   0u /* the goroutine's SP was noted, in a frame of `size` */
#define GO_GROWTH 1u /* its SP and IP were */
#define GO_FRAME  2u /* CFA = FP + size, on another stack or on this one */
#define GO_FOREIGN \
  3u /* between Go and C, which has the stack of the thread: one of the two below */
#define RULE_GO_MODE(rule)  ((rule) >> 4 & 3u)
#define RULE_GO_BELOW(rule) (((rule) >> 6 & 15u) * 8u)
#define RULE_GO_SIZE(rule)  (((rule) >> 10 & 255u) * 8u)
#define RULE_GO_PLACE(rule) (((rule) >> 18 & 31u) * 8u)
#define RULE_MAKE_GO(mode, below, size, place)                                  \
  ((uint32_t) RULE_GO | (uint32_t) (mode) << 4 | (uint32_t) (below) / 8u << 6 | \
   (uint32_t) (size) / 8u << 10 | (uint32_t) (place) / 8u << 18)
/* C was called: at SP + `size` is how far the goroutine's SP was below the end of its stack, and behind it the goroutine; if that is 0, the SP
 * itself. */
#define RULE_MAKE_GO_CALLED_C(size) RULE_MAKE_GO (GO_FOREIGN, 0, size, 0)
/* C has called: the SP of a frame of `size` on the thread's stack was noted, and in that frame at SP the one of the call from C before. */
#define RULE_MAKE_GO_CALLED_BY_C(below, size) RULE_MAKE_GO (GO_FOREIGN, below, size, 0)
/* The same, and SP is still, or again, the one that was noted. */
#define RULE_MAKE_GO_NOTED(below, size) RULE_MAKE_GO (GO_FOREIGN, below, size, 8)
#define RULE_GO_MOST_BELOW              (14u * 8u)
#define RULE_GO_MOST_SIZE               (255u * 8u)
#define RULE_GO_MOST_PLACE              (31u * 8u)
/* As `below`, in a library: where each process has its goroutine noted, a word says that mov word(%rip), %rcx takes. That
 * instruction is `distance` behind the place that is so far before the block of 256 bytes, in which the rule is in force. */
#define RULE_GO_BY_WORD                       (15u * 8u)
#define RULE_GO_DISTANCE(rule)                ((rule) >> 23)
#define RULE_GO_MAKE_DISTANCE(rule, distance) ((rule) | (uint32_t) (distance) << 23)
#define RULE_GO_MOST_DISTANCE                 511u
#define GO_BLOCK                              256u
#define GO_BEFORE_BLOCK                       128u

/* Of RULE_HANDOVER: where libgcc leaves its own frame for that of who catches an exception, having written the registers of the one
 * into the frame of the other. Bits 4–5: one of HANDOVER_…; 6–9: a register, by its DWARF number; 10–31: an offset / 8. */
#define HANDOVER_CONTEXT             0u /* who catches it is described at FP - offset */
#define HANDOVER_SLOT                1u /* a register points to where IP is, and SP will be behind it */
#define HANDOVER_TOP                 2u /* IP is on top of the stack */
#define HANDOVER_JUMP                3u /* IP is in a register */
#define RULE_HANDOVER_MODE(rule)     ((rule) >> 4 & 3u)
#define RULE_HANDOVER_REGISTER(rule) ((rule) >> 6 & 15u)
#define RULE_HANDOVER_OFFSET(rule)   (((rule) >> 10) * 8u)
#define RULE_MAKE_HANDOVER(mode, number, offset)                                  \
  ((uint32_t) RULE_HANDOVER | (uint32_t) (mode) << 4 | (uint32_t) (number) << 6 | \
   (uint32_t) (offset) / 8u << 10)
#define RULE_HANDOVER_MOST_OFFSET 8192u /* bytes: such a frame has a thousand */

/* Slots: the caller's frame pointer is at CFA - 8 · slot, or: */
#define SLOT_UNCHANGED 0u      /* nobody has touched it */
#define SLOT_AT_FP     0x3ffeu /* at the address in the frame pointer itself */
#define SLOT_LOST      0x3fffu /* not known */
#define SLOT_MOST      0x3ffdu
/* The last two in the 8 bits of RULE_SP_FAR. */
#define SLOT_FAR_AT_FP 254u
#define SLOT_FAR_LOST  255u
/* And in the 7 bits of RULE_SP_BX and RULE_BP_BX, for both registers. */
#define SLOT_BX_AT_FP 126u
#define SLOT_BX_LOST  127u
#define SLOT_BX_MOST  125u

/* --- slabs and the page directory --- */

#define UNWIND_SLAB_SIZE  (4u << 20) /* bytes: one array map of one value */
#define UNWIND_MOST_SLABS 64u
#define UNWIND_MOST_PAGES (1u << 18)

/* An entry of the directory. Offset 0 of slab 0 stays free, so that 0 can say "no rules". */
#define UNWIND_PAGE_SLAB(entry)        ((entry) >> 20)
#define UNWIND_PAGE_OFFSET(entry)      (((entry) &0xfffffu) * 4u)
#define UNWIND_PAGE_MAKE(slab, offset) ((uint32_t) (slab) << 20 | (uint32_t) (offset) / 4u)

/* --- mappings and processes --- */

#define UNWIND_MOST_MAPPINGS 65536u
#define UNWIND_PROCESS_BITS  14
#define UNWIND_PROCESS_SLOTS (1u << UNWIND_PROCESS_BITS)
#define UNWIND_MOST_PROBES   32u /* slots that are looked at for one process */

/* An executable mapping. Lists are never changed in place: a new list is written beside, then the process refers to
 * it; what the old one occupied is used again after a second. */
typedef struct
{
  uint64_t start;
  uint64_t end; /* first address behind */
  uint64_t
      origin; /* the address at which the first of its pages begins; may lie before `start` */
  uint32_t first_page; /* in the directory; where n_pages is 0, one of MAPPING_… */
  uint32_t n_pages;
} UnwindMapping;

#define MAPPING_WITHOUT_RULES \
  0u                       /* code made at run time, files without rules: frame pointers */
#define MAPPING_PENDING 1u /* its table is being built */
#define MAPPING_FAILED  2u /* there could be no table: frame pointers, as without rules */

/* Open addressing from sysprof_unwind_slot(); a reader stops at pid 0, and passes over PROCESS_GONE. The list is
 * stored with one write of 8 bytes. */
typedef struct
{
  uint32_t pid;        /* thread group */
  uint32_t generation; /* another one for every program that a process executes */
  uint64_t list;       /* low half: first mapping; high half: how many */
} UnwindProcess;

#define PROCESS_GONE UINT32_C (0xffffffff)

#define PROCESS_LIST(first, count) ((uint64_t) (first) | (uint64_t) (count) << 32)
#define PROCESS_LIST_FIRST(list)   ((uint32_t) (list))
#define PROCESS_LIST_COUNT(list)   ((uint32_t) ((list) >> 32))

/* Where the program in the kernel can ask the kernel which file is mapped where, it needs no lists of processes: only which
 * file has which tables. Their segments are mappings that say places in the file, in bytes, for addresses.
 *
 * Open addressing from sysprof_unwind_file_slot(); a reader stops at inode 0, and passes over FILE_GONE. */
typedef struct
{
  uint64_t inode;
  uint64_t size;       /* bytes; FILE_ANY_SIZE = whatever it has */
  uint32_t device;     /* UNWIND_DEVICE() */
  uint32_t generation; /* of the inode; 0 = whatever it has */
  uint64_t list;       /* as of processes; without a count, its first is one of MAPPING_… */
} UnwindFileSlot;

/* A file as the kernel knows it. The walker sends it when it meets a file without a table. */
typedef struct
{
  uint64_t inode;
  uint64_t size;       /* bytes, or FILE_ANY_SIZE */
  uint32_t device;     /* UNWIND_DEVICE() */
  uint32_t generation; /* of the inode; 0 = not known */
} UnwindFileKey;

#define UNWIND_FILE_BITS      14
#define UNWIND_FILE_SLOTS     (1u << UNWIND_FILE_BITS)
#define UNWIND_MOST_SEGMENTS  16u /* of a file that are executable: most have one */
#define UNWIND_DEVICE(mj, mi) ((uint32_t) (mj) << 20 | (uint32_t) (mi))
#define FILE_GONE             UINT64_MAX
#define FILE_ANY_SIZE         UINT64_MAX
/* The kernel's own code in every process. */
#define FILE_VDSO_INODE  UINT64_C (1)
#define FILE_VDSO_DEVICE UINT32_C (0xffffffff)

/* All that is looked up by number, as one mapped value. */
typedef struct
{
  uint32_t
      version; /* another one after each change of a file, and after pages were taken back: what walks remember is of one */
  uint32_t n_drains; /* of the rings: each drain renews the `copy_budget` of each CPU */
  uint32_t
      copy_budget; /* bytes of stacks that a CPU may copy into its ring until that is drained */
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

/* The order is part of the capture: append. */
typedef enum
{
  WALK_RUNNING, /* not ended: the first value a walk has */

  /* Whole. */
  WALK_END,  /* a rule says that nobody called this code */
  WALK_ROOT, /* code without rules and without a frame pointer, where a process begins */
  WALK_KERNEL_THREAD, /* there is no user stack */
  WALK_IN_EXEC,       /* there is none yet */

  /* Can be finished later, from a copy of the rest of the stack. */
  WALK_NO_PROCESS, /* its mappings are not known yet */
  WALK_NO_MAPPING, /* in no mapping that is known */
  WALK_NO_TABLE,   /* the mapping's table is being built */
  WALK_ESCAPE,     /* the rule cannot be said in a table */

  /* Broken. */
  WALK_BAD_FP,        /* no rule, and the frame pointer leads nowhere */
  WALK_FAULT,         /* stack memory that is not there */
  WALK_SP_NOT_RISING, /* a frame that lies below the one it called */
  WALK_ZERO,          /* a return address of 0 */
  WALK_DEPTH,         /* more frames than a record holds */
  WALK_COMPAT,        /* a 32-bit process without frame pointers */
  WALK_NOT_YET, /* not walked: the program was still being loaded, and the kernel followed frame pointers */
  WALK_OVERLOAD,     /* copies of stacks came faster than they could be walked */
  WALK_TABLE_FAILED, /* no frame pointer, and no table of the file could be made */
  WALK_REASONS
} WalkReason;

/* What a walk went through, beside its end. */
#define WALK_USED_FP 1u /* at least one step by frame pointer, checked */
#define WALK_USED_FP_FIRST \
  2u /* the first step was one: it can miss the caller of a leaf or of a prologue */
#define WALK_USED_SIGNAL 4u  /* crossed at least one signal frame */
#define WALK_USED_COMPAT 16u /* a 32-bit process: by frame pointers alone */
#define WALK_USED_DOUBT  32u /* code that may have changed stacks: callers may be missing */
#define WALK_HAS_REST    8u  /* the record goes on: a WalkRest, and a copy */

/* --- what is sent of a walk --- */

/* Each CPU has two output events, in the map of output events at WALK_OUTPUT_INDEX(). */
typedef enum
{
  WALK_OUTPUT_STACKS,        /* a WalkRecord for each sample */
  WALK_OUTPUT_UNKNOWN_FILES, /* an UnwindFileKey; the record's process has mapped the file */
  WALK_OUTPUTS
} WalkOutput;

#define WALK_OUTPUT_INDEX(cpu, output) ((uint32_t) (cpu) *WALK_OUTPUTS + (uint32_t) (output))

/* The walker reports the same file of the same process again after this time (ns), then after twice the time, and so on. */
#define WALK_LEAST_REPORT_PAUSE UINT64_C (1000000)
#define WALK_MOST_REPORT_PAUSE  UINT64_C (1000000000)

/* The raw part of a record, behind its 32-bit size: innermost address first. A record has at most 64 KiB, of which the
 * kernel's part of the stack needs some. */
#define WALK_MOST_ADDRESSES 8000u

typedef struct
{
  uint8_t reason; /* WalkReason */
  uint8_t used;   /* WALK_USED_… */
  uint16_t n;
  uint64_t address[WALK_MOST_ADDRESSES];
} __attribute__ ((packed, aligned (4))) WalkRecord;

#define WALK_RECORD_SIZE(n) (4u + 8u * (n))

/* Behind the addresses, where a walk ended that can be finished outside: how to go on, and a copy of the rest of the
 * stack as far as it is there. */
typedef struct
{
  uint64_t ip; /* of the frame that is next, the last of the addresses */
  uint64_t sp;
  uint64_t fp;
  uint64_t lr;            /* arm64 */
  uint32_t flags;         /* WALK_REST_… */
  uint32_t size;          /* of the copy, which begins at `sp` */
  uint64_t registers[16]; /* by DWARF number, the first ones */
} WalkRest;

#define WALK_REST_IS_EXACT      1u
#define WALK_REST_HAS_REGISTERS 2u /* they are those of this frame, `lr` as well */
#define WALK_REST_HAS_LOST_SP   4u /* arm64: `sp` lies somewhere in the frame before */

#define WALK_REST_SIZE           32768u /* of a copy, at most */
#define WALK_REST_MOST_ADDRESSES 3600u /* found before: with more there is no room for a copy */
/* Of the first thread's stack nothing is copied that lies farther above its beginning: arguments and environment. */
#define WALK_REST_ABOVE_START 64u
