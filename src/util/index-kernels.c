// SPDX-License-Identifier: GPL-3.0-or-later

/* Most are written once, with the compiler's vectors, and compiled twice: for what each CPU of the kind has (SSE2, NEON), and
 * for AVX2, which is chosen at run time. Two need an instruction that moves bytes as a table says, and so are made for AVX2
 * alone. */

#include "util/index-kernels.h"

#include <assert.h>
#include <string.h>

#if defined(__x86_64__) || defined(__i386__)
#  define HAVE_AVX2 1
#  include <glib.h>
#  include <immintrin.h>
#  define AVX2 __attribute__ ((target ("avx2,bmi,popcnt")))
#else
#  define HAVE_AVX2 0
#endif

#define ALWAYS_INLINE static inline __attribute__ ((always_inline))

/* Of 32 bytes each, but for the numbers of 16 bits that become such of 32. */
typedef uint64_t Words __attribute__ ((vector_size (32)));
typedef uint32_t Numbers __attribute__ ((vector_size (32)));
typedef uint16_t Halves __attribute__ ((vector_size (16)));

enum
{
  N_NUMBERS = sizeof (Numbers) / sizeof (uint32_t),
  WORDS_OF_VECTOR = sizeof (Words) / sizeof (uint64_t),
  /* Vectors whose bits are added up before they are counted, and how often that is done before bytes overflow. */
  GROUP = 8,
  GROUPS = 16,
};

static_assert (INDEX_CHUNK_WORDS % (WORDS_OF_VECTOR * GROUP * GROUPS) == 0,
               "a chunk is counted in whole groups");

/* --- in order? --- */

ALWAYS_INLINE bool
is_ascending_inline (const uint32_t *index, uint32_t n, uint32_t *n_gaps)
{
  Numbers falling = { 0 }, following = { 0 };
  uint32_t i = 1, n_falling = 0, n_following = 0;

  for (; n >= N_NUMBERS && i <= n - N_NUMBERS; i += N_NUMBERS)
    {
      Numbers before, these;

      memcpy (&before, index + i - 1, sizeof before);
      memcpy (&these, index + i, sizeof these);
      falling |= (Numbers) (these <= before);
      following -= (Numbers) (these == before + 1); /* true is -1 */
    }
  for (; i < n; i++)
    {
      n_falling += index[i] <= index[i - 1];
      n_following += index[i] == index[i - 1] + 1;
    }
  for (unsigned lane = 0; lane < N_NUMBERS; lane++)
    {
      n_falling |= falling[lane];
      n_following += following[lane];
    }
  *n_gaps = n == 0 ? 0 : n - 1 - n_following;
  return n_falling == 0;
}

/* --- bits of both --- */

#define EACH_BYTE(byte) (UINT64_C (0x0101010101010101) * (byte))

/* Adds three bits at each place: the sum's lower bit to `*low`, the upper is returned. */
#define ADD_BITS(low, a, b)                               \
  ({                                                      \
    const Words a_ = (a), b_ = (b), either_ = (low) ^ a_; \
    const Words high_ = ((low) &a_) | (either_ & b_);     \
                                                          \
    (low) = either_ ^ b_;                                 \
    high_;                                                \
  })

/* How many bits each byte has. */
#define COUNT_OF_BYTES(words)                                                  \
  ({                                                                           \
    Words count_ = (words);                                                    \
                                                                               \
    count_ -= (count_ >> 1) & EACH_BYTE (0x55);                                \
    count_ = (count_ & EACH_BYTE (0x33)) + ((count_ >> 2) & EACH_BYTE (0x33)); \
    (count_ + (count_ >> 4)) & EACH_BYTE (0x0f);                               \
  })

static uint32_t
sum_of_bytes (uint64_t bytes)
{
  const uint64_t lower = UINT64_C (0x00ff00ff00ff00ff);
  const uint64_t pairs = (bytes & lower) + ((bytes >> 8) & lower);

  return (uint32_t) ((pairs * UINT64_C (0x0001000100010001)) >> 48);
}

