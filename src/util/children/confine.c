// SPDX-License-Identifier: GPL-3.0-or-later

/* Removes the privileges of a sandboxed child: groups and user, resource limits, and all system
 * calls but a dozen.
 *
 * The remaining system calls can use the descriptors that the child has, allocate and free
 * memory that is not executable, and exit. Any other system call kills the child. */

#include "util/children/confined-child.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOBODY 65534

#define MOST_MEMORY      (UINT64_C (4) << 30) /* bytes of address space */
#define MOST_CPU_TIME    60                   /* seconds, for all files of one child */
#define MOST_DESCRIPTORS 16

#if defined(__x86_64__)
#  define OUR_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#  define OUR_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#  define HAS_SHADOW_MEMORY 1
#elif defined(__has_feature)
#  if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#    define HAS_SHADOW_MEMORY 1
#  endif
#endif
#ifndef HAS_SHADOW_MEMORY
#  define HAS_SHADOW_MEMORY 0 /* a sanitizer maps terabytes of address space */
#endif

static bool
limit (int resource, uint64_t value)
{
  struct rlimit both = { value, value };

  return setrlimit ((__rlimit_resource_t) resource, &both) == 0;
}

static bool
set_limits (void)
{
  return limit (RLIMIT_CORE, 0) && limit (RLIMIT_FSIZE, 0) &&
         limit (RLIMIT_NOFILE, MOST_DESCRIPTORS) && limit (RLIMIT_CPU, MOST_CPU_TIME) &&
         (HAS_SHADOW_MEMORY || limit (RLIMIT_AS, MOST_MEMORY));
}

static bool
drop_capabilities (void)
{
  struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
  struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

  return syscall (SYS_capset, &header, none) == 0;
}

/* In a user namespace that maps only root there is no other user. Capabilities are dropped in
 * any case. */
static bool
become_nobody (void)
{
  if (geteuid () == 0)
    {
      if (setgroups (0, NULL) != 0 && errno != EPERM)
        return false;
      if (setresgid (NOBODY, NOBODY, NOBODY) != 0 && errno != EINVAL)
        return false;
      if (setresuid (NOBODY, NOBODY, NOBODY) != 0 && errno != EINVAL)
        return false;
    }

  return drop_capabilities ();
}

#ifdef OUR_ARCHITECTURE
#  define LOAD(field)    BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data, field))
#  define RETURN(action) BPF_STMT (BPF_RET | BPF_K, action)
#  define UNLESS(value, n) \
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, value, 0, n) /* skip n instructions if it differs */
#  define IF_BIT(value, n) BPF_JUMP (BPF_JMP | BPF_JSET | BPF_K, value, n, 0)
#  define UNLESS_BIT(v, n) BPF_JUMP (BPF_JMP | BPF_JSET | BPF_K, v, 0, n)
#  define ALLOW(number)    UNLESS (number, 1), RETURN (SECCOMP_RET_ALLOW)

static bool
filter_system_calls (void)
{
  /* Compares the low halves of arguments, which come first on both machines. */
  static struct sock_filter filter[] = {
    LOAD (arch),
    UNLESS (OUR_ARCHITECTURE, 1),
    BPF_JUMP (BPF_JMP | BPF_JA, 1, 0, 0),
    RETURN (SECCOMP_RET_KILL_PROCESS),
    LOAD (nr),
    ALLOW (SYS_read),
    ALLOW (SYS_pread64),
    ALLOW (SYS_write),
    ALLOW (SYS_recvmsg),
    ALLOW (SYS_sendmsg),
    ALLOW (SYS_close),
    ALLOW (SYS_fstat),
    ALLOW (SYS_brk),
    ALLOW (SYS_munmap),
    ALLOW (SYS_mremap),
    ALLOW (SYS_madvise),
    ALLOW (SYS_futex),
    ALLOW (SYS_clock_gettime),
    ALLOW (SYS_rt_sigreturn),
    ALLOW (SYS_exit),
    ALLOW (SYS_exit_group),
#  if HAS_SHADOW_MEMORY
    ALLOW (SYS_sigaltstack), /* called before every function that does not return */
#  endif
    UNLESS (SYS_mprotect, 4),
    LOAD (args[2]),
    IF_BIT (PROT_EXEC, 1),
    RETURN (SECCOMP_RET_ALLOW),
    RETURN (SECCOMP_RET_KILL_PROCESS),
    UNLESS (SYS_mmap, 5),
    LOAD (args[2]),
    IF_BIT (PROT_EXEC, 3),
    LOAD (args[3]),
    UNLESS_BIT (MAP_ANONYMOUS, 1),
    RETURN (SECCOMP_RET_ALLOW),
    RETURN (SECCOMP_RET_KILL_PROCESS),
  };
  static const struct sock_fprog program = { sizeof filter / sizeof filter[0], filter };

  return prctl (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}
#else
static bool
filter_system_calls (void)
{
  return true; /* user, limits and capabilities are still restricted */
}
#endif

/* The child of a thread allocates from the arena of that thread. Before glibc returns the end
 * of such an arena, it opens /proc/sys/vm/overcommit_memory, which the filter answers with a
 * kill. */
static void
keep_memory (void)
{
#ifdef M_TRIM_THRESHOLD
  (void) mallopt (M_TRIM_THRESHOLD, INT_MAX);
#endif
}

bool
sysprof_confine (void)
{
  keep_memory ();
  /* A change of user resets the signal at the parent's death. */
  return set_limits () && become_nobody () && prctl (PR_SET_PDEATHSIG, SIGKILL) == 0 &&
         prctl (PR_SET_DUMPABLE, 0) == 0 && prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         filter_system_calls ();
}
