// SPDX-License-Identifier: GPL-3.0-or-later

/* Use of GPUs, over fdinfo as the drivers of several vendors write it. */

#include "record/instruments/gpu-clients.h"
#include "tests/record/counters/counter-bench.h"

#include <sys/syscall.h>
#include <unistd.h>

extern const SampledCounters sysprof_gpu_usage_counters;

#define FDINFO_HEAD "pos:\t0\nflags:\t0100002\nmnt_id:\t27\nino:\t741\n"

/* The cost of reading a process is counted: the number of its descriptors that were read. */
static unsigned n_looked;

ssize_t readlinkat (int dir, const char *path, char *buffer, size_t size);

ssize_t
readlinkat (int dir, const char *path, char *buffer, size_t size)
{
  n_looked++;
  return syscall (SYS_readlinkat, dir, path, buffer, size);
}

/* --- texts --- */

static const char i915[] = FDINFO_HEAD "drm-driver:\ti915\n"
                                       "drm-client-id:\t42\n"
                                       "drm-pdev:\t0000:00:02.0\n"
                                       "drm-total-system0:\t98304 KiB\n"
                                       "drm-shared-system0:\t16 MiB\n"
                                       "drm-active-system0:\t0\n"
                                       "drm-resident-system0:\t65536 KiB\n"
                                       "drm-purgeable-system0:\t128 KiB\n"
                                       "drm-engine-render:\t9288864723 ns\n"
                                       "drm-engine-copy:\t2035071108 ns\n"
                                       "drm-engine-video:\t0 ns\n"
                                       "drm-engine-capacity-video:\t2\n"
                                       "drm-engine-video-enhance:\t0 ns\n";

static const char amdgpu[] = FDINFO_HEAD "drm-driver:\tamdgpu\n"
                                         "drm-client-id:\t167\n"
                                         "drm-pdev:\t0000:0d:00.0\n"
                                         "pasid:\t32785\n"
                                         "drm-total-cpu:\t0\n"
                                         "drm-memory-cpu:\t0 KiB\n"
                                         "drm-total-vram:\t2 GiB\n"
                                         "drm-memory-vram:\t1572864 KiB\n"
                                         "drm-memory-gtt: \t8192 KiB\n"
                                         "amd-evicted-vram:\t0 KiB\n"
                                         "amd-requested-vram:\t1572864 KiB\n"
                                         "drm-engine-gfx:\t51680000000 ns\n"
                                         "drm-engine-compute:\t123 ns\n";

static const char xe[] = FDINFO_HEAD "drm-driver:\txe\n"
                                     "drm-client-id:\t3\n"
                                     "drm-pdev:\t0000:03:00.0\n"
                                     "drm-total-vram0:\t24 MiB\n"
                                     "drm-resident-vram0:\t24 MiB\n"
                                     "drm-cycles-rcs:\t28257900\n"
                                     "drm-total-cycles-rcs:\t7655183225\n"
                                     "drm-cycles-ccs:\t0\n"
                                     "drm-total-cycles-ccs:\t7655183225\n"
                                     "drm-engine-capacity-ccs:\t4\n";

static const char msm[] = FDINFO_HEAD "drm-driver:\tmsm\n"
                                      "drm-client-id:\t9\n"
                                      "drm-engine-gpu:\t4000000000 ns\n"
                                      "drm-cycles-gpu:\t1600000000\n"
                                      "drm-maxfreq-gpu:\t800000000 Hz\n"
                                      "drm-total-memory:\t40 MiB\n"
                                      "drm-resident-memory:\t32 MiB\n";

static const char panfrost[] = FDINFO_HEAD "drm-driver:\tpanfrost\n"
                                           "drm-client-id:\t14\n"
                                           "drm-engine-fragment:\t1846584880 ns\n"
                                           "drm-cycles-fragment:\t1424359409\n"
                                           "drm-maxfreq-fragment:\t799999987 Hz\n"
                                           "drm-curfreq-fragment:\t799999987 Hz\n"
                                           "drm-engine-vertex-tiler:\t71932239 ns\n"
                                           "drm-cycles-vertex-tiler:\t52617357\n"
                                           "drm-total-memory:\t290 MiB\n"
                                           "drm-resident-memory:\t280 MiB\n";