#define READ_BOTH(nth)                                               \
  ({                                                                 \
    Words both_, b_words_;                                           \
                                                                     \
    memcpy (&both_, a + (nth) *WORDS_OF_VECTOR, sizeof both_);       \
    memcpy (&b_words_, b + (nth) *WORDS_OF_VECTOR, sizeof b_words_); \
    both_ &= b_words_;                                               \
    memcpy (both + (nth) *WORDS_OF_VECTOR, &both_, sizeof both_);    \
    both_;                                                           \
  })

/* Bits of eight vectors are added up place by place, which takes less than counting those of each. */
ALWAYS_INLINE uint32_t
and_bits_inline (const uint64_t *a, const uint64_t *b, uint64_t *both)
{
  Words ones = { 0 }, twos = { 0 }, fours = { 0 };
  uint32_t n = 0;

  for (unsigned part = 0; part < INDEX_CHUNK_WORDS / (WORDS_OF_VECTOR * GROUP * GROUPS); part++)
    {
      Words eights = { 0 };

      for (unsigned group = 0; group < GROUPS; group++)
        {
          Words two_a, two_b, four_a, four_b;

          two_a = ADD_BITS (ones, READ_BOTH (0), READ_BOTH (1));
          two_b = ADD_BITS (ones, READ_BOTH (2), READ_BOTH (3));
          four_a = ADD_BITS (twos, two_a, two_b);
          two_a = ADD_BITS (ones, READ_BOTH (4), READ_BOTH (5));
          two_b = ADD_BITS (ones, READ_BOTH (6), READ_BOTH (7));
          four_b = ADD_BITS (twos, two_a, two_b);
          eights += COUNT_OF_BYTES (ADD_BITS (fours, four_a, four_b));
          a += GROUP * WORDS_OF_VECTOR;
          b += GROUP * WORDS_OF_VECTOR;
          both += GROUP * WORDS_OF_VECTOR;
        }
      for (unsigned lane = 0; lane < WORDS_OF_VECTOR; lane++)
        n += 8 * sum_of_bytes (eights[lane]);
    }

  ones = COUNT_OF_BYTES (ones);
  twos = COUNT_OF_BYTES (twos);
  fours = COUNT_OF_BYTES (fours);
  for (unsigned lane = 0; lane < WORDS_OF_VECTOR; lane++)
    n += sum_of_bytes (ones[lane]) + 2 * sum_of_bytes (twos[lane]) +
         4 * sum_of_bytes (fours[lane]);
  return n;
}

/* --- written out --- */

ALWAYS_INLINE void
widen_inline (const uint16_t *low, uint32_t n, uint32_t base, uint32_t *to)
{
  uint32_t i = 0;

  for (; n >= N_NUMBERS && i <= n - N_NUMBERS; i += N_NUMBERS)
    {
      Halves halves;
      Numbers numbers;

      memcpy (&halves, low + i, sizeof halves);
      numbers = __builtin_convertvector(halves, Numbers) + base;
      memcpy (to + i, &numbers, sizeof numbers);
    }
  for (; i < n; i++)
    to[i] = base + low[i];
}

ALWAYS_INLINE void
count_up_inline (uint32_t first, uint32_t n, uint32_t *to)
{
  Numbers numbers = { 0, 1, 2, 3, 4, 5, 6, 7 };
  uint32_t i = 0;

  numbers += first;
  for (; n >= N_NUMBERS && i <= n - N_NUMBERS; i += N_NUMBERS, numbers += N_NUMBERS)
    memcpy (to + i, &numbers, sizeof numbers);
  for (; i < n; i++)
    to[i] = first + i;
}

ALWAYS_INLINE uint32_t *
list_word (uint64_t word, uint32_t base, uint32_t *to)
{
  for (; word != 0; word &= word - 1)
    *to++ = base + (uint32_t) __builtin_ctzll (word);
  return to;
}

/* --- any CPU --- */

static bool
is_ascending (const uint32_t *index, uint32_t n, uint32_t *n_gaps)
{
  return is_ascending_inline (index, n, n_gaps);
}

static uint32_t
and_bits (const uint64_t *a, const uint64_t *b, uint64_t *both)
{
  return and_bits_inline (a, b, both);
}

