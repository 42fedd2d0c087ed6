// Rows of tables gathered, pooled and their gradients summed. Sums run in the order of the CPU and are bit-equal to it,
// except those with atomics (scatter*, firstNGradF32), whose order is that of the hardware.
//
// As many lanes work on a row as it has quads of floats. Rows of a table are given by addresses of 64 bits, as
// src/runtime/kernels/kernels.ts has them with 32; or, in the kernels named Rows, as one matrix of the rows of a batch.
#include "common.cuh"

struct RowsByAddress {
  const u64* addresses;
  __device__ __forceinline__ const float* operator()(u32 index) const { return (const float*)addresses[index]; }
};

struct RowsOfMatrix {
  const float* first;
  u32 stride;
  __device__ __forceinline__ const float* operator()(u32 index) const { return first + (u64)index * stride; }
};

INLINE float4 divide4(float4 v, float by) { return make_float4(v.x / by, v.y / by, v.z / by, v.w / by); }

/** visit(row, unit) for `rows` rows of `units` units, neighbouring lanes on neighbouring units of a row. */
template <class Visit>
INLINE void forRowUnits(u32 rows, u32 units, Visit visit) {
  const u32 bits = laneBits(units), step = 1u << bits;
  for (u32 r = firstThread() >> bits; r < rows; r += allThreads() >> bits) {
    for (u32 unit = threadIdx.x & (step - 1); unit < units; unit += step) visit(r, unit);
  }
}

template <bool MEAN, class Rows>
INLINE void poolRows(Rows rowOf, const u32* inverse, const u32* splits, u32 rows, u32 dim, float* out, u32 outStride) {
  const u32 first = rows > 0 ? splits[0] : 0;
  const bool quads = dim % 4 == 0;
  forRowUnits(rows, quads ? dim / 4 : dim, [=](u32 r, u32 unit) {
    const u32 begin = splits[r], end = splits[r + 1];
    const float count = (float)max(end - begin, 1u);
    if (quads) {
      float4 sum = make_float4(0, 0, 0, 0);
      // Two rows in flight: with more of them the compiler runs out of the registers that full occupancy leaves.
#pragma unroll 2
      for (u32 j = begin; j < end; j++) sum = add4(sum, load4(rowOf(inverse[j - first]) + unit * 4));
      store4(out + (u64)r * outStride + unit * 4, MEAN ? divide4(sum, count) : sum);
    } else {
      float sum = 0;
#pragma unroll 2
      for (u32 j = begin; j < end; j++) sum += rowOf(inverse[j - first])[unit];
      out[(u64)r * outStride + unit] = MEAN ? sum / count : sum;
    }
  });
}

KERNEL poolSumF32(const u64* rowPtrs, const u32* inverse, const u32* splits, u32 rows, u32 dim, float* out,
                  u32 outStride) {
  poolRows<false>(RowsByAddress{rowPtrs}, inverse, splits, rows, dim, out, outStride);
}

KERNEL poolMeanF32(const u64* rowPtrs, const u32* inverse, const u32* splits, u32 rows, u32 dim, float* out,
                   u32 outStride) {
  poolRows<true>(RowsByAddress{rowPtrs}, inverse, splits, rows, dim, out, outStride);
}

KERNEL poolSumRowsF32(const float* table, u32 tableStride, const u32* inverse, const u32* splits, u32 rows, u32 dim,
                      float* out, u32 outStride) {
  poolRows<false>(RowsOfMatrix{table, tableStride}, inverse, splits, rows, dim, out, outStride);
}

KERNEL poolMeanRowsF32(const float* table, u32 tableStride, const u32* inverse, const u32* splits, u32 rows, u32 dim,
                       float* out, u32 outStride) {
  poolRows<true>(RowsOfMatrix{table, tableStride}, inverse, splits, rows, dim, out, outStride);
}

/** out[i, :] = row index[i] of a matrix. */
KERNEL gatherMatrixF32(const float* table, u32 tableStride, const u32* index, u32 count, u32 dim, float* out,
                       u32 outStride) {
  const bool quads = dim % 4 == 0;
  forRowUnits(count, quads ? dim / 4 : dim, [=](u32 r, u32 unit) {
    const float* row = table + (u64)index[r] * tableStride;
    float* to = out + (u64)r * outStride;
    if (quads) store4(to + unit * 4, load4(row + unit * 4));
    else to[unit] = row[unit];
  });
}

KERNEL gatherRowsF32(const u64* rowPtrs, u32 n, u32 dim, float* out, u32 outStride) {
  forRowUnits(n, dim, [=](u32 r, u32 c) { out[(u64)r * outStride + c] = ((const float*)rowPtrs[r])[c]; });
}

