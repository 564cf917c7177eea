// SPDX-License-Identifier: GPL-3.0-or-later

/* How many descriptors there may be, asked of the kernel. */

#include "access/descriptor-limit.h"

#include <glib.h>
#include <sys/resource.h>

static rlim_t
soft_limit (void)
{
  struct rlimit limit;

  g_assert_cmpint (getrlimit (RLIMIT_NOFILE, &limit), ==, 0);
  return limit.rlim_cur;
}

static void
set_limits (rlim_t soft, rlim_t hard)
{
  const struct rlimit limit = { soft, hard };

  g_assert_cmpint (setrlimit (RLIMIT_NOFILE, &limit), ==, 0);
}

static void
test_adds_up (void)
{
  set_limits (300, 2000);
  sysprof_descriptor_limit_ask (10);
  g_assert_cmpuint (soft_limit (), ==, 300);
  sysprof_descriptor_limit_ask (500);
  g_assert_cmpuint (soft_limit (), >=, 510);
  sysprof_descriptor_limit_ask (700);
  g_assert_cmpuint (soft_limit (), >=, 1210);
  sysprof_descriptor_limit_give_back (700);
  sysprof_descriptor_limit_give_back (510);
  g_assert_cmpuint (soft_limit (), ==, 300);
}

static void
test_program_has_what_we_were_given (void)
{
  set_limits (300, 2000);
  sysprof_descriptor_limit_restore (); /* nothing was raised yet */
  sysprof_descriptor_limit_raise_again ();
  sysprof_descriptor_limit_ask (900);
  sysprof_descriptor_limit_restore ();
  g_assert_cmpuint (soft_limit (), ==, 300);
  sysprof_descriptor_limit_raise_again ();
  g_assert_cmpuint (soft_limit (), >=, 900);
  sysprof_descriptor_limit_give_back (900);
}

static void
test_near_where_it_cannot_be_raised (void)
{
  set_limits (300, 2000);
  sysprof_descriptor_limit_ask (5000);
  g_assert_cmpuint (soft_limit (), ==, 2000);
  g_assert_false (sysprof_descriptor_limit_is_near (1700));
  g_assert_true (sysprof_descriptor_limit_is_near (1900));
  sysprof_descriptor_limit_give_back (5000);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/access/descriptor-limit/adds-up", test_adds_up);
  g_test_add_func ("/access/descriptor-limit/program-has-what-we-were-given",
                   test_program_has_what_we_were_given);
  g_test_add_func ("/access/descriptor-limit/near-where-it-cannot-be-raised",
                   test_near_where_it_cannot_be_raised);
  return g_test_run ();
}
