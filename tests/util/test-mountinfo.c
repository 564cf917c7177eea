// SPDX-License-Identifier: GPL-3.0-or-later

/* Lines as proc(5) describes them, and what is no line. */

#include "util/mountinfo.h"

#include <glib.h>

static void
assert_plain (Text text, const char *expected)
{
  g_autofree char *plain = sysprof_mountinfo_dup_plain (text);

  g_assert_cmpstr (plain, ==, expected);
}

/* The example of proc(5), one without optional fields, one with several, one whose source is empty. */
static void
test_reads_lines (void)
{
  Text text = sysprof_text_from_string (
      "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue\n"
      "1 2 0:5 / /a\\040b\\011c\\012d\\134e ro - tmpfs none rw\n"
      "no line\n"
      "3 4 8:17 /@home /home rw shared:1 master:2 unbindable - btrfs /dev/sdb1 rw,subvol=/@home\n"
      "5 6 0:7 / /x rw - tmpfs  rw,size=4k\n"
      "8 9 0:1 / /last rw - proc proc rw");
  Mountinfo mount;

  g_assert_true (sysprof_mountinfo_next (&text, &mount));
  g_assert_cmpint (mount.id, ==, 36);
  g_assert_cmpint (mount.parent_id, ==, 35);
  g_assert_cmpint (mount.device_major, ==, 98);
  g_assert_cmpint (mount.device_minor, ==, 0);
  assert_plain (mount.root, "/mnt1");
  assert_plain (mount.mount_point, "/mnt2");
  assert_plain (mount.type, "ext3");
  assert_plain (mount.source, "/dev/root");
  assert_plain (mount.options, "rw,errors=continue");

  g_assert_true (sysprof_mountinfo_next (&text, &mount));
  assert_plain (mount.mount_point, "/a b\tc\nd\\e");
  g_assert_true (sysprof_mountinfo_next (&text, &mount));
  assert_plain (mount.root, "/@home");
  assert_plain (mount.source, "/dev/sdb1");
  g_assert_true (sysprof_mountinfo_next (&text, &mount));
  g_assert_cmpint (mount.id, ==, 5);
  assert_plain (mount.source, "");
  assert_plain (mount.options, "rw,size=4k");
  g_assert_true (sysprof_mountinfo_next (&text, &mount));
  assert_plain (mount.mount_point, "/last");
  g_assert_false (sysprof_mountinfo_next (&text, &mount));
}

static void
test_refuses_what_is_no_line (void)
{
  static const char *const broken[] = {
    "",
    "\n\n",
    "36 35 98:0 /mnt1 /mnt2 rw master:1 ext3 /dev/root rw\n",
    "36 35 98:0 /mnt1 /mnt2 rw - ext3\n",
    "36 35 98:0 /mnt1 /mnt2 rw - ext3 /dev/root\n",
    "36 35 98 /mnt1 /mnt2 rw - ext3 /dev/root rw\n",
    "36 -35 98:0 /mnt1 /mnt2 rw - ext3 /dev/root rw\n",
    "99999999999 35 98:0 /mnt1 /mnt2 rw - ext3 /dev/root rw\n",
    "36x 35 98:0 /mnt1 /mnt2 rw - ext3 /dev/root rw\n",
  };

  for (size_t i = 0; i < G_N_ELEMENTS (broken); i++)
    {
      Text text = sysprof_text_from_string (broken[i]);
      Mountinfo mount;

      g_assert_false (sysprof_mountinfo_next (&text, &mount));
    }
}

static void
test_takes_options (void)
{
  Text options = sysprof_text_from_string ("rw,subvol=/@,,x=1\\054y"), option;
  static const char *const expected[] = { "rw", "subvol=/@", "", "x=1,y" };

  for (size_t i = 0; i < G_N_ELEMENTS (expected); i++)
    {
      g_assert_true (sysprof_mountinfo_next_option (&options, &option));
      assert_plain (option, expected[i]);
    }
  g_assert_false (sysprof_mountinfo_next_option (&options, &option));
}

static void
test_what_is_no_escape_stays (void)
{
  assert_plain (sysprof_text_from_string ("\\"), "\\");
  assert_plain (sysprof_text_from_string ("\\04"), "\\04");
  assert_plain (sysprof_text_from_string ("\\400\\048\\x40"), "\\400\\048\\x40");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/util/mountinfo/reads-lines", test_reads_lines);
  g_test_add_func ("/util/mountinfo/refuses-what-is-no-line", test_refuses_what_is_no_line);
  g_test_add_func ("/util/mountinfo/takes-options", test_takes_options);
  g_test_add_func ("/util/mountinfo/what-is-no-escape-stays", test_what_is_no_escape_stays);
  return g_test_run ();
}