/* Which goes on is as good as random: no branch asks. */
static uint32_t
intersect (const uint16_t *a, uint32_t n_a, const uint16_t *b, uint32_t n_b, uint16_t *both)
{
  uint32_t i = 0, j = 0, n = 0;

  while (i < n_a && j < n_b)
    {
      const uint16_t left = a[i], right = b[j];

      both[n] = left; /* n ≤ i and n ≤ j: there is room */
      n += left == right;
      i += left <= right;
      j += right <= left;
    }
  return n;
}

static uint32_t
list_bits (const uint64_t *bits, uint32_t base, uint32_t *to)
{
  uint32_t *at = to;

  for (uint32_t i = 0; i < INDEX_CHUNK_WORDS; i++)
    at = list_word (bits[i], base + i * 64, at);
  return (uint32_t) (at - to);
}

static void
widen (const uint16_t *low, uint32_t n, uint32_t base, uint32_t *to)
{
  widen_inline (low, n, base, to);
}

static void
count_up (uint32_t first, uint32_t n, uint32_t *to)
{
  count_up_inline (first, n, to);
}

const IndexKernels sysprof_index_kernels_portable = {
  is_ascending, and_bits, intersect, list_bits, widen, count_up,
};

/* --- AVX2 --- */

#if HAVE_AVX2

enum
{
  N_HALVES = 8,
  LONGER = 4,   /* times */
  FEW_BITS = 6, /* of a word: as many are found sooner one by one */
};

/* [byte] the places of its bits, lowest first. *Frozen* once made. */
static uint8_t places[256][8];

AVX2 static bool
is_ascending_avx2 (const uint32_t *index, uint32_t n, uint32_t *n_gaps)
{
  return is_ascending_inline (index, n, n_gaps);
}

AVX2 static uint32_t
and_bits_avx2 (const uint64_t *a, const uint64_t *b, uint64_t *both)
{
  return and_bits_inline (a, b, both);
}

/* Which of eight numbers are among eight others: each of the four turns of those compares with two of them, as the other
 * half of the register has them turned by four. */
AVX2 static inline unsigned
common_of_eight (const uint16_t *a, const uint16_t *b)
{
  const __m256i left = _mm256_broadcastsi128_si256 (_mm_loadu_si128 ((const void *) a));
  const __m128i others = _mm_loadu_si128 ((const void *) b);
  const __m256i right = _mm256_set_m128i (_mm_alignr_epi8 (others, others, 8), others);
  const __m256i equal = _mm256_or_si256 (
      _mm256_or_si256 (_mm256_cmpeq_epi16 (left, right),
                       _mm256_cmpeq_epi16 (left, _mm256_alignr_epi8 (right, right, 2))),
      _mm256_or_si256 (_mm256_cmpeq_epi16 (left, _mm256_alignr_epi8 (right, right, 4)),
                       _mm256_cmpeq_epi16 (left, _mm256_alignr_epi8 (right, right, 6))));
  const __m128i any =
      _mm_or_si128 (_mm256_castsi256_si128 (equal), _mm256_extracti128_si256 (equal, 1));

  return (unsigned) _mm_movemask_epi8 (_mm_packs_epi16 (any, _mm_setzero_si128 ()));
}

/* Writes the numbers of the mask, and something behind them. */
AVX2 static inline void
write_chosen (const uint16_t *from, unsigned mask, uint16_t *to)
{
  const __m128i place = _mm_loadl_epi64 ((const void *) places[mask]);
  const __m128i twice = _mm_add_epi8 (place, place);
  const __m128i bytes = _mm_add_epi8 (_mm_unpacklo_epi8 (twice, twice), _mm_set1_epi16 (0x100));

  _mm_storeu_si128 ((void *) to,
                    _mm_shuffle_epi8 (_mm_loadu_si128 ((const void *) from), bytes));
}