static const char v3d[] = FDINFO_HEAD "drm-driver:\tv3d\n"
                                      "drm-client-id:\t5\n"
                                      "drm-engine-bin:\t1000 ns\n"
                                      "v3d-jobs-bin:\t4 jobs\n"
                                      "drm-engine-render:\t2000 ns\n"
                                      "v3d-jobs-render:\t4 jobs\n";

static const char nouveau[] = FDINFO_HEAD "drm-driver:\tnouveau\n"
                                          "drm-client-id:\t21\n"
                                          "drm-pdev:\t0000:01:00.0\n"
                                          "drm-total-vram:\t4 MiB\n"
                                          "drm-total-gart:\t512 KiB\n";

/* Linux 5.14 to 5.18 */
static const char old_amdgpu[] = FDINFO_HEAD "pdev:\t0000:0d:00.0\n"
                                             "pasid:\t32785\n"
                                             "vram mem:\t1536 kB\n"
                                             "gfx0:\t0.42%\n";

static const struct
{
  const char *text;
  const char *device;
  uint64_t id;
  const char *engines; /* "NAME BUSY CAPACITY …", busy in ns or cycles */
  const char *regions; /* "NAME SIZE …" */
} vendors[] = {
  { i915, "0000:00:02.0", 42,
    "render 9288864723 1 copy 2035071108 1 video 0 2 video-enhance 0 1 ", "system0 67108864 " },
  { amdgpu, "0000:0d:00.0", 167, "gfx 51680000000 1 compute 123 1 ",
    "cpu 0 vram 1610612736 gtt 8388608 " },
  { xe, "0000:03:00.0", 3, "rcs 28257900 1 ccs 0 4 ", "vram0 25165824 " },
  { msm, "msm", 9, "gpu 4000000000 1 ", "memory 33554432 " },
  { panfrost, "panfrost", 14, "fragment 1846584880 1 vertex-tiler 71932239 1 ",
    "memory 293601280 " },
  { v3d, "v3d", 5, "bin 1000 1 render 2000 1 ", "" },
  { nouveau, "0000:01:00.0", 21, "", "vram 4194304 gart 524288 " },
};

static void
test_vendors (void)
{
  for (size_t i = 0; i < G_N_ELEMENTS (vendors); i++)
    {
      GpuClient client;
      g_autoptr (GString) engines = g_string_new (NULL);
      g_autoptr (GString) regions = g_string_new (NULL);

      g_assert_true (
          sysprof_gpu_client_parse (sysprof_text_from_string (vendors[i].text), &client));
      g_assert_cmpstr (client.device, ==, vendors[i].device);
      g_assert_cmpuint (client.id, ==, vendors[i].id);
      for (unsigned j = 0; j < client.n_engines; j++)
        {
          const GpuEngine *engine = &client.engines[j];

          g_string_append_printf (
              engines, "%s %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " ", engine->name,
              engine->has_time ? engine->busy_nsec : engine->cycles, engine->capacity);
        }
      for (unsigned j = 0; j < client.n_regions; j++)
        g_string_append_printf (regions, "%s %" G_GUINT64_FORMAT " ", client.regions[j].name,
                                client.regions[j].size);
      g_assert_cmpstr (engines->str, ==, vendors[i].engines);
      g_assert_cmpstr (regions->str, ==, vendors[i].regions);
    }
}

static void
test_no_client (void)
{
  static const char *const others[] = {
    "",
    FDINFO_HEAD,
    old_amdgpu,
    "drm-engine-render:\t5 ns\n",
    "drm-driver:\n",
    "xdrm-driver:\ti915\n",
  };

  for (size_t i = 0; i < G_N_ELEMENTS (others); i++)
    {
      GpuClient client;

      g_assert_false (sysprof_gpu_client_parse (sysprof_text_from_string (others[i]), &client));
    }
}

