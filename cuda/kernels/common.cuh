// What all kernels share: types, the walk over elements and rows, loads of four floats, sums over a warp.
//
// Names and operands are those of src/runtime/kernels/kernels.ts; src/runtime/backends/cuda/launch-table.ts says how
// each is launched. Strides count floats. Every kernel walks with a stride of the whole grid, so any grid gives the
// same result. A matrix has fewer than 2^31 elements. Everything is compiled with --fmad=false: a product is rounded
// before it is added, as on the CPU. No operand of an elementwise kernel is __restrict__: a result may go where an
// operand was.
#pragma once
#include <stdint.h>

#include "layouts.cuh"

typedef uint32_t u32;
typedef unsigned long long u64;

#define KERNEL extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
#define INLINE static __device__ __forceinline__
#define WHOLE_WARP 0xffffffffu

INLINE u32 firstThread() { return blockIdx.x * blockDim.x + threadIdx.x; }
INLINE u32 allThreads() { return gridDim.x * blockDim.x; }

/** Logarithm of the lanes that share a row of `units`: as many as there are units, a power of two, at most a warp. */
INLINE u32 laneBits(u32 units) { return units <= 1 ? 0 : min(5, 32 - __clz(units - 1)); }

INLINE bool isWide(const float* p) { return ((u64)p & 15) == 0; }

/** Four floats at any address that floats can have. */
INLINE float4 load4(const float* p) {
  if (isWide(p)) return *(const float4*)p;
  return make_float4(p[0], p[1], p[2], p[3]);
}

INLINE void store4(float* p, float4 v) {
  if (isWide(p)) {
    *(float4*)p = v;
  } else {
    p[0] = v.x;
    p[1] = v.y;
    p[2] = v.z;
    p[3] = v.w;
  }
}

INLINE float4 add4(float4 a, float4 b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }

/** *p (+)= v. */
INLINE void put(float* p, float v, u32 acc) { *p = acc ? *p + v : v; }
INLINE void put4(float* p, float4 v, u32 acc) { store4(p, acc ? add4(load4(p), v) : v); }

/** dst[r, c] (+)= op(x[r, c]). */
template <class Op>
INLINE void mapRows(const float* x, u32 xStride, float* dst, u32 dstStride, u32 rows, u32 cols, u32 acc, Op op) {
  if (xStride == cols && dstStride == cols) {
    cols *= rows;
    rows = 1;
  }
  if (cols % 4 == 0) {
    const u32 quads = cols / 4, total = rows * quads;
    for (u32 i = firstThread(); i < total; i += allThreads()) {
      const u32 r = i / quads, c = (i - r * quads) * 4;
      const float4 v = load4(x + (u64)r * xStride + c);
      put4(dst + (u64)r * dstStride + c, make_float4(op(v.x), op(v.y), op(v.z), op(v.w)), acc);
    }
  } else {
    const u32 total = rows * cols;
    for (u32 i = firstThread(); i < total; i += allThreads()) {
      const u32 r = i / cols, c = i - r * cols;
      put(dst + (u64)r * dstStride + c, op(x[(u64)r * xStride + c]), acc);
    }
  }
}

/** dst[r, c] (+)= op(a[r, c], b[r, c]). A stride of 0 repeats the first row. */
template <class Op>
INLINE void zipRows(const float* a, u32 aStride, const float* b, u32 bStride, float* dst, u32 dstStride, u32 rows,
                    u32 cols, u32 acc, Op op) {
  if (aStride == cols && bStride == cols && dstStride == cols) {
    cols *= rows;
    rows = 1;
  }
  if (cols % 4 == 0) {
    const u32 quads = cols / 4, total = rows * quads;
    for (u32 i = firstThread(); i < total; i += allThreads()) {
      const u32 r = i / quads, c = (i - r * quads) * 4;
      const float4 v = load4(a + (u64)r * aStride + c), w = load4(b + (u64)r * bStride + c);
      put4(dst + (u64)r * dstStride + c, make_float4(op(v.x, w.x), op(v.y, w.y), op(v.z, w.z), op(v.w, w.w)), acc);
    }
  } else {
    const u32 total = rows * cols;
    for (u32 i = firstThread(); i < total; i += allThreads()) {
      const u32 r = i / cols, c = i - r * cols;
      put(dst + (u64)r * dstStride + c, op(a[(u64)r * aStride + c], b[(u64)r * bStride + c]), acc);
    }
  }
}