/* Where one list is longer it is that which goes on nearly always, and a branch that asks is guessed right. */
AVX2 static uint32_t
intersect_shorter (const uint16_t *a,
                   uint32_t n_a,
                   const uint16_t *b,
                   uint32_t n_b,
                   uint16_t *both)
{
  uint32_t i = 0, j = 0, n = 0;

  for (bool is_over = false; !is_over && i + N_HALVES <= n_a; i += is_over ? 0 : N_HALVES)
    {
      const uint16_t last = a[i + N_HALVES - 1];
      unsigned mask = 0;

      for (; !(is_over = j + N_HALVES > n_b); j += N_HALVES)
        {
          mask |= common_of_eight (a + i, b + j);
          if (b[j + N_HALVES - 1] > last)
            break;
        }
      write_chosen (a + i, mask, both + n);
      n += (uint32_t) __builtin_popcount (mask);
    }
  /* What of the eight of `a` was found already is below what is left of `b`. */
  return n + intersect (a + i, n_a - i, b + j, n_b - j, both + n);
}

AVX2 static uint32_t
intersect_avx2 (const uint16_t *a,
                uint32_t n_a,
                const uint16_t *b,
                uint32_t n_b,
                uint16_t *both)
{
  uint32_t i = 0, j = 0, n = 0;

  if (n_b / LONGER >= n_a)
    return intersect_shorter (a, n_a, b, n_b, both);
  if (n_a / LONGER >= n_b)
    return intersect_shorter (b, n_b, a, n_a, both);

  while (i + N_HALVES <= n_a && j + N_HALVES <= n_b)
    {
      const unsigned mask = common_of_eight (a + i, b + j);
      const uint16_t last_a = a[i + N_HALVES - 1], last_b = b[j + N_HALVES - 1];

      write_chosen (a + i, mask, both + n);
      n += (uint32_t) __builtin_popcount (mask);
      i += last_a <= last_b ? N_HALVES : 0;
      j += last_b <= last_a ? N_HALVES : 0;
    }
  return n + intersect (a + i, n_a - i, b + j, n_b - j, both + n);
}

AVX2 static uint32_t
list_bits_avx2 (const uint64_t *bits, uint32_t base, uint32_t *to)
{
  uint32_t *at = to;

  for (uint32_t i = 0; i < INDEX_CHUNK_WORDS; i++)
    {
      uint64_t word = bits[i];

      if (__builtin_popcountll (word) <= FEW_BITS)
        {
          at = list_word (word, base + i * 64, at);
          continue;
        }
      for (uint32_t first = base + i * 64; word != 0; word >>= 8, first += 8)
        {
          const __m128i place = _mm_loadl_epi64 ((const void *) places[word & 0xff]);

          _mm256_storeu_si256 ((void *) at, _mm256_add_epi32 (_mm256_cvtepu8_epi32 (place),
                                                              _mm256_set1_epi32 ((int) first)));
          at += __builtin_popcount (word & 0xff);
        }
    }
  return (uint32_t) (at - to);
}

AVX2 static void
widen_avx2 (const uint16_t *low, uint32_t n, uint32_t base, uint32_t *to)
{
  widen_inline (low, n, base, to);
}

AVX2 static void
count_up_avx2 (uint32_t first, uint32_t n, uint32_t *to)
{
  count_up_inline (first, n, to);
}

static const IndexKernels kernels_avx2 = {
  is_ascending_avx2, and_bits_avx2, intersect_avx2, list_bits_avx2, widen_avx2, count_up_avx2,
};

static void
make_places (void)
{
  for (unsigned byte = 0; byte < 256; byte++)
    for (unsigned bit = 0, n = 0; bit < 8; bit++)
      if ((byte >> bit & 1) != 0)
        places[byte][n++] = (uint8_t) bit;
}

#endif

const IndexKernels *
sysprof_index_kernels (void)
{
#if HAVE_AVX2
  static gsize chosen;

  if (g_once_init_enter (&chosen))
    {
      const bool is_here = __builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("bmi") &&
                           __builtin_cpu_supports ("popcnt");

      make_places ();
      g_once_init_leave (&chosen,
                         (gsize) (is_here ? &kernels_avx2 : &sysprof_index_kernels_portable));
    }
  return (const IndexKernels *) chosen;
#else
  return &sysprof_index_kernels_portable;
#endif
}
