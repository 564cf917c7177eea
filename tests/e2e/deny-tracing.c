// SPDX-License-Identifier: GPL-3.0-or-later

/* deny-tracing COMMAND [ARGUMENT…]: runs it where no program can be attached to a tracepoint, though it can be loaded. */

#include <errno.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

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
  struct sock_fprog program = { sizeof filter / sizeof filter[0], filter };

  if (argc < 2)
    return EXIT_FAILURE;
  if (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
      prctl (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
    {
      perror ("deny-tracing");
      return EXIT_FAILURE;
    }
  execvp (argv[1], argv + 1);
  perror (argv[1]);
  return EXIT_FAILURE;
}
