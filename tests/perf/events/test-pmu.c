// SPDX-License-Identifier: GPL-3.0-or-later

/* Machines of others, as their kernels describe them in sysfs: a PC with cores of two kinds (Intel, Alder Lake), one of AMD (Zen), and
 * an ARM machine with cores of two kinds. The numbers are those of the kernel's sources (arch/x86/events, drivers/perf/arm_pmuv3.c);
 * what is expected of terms is their bits by format, put together on paper. */

#include "perf/attributes.h"
#include "perf/events/event-list.h"
#include "perf/session.h"

#include <glib/gstdio.h>

#define DEVICES "/sys/bus/event_source/devices/"

typedef struct
{
  const char *path;
  const char *text;
} File;

/* clang-format off */
static const File hybrid[] = {
  { DEVICES "cpu_core/type", "4\n" },
  { DEVICES "cpu_core/cpus", "0-15\n" },
  { DEVICES "cpu_core/format/event", "config:0-7\n" },
  { DEVICES "cpu_core/format/umask", "config:8-15\n" },
  { DEVICES "cpu_core/format/edge", "config:18\n" },
  { DEVICES "cpu_core/format/ldlat", "config1:0-15\n" },
  { DEVICES "cpu_core/events/cpu-cycles", "event=0x3c\n" },
  { DEVICES "cpu_core/events/topdown-retiring", "event=0x00,umask=0x80\n" },
  { DEVICES "cpu_core/events/topdown-heavy-ops", "event=0x00,umask=0x84\n" },
  { DEVICES "cpu_core/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n" },
  { DEVICES "cpu_atom/type", "10\n" },
  { DEVICES "cpu_atom/cpus", "16-23\n" },
  { DEVICES "cpu_atom/format/event", "config:0-7\n" },
  { DEVICES "cpu_atom/format/umask", "config:8-15\n" },
  { DEVICES "cpu_atom/events/cpu-cycles", "event=0x3c\n" },
  { DEVICES "cpu_atom/events/topdown-retiring", "event=0xc2,umask=0x00\n" },
  { DEVICES "uncore_imc_0/type", "24\n" },
  { DEVICES "uncore_imc_0/cpumask", "0\n" },
  { DEVICES "uncore_imc_0/format/event", "config:0-7\n" },
  { DEVICES "uncore_imc_0/events/cas_count_read", "event=0x04\n" },
  { DEVICES "software/type", "1\n" },
  { "/events/0-0-0", "" },
  { "/events/0-1-0", "" },
  { NULL, NULL },
};

static const File amd[] = {
  { DEVICES "cpu/type", "4\n" },
  { DEVICES "cpu/format/event", "config:0-7,32-35\n" },
  { DEVICES "cpu/format/umask", "config:8-15\n" },
  { DEVICES "cpu/format/inv", "config:23\n" },
  { DEVICES "cpu/format/cmask", "config:24-31\n" },
  { DEVICES "cpu/events/branch-brs", "event=0xc4\n" },
  { DEVICES "ibs_op/type", "11\n" },
  { DEVICES "amd_df/type", "12\n" },
  { DEVICES "amd_df/cpumask", "0\n" },
  { "/events/0-0-0", "" },
  { NULL, NULL },
};

static const File arm[] = {
  { DEVICES "armv8_cortex_a53/type", "8\n" },
  { DEVICES "armv8_cortex_a53/cpus", "0-3\n" },
  { DEVICES "armv8_cortex_a53/format/event", "config:0-15\n" },
  { DEVICES "armv8_cortex_a53/events/l1d_cache_refill", "event=0x0003\n" },
  { DEVICES "armv8_cortex_a73/type", "9\n" },
  { DEVICES "armv8_cortex_a73/cpus", "4,6-7\n" },
  { DEVICES "armv8_cortex_a73/format/event", "config:0-15\n" },
  { DEVICES "armv8_cortex_a73/events/l1d_cache_refill", "event=0x0003\n" },
  { DEVICES "armv8_cortex_a73/events/l2d_cache_refill", "event=0x0017\n" },
  { DEVICES "arm_spe_0/type", "10\n" },
  { DEVICES "arm_spe_0/cpumask", "0-7\n" },
  { NULL, NULL },
};

typedef struct
{
  const File *machine;
  const char *event;
  int cpu;
  bool is_counted; /* there */
  uint32_t type;
  uint64_t config;
} Opened;

