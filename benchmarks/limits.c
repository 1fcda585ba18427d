/*===----------------------------------------------------------------------===*\
|*                                                                            *|
|* Part of the pol project, under the Apache License v2.0 with LLVM           *|
|* Exceptions. See the LICENSE file at the root of the tree for license       *|
|* information.                                                               *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/
/* What a machine can do at best: multiply-adds, and bytes copied and read. Each
 * thread has one piece of the arrays, in order. Sizes are in bytes, multiples
 * of 256 for each thread; see limits.py. To be compiled with -fno-builtin: the
 * plain copy must not become a call of memcpy, which may store past the caches.
 */

#include <stdint.h>

/* As wide as the registers, so that nothing is spilled. */
#if defined(__AVX512F__)
#define WIDTH 64
#elif defined(__AVX__)
#define WIDTH 32
#else
#define WIDTH 16
#endif

typedef float vector __attribute__((vector_size(WIDTH)));

/* As many as hide the latency of a multiply-add (4 cycles or so, on two units),
 * and as fit 16 registers together with two operands. */
enum { CHAINS = 12, UNROLL = 512 / WIDTH };

/* Operations of `trips` trips on each thread. */
int64_t limits_fma_flops(int64_t trips, int threads) {
  return 2 * trips * CHAINS * (WIDTH / (int64_t)sizeof(float)) * threads;
}

/* Multiply-adds of registers. Returns a number that depends on all of them. */
float limits_fma(int64_t trips, int threads) {
  float total = 0;
#pragma omp parallel num_threads(threads) reduction(+ : total)
  {
    vector sums[CHAINS];
    vector scale = {0}, shift = {0};
    /* Values that the compiler does not know, and that stay finite. */
    __asm__ volatile("" : "+m"(scale), "+m"(shift));
    scale += 0.999f;
    shift += 0.001f;
    for (int c = 0; c < CHAINS; ++c)
      sums[c] = shift * (float)c;
    for (int64_t i = 0; i < trips; ++i)
#pragma clang loop unroll(full)
      for (int c = 0; c < CHAINS; ++c)
        sums[c] = sums[c] * scale + shift;
    for (int c = 0; c < CHAINS; ++c)
      total += sums[c][0] + sums[c][WIDTH / sizeof(float) - 1];
  }
  return total;
}

/* Each repeat is done, as far as the compiler knows. */
#define FENCE __asm__ volatile("" ::: "memory")

/* The vectors of a thread: [begin, end). It goes over them `repeats` times:
 * what fits a cache is done sooner than threads begin and end, which is no
 * limit. */
#define PIECE(bytes, threads)                                                  \
  const int64_t piece = (bytes) / (threads) / WIDTH;                           \
  const int64_t begin = thread * piece, end = begin + piece

void limits_copy(float *to, const float *from, int64_t bytes, int threads,
                 int64_t repeats) {
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int thread = 0; thread < threads; ++thread) {
    PIECE(bytes, threads);
    const vector *in = (const vector *)from;
    vector *out = (vector *)to;
    for (int64_t r = 0; r < repeats; ++r) {
      for (int64_t i = begin; i < end; ++i)
        out[i] = in[i];
      FENCE;
    }
  }
}

void limits_copy_nontemporal(float *to, const float *from, int64_t bytes,
                             int threads, int64_t repeats) {
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int thread = 0; thread < threads; ++thread) {
    PIECE(bytes, threads);
    const vector *in = (const vector *)from;
    vector *out = (vector *)to;
    for (int64_t r = 0; r < repeats; ++r) {
      for (int64_t i = begin; i < end; ++i)
        __builtin_nontemporal_store(in[i], out + i);
      FENCE;
    }
    /* The stores are done when the time is taken. */
    __sync_synchronize();
  }
}

float limits_read(const float *from, int64_t bytes, int threads,
                  int64_t repeats) {
  float total = 0;
#pragma omp parallel for num_threads(threads) schedule(static, 1)              \
    reduction(+ : total)
  for (int thread = 0; thread < threads; ++thread) {
    PIECE(bytes, threads);
    const vector *in = (const vector *)from;
    vector sums[UNROLL] = {0};
    for (int64_t r = 0; r < repeats; ++r) {
      for (int64_t i = begin; i + UNROLL <= end; i += UNROLL)
#pragma clang loop unroll(full)
        for (int u = 0; u < UNROLL; ++u)
          sums[u] += in[i + u];
      FENCE;
    }
    for (int u = 0; u < UNROLL; ++u)
      total += sums[u][0];
  }
  return total;
}
