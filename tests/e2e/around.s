# SPDX-License-Identifier: GPL-3.0-or-later
# void around (size_t size, void (*func) (void)): calls it with `size` bytes of stack in between. Only its
# call-frame information says how to find its caller. This is in .debug_frame, which only debuggers read.
        .cfi_sections .debug_frame
        .text
        .globl  around
        .type   around, @function
around:
        .cfi_startproc
        push    %rbx
        .cfi_def_cfa_offset 16
        .cfi_offset %rbx, -16
        mov     %rsp, %rbx
        .cfi_def_cfa_register %rbx
        sub     %rdi, %rsp
        and     $-64, %rsp
        call    *%rsi
        mov     %rbx, %rsp
        .cfi_def_cfa_register %rsp
        pop     %rbx
        .cfi_def_cfa_offset 8
        ret
        .cfi_endproc
        .size   around, . - around
        .section .note.GNU-stack, "", @progbits