static const Opened opened[] = {
  /* One of the kernel's own names has the same number everywhere: it knows the unit of the CPU. */
  { hybrid, "cycles", 0, true, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
  { hybrid, "cycles", 20, true, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
  /* The name of both kinds is another event for each. */
  { hybrid, "topdown-retiring", 0, true, 4, 0x8000 },
  { hybrid, "topdown-retiring", 15, true, 4, 0x8000 },
  { hybrid, "topdown-retiring", 16, true, 10, 0xc2 },
  { hybrid, "topdown-retiring:1000", 23, true, 10, 0xc2 },
  { hybrid, "topdown-retiring", 24, false, 0, 0 },
  { hybrid, "topdown-heavy-ops", 3, true, 4, 0x8400 },
  { hybrid, "topdown-heavy-ops", 16, false, 0, 0 },
  { hybrid, "cpu_atom/topdown-retiring/", 16, true, 10, 0xc2 },
  { hybrid, "cpu_atom/topdown-retiring/", 0, false, 0, 0 },
  { hybrid, "cpu_core/cpu-cycles/:5", 0, true, 4, 0x3c },
  { hybrid, "cpu_core/event=0xc0,umask=1,edge/", 1, true, 4, 0x401c0 },
  { hybrid, "cpu_core/config=0x1c0/", 1, true, 4, 0x1c0 },
  { amd, "cycles", 3, true, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
  { amd, "branch-brs", 3, true, 4, 0xc4 },
  { amd, "cpu/event=0x1d6,umask=0x20,cmask=2/", 0, true, 4, UINT64_C (0x1020020d6) },
  { arm, "l1d_cache_refill", 0, true, 8, 3 },
  { arm, "l1d_cache_refill", 4, true, 9, 3 },
  { arm, "l1d_cache_refill", 5, false, 0, 0 },
  { arm, "l2d_cache_refill", 6, true, 9, 0x17 },
  { arm, "l2d_cache_refill", 0, false, 0, 0 },
  { arm, "armv8_cortex_a53/event=0x11/", 2, true, 8, 0x11 },
};

/* Events that are in no list, that take a number which is missing, whose number is too
 * large, or that cannot be sampled. */
static const struct
{
  const File *machine;
  const char *event;
  const char *told; /* of what there is */
} refused[] = {
  { hybrid, "topdown-nothing", "cpu-cycles, topdown-heavy-ops, topdown-retiring" },
  { hybrid, "cas_count_read", "; of the CPUs' unit cpu_atom, as cpu_atom/NAME/, cpu-cycles, topdown-retiring" },
  { hybrid, "uncore_imc_0/cas_count_read/", "This machine has cycles, instructions" },
  { hybrid, "mem-loads", "cpu_core/NAME/" },
  { hybrid, "cpu_core/event=0x100/", "cpu_core" },
  { hybrid, "cpu_core/../../../type/", "cpu_core" },
  { hybrid, "cpu_core/nonsense=1/", "cpu_core" },
  { hybrid, "cpu_core/event=/", "cpu_core" },
  { hybrid, "cpu_core/", "cpu_core" },
  { hybrid, "cpu_core//", "cpu_core" },
  { hybrid, "event=0x3c", "cpu_core" },
  { amd, "topdown-retiring", "; of the CPUs' unit cpu, as cpu/NAME/, branch-brs" },
  { arm, "branch-brs", "; of the CPUs' unit armv8_cortex_a73, as armv8_cortex_a73/NAME/, l1d_cache_refill, l2d_cache_refill" },
};
/* clang-format on */

static char *
make_machine (const File *files)
{
  char *root = g_dir_make_tmp ("sysprof-machine-XXXXXX", NULL);

  g_assert_nonnull (root);
  for (; files->path != NULL; files++)
    {
      g_autofree char *path = g_strconcat (root, files->path, NULL);
      g_autofree char *folder = g_path_get_dirname (path);

      g_assert_cmpint (g_mkdir_with_parents (folder, 0700), ==, 0);
      g_assert_true (g_file_set_contents (path, files->text, -1, NULL));
    }
  return root;
}

static void
remove_machine (const char *root)
{
  g_autoptr (GDir) folder = g_dir_open (root, 0, NULL);
  const char *name;

  while (folder != NULL && (name = g_dir_read_name (folder)) != NULL)
    {
      g_autofree char *path = g_build_filename (root, name, NULL);

      remove_machine (path);
    }
  (void) g_remove (root);
}

static void
test_opens_what_counts_there (void)
{
  for (size_t i = 0; i < G_N_ELEMENTS (opened); i++)
    {
      const Opened *row = &opened[i];
      g_autofree char *root = make_machine (row->machine);
      Privilege *privilege = sysprof_privilege_new_below (root);
      g_autoptr (GError) error = NULL;
      PerfEvent event, there;

      g_assert_true (sysprof_perf_event_parse (&event, row->event, privilege, &error));
      g_assert_no_error (error);
      g_assert_true (sysprof_perf_event_for_cpu (&event, row->cpu, &there) == row->is_counted);
      if (row->is_counted)
        {
          const PerfSessionOptions options = { .samples = true,
                                               .frequency = 1000,
                                               .event = there };
          PerfAttributes attributes;
          struct perf_event_attr attr;

          sysprof_perf_attributes_init (&attributes, &options);
          sysprof_perf_attributes_fill (&attributes, PERF_ROLE_SAMPLE, &attr);
          g_assert_cmpuint (attr.type, ==, row->type);
          g_assert_cmphex (attr.config, ==, row->config);
        }
      sysprof_privilege_unref (privilege);
      remove_machine (root);
    }
}

static void
test_says_what_there_is (void)
{
  for (size_t i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      g_autofree char *root = make_machine (refused[i].machine);
      Privilege *privilege = sysprof_privilege_new_below (root);
      g_autoptr (GError) error = NULL;
      PerfEvent event;

      g_assert_false (sysprof_perf_event_parse (&event, refused[i].event, privilege, &error));
      g_assert_nonnull (error);
      g_assert_nonnull (strstr (error->message, refused[i].event));
      if (strstr (error->message, refused[i].told) == NULL)
        g_error ("%s", error->message);
      sysprof_privilege_unref (privilege);
      remove_machine (root);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/perf/pmu/opens-what-counts-there", test_opens_what_counts_there);
  g_test_add_func ("/perf/pmu/says-what-there-is", test_says_what_there_is);
  return g_test_run ();
}