/** visit(r, c) for every element of a matrix, one thread each. */
template <class Visit>
INLINE void forElements(u32 rows, u32 cols, Visit visit) {
  const u32 total = rows * cols;
  for (u32 i = firstThread(); i < total; i += allThreads()) {
    const u32 r = i / cols;
    visit(r, i - r * cols);
  }
}

/** visit(r, lane) for every row, with a whole warp for each. */
template <class Visit>
INLINE void forWarpRows(u32 rows, Visit visit) {
  for (u32 r = firstThread() >> 5; r < rows; r += allThreads() >> 5) visit(r, threadIdx.x & 31);
}

template <class T>
INLINE T warpSum(T v) {
#pragma unroll
  for (u32 step = 16; step > 0; step >>= 1) v += __shfl_xor_sync(WHOLE_WARP, v, step);
  return v;
}

/**
 * The sum of term(first), term(first + step), … below `count`, in the order of sumColumns in
 * assembly/dense/column-sums.ts: SUM_BLOCK terms make a sum, as many sums make one that is added. A chain over a whole
 * batch would be off by as many roundings as it is long.
 */
template <class Term>
INLINE float sumInBlocks(u32 first, u32 count, u32 step, Term term) {
  float total = 0;
  for (u32 i = first; i < count;) {
    float blocks = 0;
    for (u32 block = 0; block < SUM_BLOCK && i < count; block++) {
      float sum = 0;
      for (u32 n = 0; n < SUM_BLOCK && i < count; n++, i += step) sum += term(i);
      blocks += sum;
    }
    total += blocks;
  }
  return total;
}

/**
 * `count` terms of an id are added to what `sum` begins with, in blocks of BLOCK_ADDITIONS if `inBlocks`; the order of
 * assembly/sparse/block-sums.ts. store(sum, adds) puts the sum of a block to where the sums are, or adds it. AT_ONCE
 * terms are in flight.
 */
template <int AT_ONCE, class Value, class Term, class Store>
INLINE void sumOfId(Value sum, Value zero, u32 count, bool inBlocks, Term term, Store store) {
  const u32 mask = inBlocks ? BLOCK_ADDITIONS - 1 : 0xffffffffu;
  for (u32 i = 0; i < count;) {
    // The last term of a block is apart: a test for each of them costs registers.
    const u32 last = min(count, i | mask);
#pragma unroll AT_ONCE
    for (; i < last; i++) sum = term(sum, i);
    if (i == count) break;
    sum = term(sum, i++);
    store(sum, i > BLOCK_ADDITIONS);
    sum = zero;
  }
  store(sum, count > mask);
}

/** The larger one; NaN when one of them is, and 0 rather than -0: as Math.max. */
INLINE float maxOf(float a, float b) {
  if (a != a || b != b) return a + b;
  return a > b ? a : b > a ? b : __int_as_float(__float_as_int(a) & __float_as_int(b));
}

INLINE float minOf(float a, float b) {
  if (a != a || b != b) return a + b;
  return a < b ? a : b < a ? b : __int_as_float(__float_as_int(a) | __float_as_int(b));
}

INLINE float warpMax(float v) {
#pragma unroll
  for (u32 step = 16; step > 0; step >>= 1) v = maxOf(v, __shfl_xor_sync(WHOLE_WARP, v, step));
  return v;
}

/** 1 / (1 + exp(-x)), from exp of a negative number only. */
INLINE float logistic(float x) {
  const float e = expf(-fabsf(x));
  return (x < 0 ? e : 1.0f) / (1.0f + e);
}

/** log(1 + exp(x)). */
INLINE float softplus(float x) { return maxOf(x, 0.0f) + log1pf(expf(-fabsf(x))); }
