// SPDX-License-Identifier: GPL-3.0-or-later

/* deny-perf COMMAND [ARGUMENT…]: runs it where perf_event_open always answers EACCES, as in many containers. */

#include "deny.h"

int
main (int argc, char **argv)
{
  struct sock_filter filter[] = {
    BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data, nr)),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };

  return deny (filter, DENY_LENGTH (filter), argc, argv);
}