/** Gradients by atomics: right when no sorted order is at hand, in an order that is not repeatable. */
template <bool MEAN>
INLINE void scatterRows(const float* grad, u32 gradStride, const u32* inverse, const u32* splits, u32 rows, u32 dim,
                        float* ugrad, u32 ugradStride) {
  const u32 first = rows > 0 ? splits[0] : 0;
  forRowUnits(rows, dim, [=](u32 r, u32 c) {
    const u32 begin = splits[r], end = splits[r + 1];
    float g = begin < end ? grad[(u64)r * gradStride + c] : 0.0f;
    if (MEAN) g = g / (float)max(end - begin, 1u);
    for (u32 j = begin; j < end; j++) atomicAdd(ugrad + (u64)inverse[j - first] * ugradStride + c, g);
  });
}

KERNEL scatterAddF32(const float* grad, u32 gradStride, const u32* inverse, const u32* splits, u32 rows, u32 dim,
                     float* ugrad, u32 ugradStride, void* scratch) {
  scatterRows<false>(grad, gradStride, inverse, splits, rows, dim, ugrad, ugradStride);
}

KERNEL scatterMeanF32(const float* grad, u32 gradStride, const u32* inverse, const u32* splits, u32 rows, u32 dim,
                      float* ugrad, u32 ugradStride, void* scratch) {
  scatterRows<true>(grad, gradStride, inverse, splits, rows, dim, ugrad, ugradStride);
}

/**
 * The same without atomics, and firstNGradF32 too. `sorted` is, for each segment, a unique id and the end of its
 * entries; then all entries, sorted by segment. Entry r * perRow + k is the vector k of row r of the gradient. Vectors
 * of a segment are added to the row of its id in the order of the entries, in blocks if there are many; with
 * `rowSplits`, each is divided by the number of values of row r before.
 */
KERNEL segmentSumF32(const float* grad, u32 gradStride, const u32* sorted, u32 segments, const u32* rowSplits,
                     u32 perRow, u32 dim, float* ugrad, u32 ugradStride) {
  const bool quads = dim % 4 == 0;
  const u32* const entries = sorted + 2 * (u64)segments;
  const bool inBlocks = segments > 0 && sorted[2 * segments - 1] > CHAIN_MAX;
  forRowUnits(segments, quads ? dim / 4 : dim, [=](u32 s, u32 unit) {
    const u32 begin = s == 0 ? 0 : sorted[2 * s - 1], end = sorted[2 * s + 1];
    const u32* const own = entries + begin;
    float* const to = ugrad + (u64)sorted[2 * s] * ugradStride;
    if (quads) {
      float* const at = to + unit * 4;
      sumOfId<2>(
          load4(at), make_float4(0, 0, 0, 0), end - begin, inBlocks,
          [=](float4 sum, u32 i) {
            const u32 r = own[i] / perRow, k = own[i] - r * perRow;
            const float4 g = load4(grad + (u64)r * gradStride + k * dim + unit * 4);
            return add4(sum, rowSplits == nullptr ? g : divide4(g, (float)(rowSplits[r + 1] - rowSplits[r])));
          },
          [=](float4 sum, bool adds) { put4(at, sum, adds); });
    } else {
      float* const at = to + unit;
      sumOfId<2>(
          *at, 0.0f, end - begin, inBlocks,
          [=](float sum, u32 i) {
            const u32 r = own[i] / perRow, k = own[i] - r * perRow;
            const float g = grad[(u64)r * gradStride + k * dim + unit];
            return sum + (rowSplits == nullptr ? g : g / (float)(rowSplits[r + 1] - rowSplits[r]));
          },
          [=](float sum, bool adds) { put(at, sum, adds); });
    }
  });
}

KERNEL seqMaskF32(const u32* splits, u32 rows, u32 n, float* dst, u32 dstStride) {
  forElements(rows, n,
              [=](u32 r, u32 j) { dst[(u64)r * dstStride + j] = j < splits[r + 1] - splits[r] ? 1.0f : 0.0f; });
}

KERNEL firstNF32(const u64* rowPtrs, const u32* inverse, const u32* splits, u32 rows, u32 dim, u32 n, float* out,
                 u32 outStride) {
  forElements(rows, n * dim, [=](u32 r, u32 at) {
    const u32 j = at / dim, from = splits[r];
    const bool has = j < splits[r + 1] - from;
    out[(u64)r * outStride + at] = has ? ((const float*)rowPtrs[inverse[from - splits[0] + j]])[at - j * dim] : 0.0f;
  });
}

KERNEL firstNGradF32(const float* grad, u32 gradStride, const u32* inverse, const u32* splits, u32 rows, u32 dim, u32 n,
                     float* ugrad, u32 ugradStride, void* scratch) {
  forElements(rows, n * dim, [=](u32 r, u32 at) {
    const u32 j = at / dim, from = splits[r];
    if (j >= splits[r + 1] - from) return;
    atomicAdd(ugrad + (u64)inverse[from - splits[0] + j] * ugradStride + (at - j * dim),
              grad[(u64)r * gradStride + at]);
  });
}
