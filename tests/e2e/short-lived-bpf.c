// SPDX-License-Identifier: GPL-3.0-or-later

/* Loads two BPF programs one after the other, lets each use this much CPU time, and unloads it.
 * Prints for each the name that the kernel gives it, then sleeps a little, so that a recording
 * continues without them. They have the same size, so that the second may get the address of
 * the first. Exits with 77 if the kernel does not run such programs.
 *
 * usage: short-lived-bpf MILLISECONDS */

#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define N_STEPS \
  2000 /* instructions in a row: most samples fall into the program, not around it */
#define N_REPEATS 2000

static int
bpf (int command, union bpf_attr *attr)
{
  return (int) syscall (SYS_bpf, command, attr, sizeof *attr);
}

static int
load (const char *name)
{
  static struct bpf_insn code[N_STEPS + 2];
  union bpf_attr attr = { .prog_type = BPF_PROG_TYPE_SOCKET_FILTER };

  code[0] = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 1 };
  for (unsigned i = 1; i <= N_STEPS; i++)
    code[i] = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MUL | BPF_K, .imm = 3 };
  code[N_STEPS + 1] = (struct bpf_insn){ .code = BPF_JMP | BPF_EXIT };
  attr.insns = (uintptr_t) code;
  attr.insn_cnt = N_STEPS + 2;
  attr.license = (uintptr_t) "GPL";
  snprintf (attr.prog_name, sizeof attr.prog_name, "%s", name);
  return bpf (BPF_PROG_LOAD, &attr);
}

static int64_t
used_msec (void)
{
  struct timespec now;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec * INT64_C (1000) + now.tv_nsec / 1000000;
}

/* 0, or the status to end with. */
static int
run (const char *name, int64_t msec)
{
  static uint8_t packet[64];
  struct bpf_prog_info info = { 0 };
  union bpf_attr ask = { 0 };
  int64_t end = used_msec () + msec;
  int fd = load (name);

  if (fd < 0)
    return 77;
  ask.info.bpf_fd = (uint32_t) fd;
  ask.info.info_len = sizeof info;
  ask.info.info = (uintptr_t) &info;
  if (bpf (BPF_OBJ_GET_INFO_BY_FD, &ask) != 0 || info.jited_prog_len == 0)
    return 77;
  while (used_msec () < end)
    {
      union bpf_attr test = { 0 };

      test.test.prog_fd = (uint32_t) fd;
      test.test.data_in = (uintptr_t) packet;
      test.test.data_size_in = sizeof packet;
      test.test.repeat = N_REPEATS;
      if (bpf (BPF_PROG_TEST_RUN, &test) != 0)
        return 77;
    }
  printf ("bpf_prog_");
  for (unsigned i = 0; i < sizeof info.tag; i++)
    printf ("%02x", info.tag[i]);
  printf ("_%s\n", name);
  fflush (stdout);
  close (fd);
  return 0;
}

int
main (int argc, char **argv)
{
  int64_t msec = argc > 1 ? atoi (argv[1]) : 300;
  int status = run ("first_to_pass", msec);

  usleep (100000); /* until the kernel has let it go */
  if (status == 0)
    status = run ("second_to_pass", msec);
  usleep (300000);
  return status;
}
