// SPDX-License-Identifier: GPL-3.0-or-later

/* deny-tracing COMMAND [ARGUMENT…]: runs it where no program can be attached to a tracepoint, though it can be loaded. */

#include "deny.h"

#include <linux/bpf.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#  define LOW_HALF 0
#else
#  define LOW_HALF 4
#endif

int
main (int argc, char **argv)
{
  struct sock_filter filter[] = {
    BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data, nr)),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 0, 3),
    BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data, args[0]) + LOW_HALF),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, BPF_RAW_TRACEPOINT_OPEN, 0, 1),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };

  return deny (filter, DENY_LENGTH (filter), argc, argv);
}