static void
test_strange_lines (void)
{
  GpuClient client;
  g_autoptr (GString) many = g_string_new ("drm-driver: x\n");

  for (unsigned i = 0; i < 100; i++)
    g_string_append_printf (many, "drm-engine-e%u: 1 ns\ndrm-total-r%u: 1\n", i, i);
  g_assert_true (sysprof_gpu_client_parse (sysprof_text_from_string (many->str), &client));
  g_assert_cmpuint (client.n_engines, ==, GPU_MAX_ENGINES);
  g_assert_cmpuint (client.n_regions, ==, GPU_MAX_REGIONS);

  g_assert_true (sysprof_gpu_client_parse (
      sysprof_text_from_string ("drm-driver: x\ndrm-engine-: 5 ns\ndrm-engine-a: -5 ns\n"
                                "drm-engine-b: 99999999999999999999 ns\ndrm-total-c: 5 XiB\n"
                                "drm-total-d: 18446744073709551615 GiB\n"
                                "drm-engine-capacity-e: 0\n"),
      &client));
  g_assert_cmpuint (client.n_engines, ==, 1);
  g_assert_cmpuint (client.engines[0].capacity, ==, 1);
  g_assert_cmpuint (client.n_regions, ==, 1);
  g_assert_cmpuint (client.regions[0].size, ==, UINT64_MAX);
}

/* --- processes --- */

static void
write_descriptor (CounterBench *bench, int pid, int fd, const char *target, const char *text)
{
  g_autofree char *link = g_strdup_printf ("/proc/%d/fd/%d", pid, fd);
  g_autofree char *fdinfo = g_strdup_printf ("/proc/%d/fdinfo/%d", pid, fd);

  bench_link (bench, link, target);
  bench_write (bench, fdinfo, text);
}

static void
write_process (CounterBench *bench, int pid, const char *comm)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/comm", pid);
  g_autofree char *text = g_strconcat (comm, "\n", NULL);

  bench_write (bench, path, text);
  write_descriptor (bench, pid, 0, "/dev/null", FDINFO_HEAD);
  write_descriptor (bench, pid, 1, "socket:[4711]", FDINFO_HEAD);
}

static char *
i915_text (unsigned id, unsigned render_ms, unsigned video_ms, unsigned mib)
{
  return g_strdup_printf (FDINFO_HEAD "drm-driver:\ti915\ndrm-client-id:\t%u\n"
                                      "drm-pdev:\t0000:00:02.0\n"
                                      "drm-resident-system0:\t%u MiB\n"
                                      "drm-engine-render:\t%u000000 ns\n"
                                      "drm-engine-video:\t%u000000 ns\n"
                                      "drm-engine-capacity-video:\t2\n",
                          id, mib, render_ms, video_ms);
}

static void
update (CounterBench *bench, int pid, int fd, unsigned id, unsigned render, unsigned video)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/fdinfo/%d", pid, fd);
  g_autofree char *text = i915_text (id, render, video, 10 * id);

  bench_write (bench, path, text);
}

static void
write_machine (CounterBench *bench)
{
  g_autofree char *shell = i915_text (1, 1000, 0, 10);
  g_autofree char *browser = i915_text (2, 500, 100, 20);

  bench_write (bench, "/sys/class/drm/card0/dev", "226:0\n");
  bench_write (bench, "/sys/class/drm/card0-eDP-1/status", "connected\n");
  write_process (bench, 1, "systemd");
  write_process (bench, 900, "gnome-shell");
  write_descriptor (bench, 900, 5, "/dev/dri/renderD128", shell);
  write_descriptor (bench, 900, 6, "/dev/dri/renderD128", shell); /* a copy of 5 */
  write_process (bench, 1234, "firefox");
  write_descriptor (bench, 1234, 9, "/dev/dri/renderD128", browser);
}

static void
test_processes (void)
{
  CounterBench bench = { 0 };

  bench_init (&bench);
  write_machine (&bench);
  bench_open (&bench, &sysprof_gpu_usage_counters);
  bench_read (&bench, 1);
  update (&bench, 900, 5, 1, 1250, 0);
  update (&bench, 900, 6, 1, 1250, 0);
  update (&bench, 1234, 9, 2, 600, 300);
  bench_read (&bench, 1.5);

  /* 250 ms and 100 ms of 500; 200 ms on two engines. */
  bench_assert_series (&bench, "GPU Percent", "render (gnome-shell 900)", "1.5=50.000");
  bench_assert_series (&bench, "GPU Percent", "render (firefox 1234)", "1.5=20.000");
  bench_assert_series (&bench, "GPU Percent", "video (firefox 1234)", "1.5=20.000");
  bench_assert_series (&bench, "GPU Percent", "render (0000:00:02.0)", "1.5=70.000");
  bench_assert_series (&bench, "GPU Memory", "system0 (gnome-shell 900)",
                       "1=10485760 1.5=10485760");
  bench_assert_series (&bench, "GPU Memory", "system0 (0000:00:02.0)",
                       "1=31457280 1.5=31457280");
  bench_assert_complaint (&bench, NULL);
  bench_clear (&bench);
}

/* A client that ends removes its sums: neither the counter of its process nor of the device
 * may jump. */
static void
test_come_and_go (void)
{
  g_autofree char *newcomer = i915_text (3, 90000, 0, 30);
  CounterBench bench = { 0 };

  bench_init (&bench);
  write_machine (&bench);
  bench_open (&bench, &sysprof_gpu_usage_counters);
  bench_read (&bench, 1);
  update (&bench, 900, 5, 1, 1100, 0);
  update (&bench, 900, 6, 1, 1100, 0);
  bench_read (&bench, 2);
  write_process (&bench, 2000, "game");
  write_descriptor (&bench, 2000, 4, "/dev/dri/renderD128", newcomer);
  bench_remove_all (&bench, "/proc/1234/fd");
  bench_write (&bench, "/proc/1234/fdinfo/9", "");
  bench_read (&bench, 3);
  update (&bench, 2000, 4, 3, 90800, 0);
  bench_read (&bench, 4);

  bench_assert_series (&bench, "GPU Percent", "render (firefox 1234)", "2=0.000");
  bench_assert_series (&bench, "GPU Percent", "render (game 2000)", "4=80.000");
  bench_assert_series (&bench, "GPU Percent", "render (0000:00:02.0)",
                       "2=10.000 3=0.000 4=80.000");
  bench_assert_series (&bench, "GPU Memory", "system0 (0000:00:02.0)",
                       "1=31457280 2=31457280 3=41943040 4=41943040");
  bench_clear (&bench);
}

/* xe counts cycles of its clock. */
static void
test_cycles (void)
{
  CounterBench bench = { 0 };

  bench_init (&bench);
  bench_write (&bench, "/sys/class/drm/renderD128/dev", "226:128\n");
  write_process (&bench, 70, "blender");
  write_descriptor (&bench, 70, 3, "/dev/dri/renderD128", xe);
  bench_open (&bench, &sysprof_gpu_usage_counters);
  bench_read (&bench, 1);
  bench_write (&bench, "/proc/70/fdinfo/3",
               "drm-driver:\txe\ndrm-client-id:\t3\ndrm-pdev:\t0000:03:00.0\n"
               "drm-cycles-rcs:\t28357900\ndrm-total-cycles-rcs:\t7655383225\n"
               "drm-cycles-ccs:\t80000\ndrm-total-cycles-ccs:\t7655383225\n"
               "drm-engine-capacity-ccs:\t4\n");
  bench_read (&bench, 2);
  bench_assert_series (&bench, "GPU Percent", "rcs (blender 70)", "2=50.000");
  bench_assert_series (&bench, "GPU Percent", "ccs (blender 70)", "2=10.000");
  bench_clear (&bench);
}

/* A server with thousands of connections has its turn in pieces, in which nothing else waits for long. */
static void
test_process_of_many_descriptors (void)
{
  const unsigned n = 9000, most = 2000;
  g_autofree char *text = i915_text (7, 1000, 0, 10);
  g_autofree char *before = NULL;
  CounterBench bench = { 0 };
  unsigned n_readings = 0;

  bench_init (&bench);
  bench_write (&bench, "/sys/class/drm/card0/dev", "226:0\n");
  write_process (&bench, 70, "server");
  for (unsigned i = 2; i < n; i++)
    {
      g_autofree char *link = g_strdup_printf ("/proc/70/fd/%u", i);

      bench_link (&bench, link, "socket:[1]");
    }
  write_descriptor (&bench, 70, (int) n, "/dev/dri/renderD128", text);
  bench_open (&bench, &sysprof_gpu_usage_counters);

  for (unsigned n_all = 0; n_all < n + 1; n_readings++)
    {
      n_looked = 0;
      bench_read (&bench, 1 + 0.5 * n_readings);
      g_assert_cmpuint (n_looked, >, 0);
      g_assert_cmpuint (n_looked, <=, most);
      n_all += n_looked;
    }
  g_assert_cmpuint (n_readings, >=, n / most);
  before = bench_series (&bench, "GPU Memory", "system0 (server 70)");
  g_assert_nonnull (before);
  bench_assert_complaint (&bench, NULL);
  bench_clear (&bench);
}

/* One that is new, with a low number, must not make those behind it new, too. */
static void
test_low_number_comes_late (void)
{
  CounterBench bench = { 0 };

  bench_init (&bench);
  bench_write (&bench, "/sys/class/drm/card0/dev", "226:0\n");
  for (int pid = 100; pid < 116; pid++)
    write_process (&bench, pid, "server");
  bench_open (&bench, &sysprof_gpu_usage_counters);
  bench_read (&bench, 1);
  for (int pid = 2; pid < 30; pid++)
    write_process (&bench, pid, "late");
  n_looked = 0;
  bench_read (&bench, 3);
  g_assert_cmpuint (n_looked, ==, 28 * 2);
  bench_clear (&bench);
}

static void
test_silent_driver (void)
{
  CounterBench bench = { 0 };

  bench_init (&bench);
  bench_write (&bench, "/sys/class/drm/card0/dev", "226:0\n");
  write_process (&bench, 70, "blender");
  write_descriptor (&bench, 70, 3, "/dev/dri/renderD128", old_amdgpu);
  bench_open (&bench, &sysprof_gpu_usage_counters);
  bench_read (&bench, 1);
  bench_assert_complaint (&bench, "/proc/70/fd/3");
  bench_read (&bench, 30);
  bench_assert_complaint (&bench, NULL); /* once */
  bench_clear (&bench);
}

static void
test_no_device (void)
{
  CounterBench bench = { 0 };

  bench_init (&bench);
  bench_write (&bench, "/sys/class/drm/version", "drm 1.1.0 20060810\n");
  bench_assert_refused (&bench, &sysprof_gpu_usage_counters, "/sys/class/drm");
  bench_clear (&bench);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/record/gpu-usage/vendors", test_vendors);
  g_test_add_func ("/record/gpu-usage/no-client", test_no_client);
  g_test_add_func ("/record/gpu-usage/strange-lines", test_strange_lines);
  g_test_add_func ("/record/gpu-usage/processes", test_processes);
  g_test_add_func ("/record/gpu-usage/come-and-go", test_come_and_go);
  g_test_add_func ("/record/gpu-usage/cycles", test_cycles);
  g_test_add_func ("/record/gpu-usage/process-of-many-descriptors",
                   test_process_of_many_descriptors);
  g_test_add_func ("/record/gpu-usage/low-number-comes-late", test_low_number_comes_late);
  g_test_add_func ("/record/gpu-usage/silent-driver", test_silent_driver);
  g_test_add_func ("/record/gpu-usage/no-device", test_no_device);
  return g_test_run ();
}
