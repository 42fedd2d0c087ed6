// Sums and extremes. Sums over a batch are made by many threads in a fixed order that is not the CPU's; their tolerance
// is in the tests. rowDotF32, reduceSlicesF32, clips and the extremes are bit-equal to the CPU.
#include "block-sums.cuh"

#define COLUMNS 8
#define LANES 32

/** Sums of 8 columns by a block: 32 threads walk each column, their sums are added in order. 8 floats are one sector.
 */
template <class Term>
INLINE void sumColumnsOfBlock(float* dst, u32 rows, u32 cols, u32 acc, Term term) {
  __shared__ float parts[LANES][COLUMNS + 1];
  const u32 column = threadIdx.x % COLUMNS, lane = threadIdx.x / COLUMNS;
  for (u32 base = blockIdx.x * COLUMNS; base < cols; base += gridDim.x * COLUMNS) {
    const u32 c = base + column;
    parts[lane][column] = c < cols ? sumInBlocks(lane, rows, LANES, [=](u32 r) { return term(r, c); }) : 0.0f;
    __syncthreads();
    if (lane == 0 && c < cols) {
      float total = acc ? dst[c] : 0.0f;
      for (u32 i = 0; i < LANES; i++) total += parts[i][column];
      dst[c] = total;
    }
    __syncthreads();
  }
}

KERNEL sumRowsF32(const float* src, u32 srcStride, float* dst, u32 rows, u32 cols, u32 acc) {
  sumColumnsOfBlock(dst, rows, cols, acc, [=](u32 r, u32 c) { return src[(u64)r * srcStride + c]; });
}

KERNEL preluSlopeGradF32(const float* dy, u32 dyStride, const float* x, u32 xStride, float* dslope, u32 rows,
                         u32 cols) {
  sumColumnsOfBlock(dslope, rows, cols, 0, [=](u32 r, u32 c) {
    const float v = x[(u64)r * xStride + c];
    return v > 0 ? 0.0f : dy[(u64)r * dyStride + c] * v;
  });
}

KERNEL layerNormGainGradF32(const float* dy, u32 dyStride, const float* x, u32 xStride, const float* stats,
                            float* dgain, u32 rows, u32 cols) {
  sumColumnsOfBlock(dgain, rows, cols, 0, [=](u32 r, u32 c) {
    const float mean = stats[2 * r], rstd = stats[2 * r + 1];
    return dy[(u64)r * dyStride + c] * ((x[(u64)r * xStride + c] - mean) * rstd);
  });
}

/** One block: no order of blocks has to be waited for, and what is summed so is a loss per example. */
KERNEL sumF32(const float* src, u32 srcStride, u32 rows, u32 cols, float* dst, float factor) {
  double sum = 0;
  const u32 total = rows * cols;
  for (u32 i = threadIdx.x; i < total; i += blockDim.x) sum += src[(u64)(i / cols) * srcStride + i % cols];
  sum = blockSum(sum);
  if (threadIdx.x == 0) dst[0] = (float)((double)factor * sum);
}

KERNEL sumColumnsF32(const float* src, u32 srcStride, u32 rows, u32 cols, float* out, u32 outStride, float factor) {
  forWarpRows(rows, [=](u32 r, u32 lane) {
    double sum = 0;
    for (u32 c = lane; c < cols; c += 32) sum += src[(u64)r * srcStride + c];
    sum = warpSum(sum);
    if (lane == 0) out[(u64)r * outStride] = (float)((double)factor * sum);
  });
}

KERNEL maxColumnsF32(const float* src, u32 srcStride, u32 rows, u32 cols, float* out, u32 outStride) {
  forWarpRows(rows, [=](u32 r, u32 lane) {
    float most = __int_as_float(0xff800000);
    for (u32 c = lane; c < cols; c += 32) most = maxOf(most, src[(u64)r * srcStride + c]);
    most = warpMax(most);
    if (lane == 0) out[(u64)r * outStride] = most;
  });
}

KERNEL maxRowsF32(const float* src, u32 srcStride, float* dst, u32 rows, u32 cols) {
  for (u32 c = firstThread(); c < cols; c += allThreads()) {
    float most = __int_as_float(0xff800000);
    for (u32 r = 0; r < rows; r++) most = maxOf(most, src[(u64)r * srcStride + c]);
    dst[c] = most;
  }
}

KERNEL reduceSlicesF32(const float* src, u32 sliceStride, u32 slices, float* dst, u32 n) {
  for (u32 i = firstThread(); i < n; i += allThreads()) {
    float sum = slices > 0 ? src[i] : 0.0f;
    for (u32 s = 1; s < slices; s++) sum += src[(u64)s * sliceStride + i];
    dst[i] = sum;
  }
}

/** Eight lanes per row, each with the partial sum of one column of eight: the order of the CPU, and a sector per step.
 */
KERNEL rowDotF32(const float* a, u32 aStride, const float* b, u32 bStride, float* out, u32 outStride, u32 rows,
                 u32 cols, u32 acc) {
  const u32 lane = threadIdx.x & 7;
  // All groups of a warp go round together, as the shuffles need them all.
  for (u32 base = (firstThread() >> 5) * 4; base < rows; base += (allThreads() >> 5) * 4) {
    const u32 r = base + ((threadIdx.x & 31) >> 3);
    const u32 width = r < rows ? cols : 0;
    const float* x = a + (u64)r * aStride;
    const float* y = b + (u64)r * bStride;
    float part = 0;
    u32 c = 0;
    for (; c + 8 <= width; c += 8) part += x[c + lane] * y[c + lane];
    part += __shfl_down_sync(WHOLE_WARP, part, 4, 8);
    if (c + 4 <= width) {
      if (lane < 4) part += x[c + lane] * y[c + lane];
      c += 4;
    }
    part += __shfl_down_sync(WHOLE_WARP, part, 2, 8);
    part += __shfl_down_sync(WHOLE_WARP, part, 1, 8);
    if (lane == 0 && r < rows) {
      for (; c < width; c++) part += x[c] * y[c];
      put(out + (u64)r * outStride, part, acc);
    }
  }
}

/** A block per grain. */
KERNEL sumSquaresF64(const float* src, u32 count, u32 grain, double* dst) {
  for (u32 g = blockIdx.x; (u64)g * grain < count; g += gridDim.x) {
    const u32 end = (u32)min((u64)count, (u64)(g + 1) * grain);
    double sum = 0;
    for (u32 i = g * grain + threadIdx.x; i < end; i += blockDim.x) sum += (double)src[i] * src[i];
    sum = blockSum(sum);
    if (threadIdx.x == 0) dst[g] = sum;
  }
}

KERNEL rootOfSumF32(const double* src, u32 count, float* dst) {
  double sum = 0;
  for (u32 i = threadIdx.x; i < count; i += blockDim.x) sum += src[i];
  sum = blockSum(sum);
  if (threadIdx.x == 0) dst[0] = (float)sqrt(sum);
}

KERNEL clipToNormF32(const float* src, const float* norm, float* dst, u32 count, float clipNorm) {
  const float size = norm[0], factor = size > clipNorm ? clipNorm / size : 1.0f;
  mapRows(src, count, dst, count, 1, count, 0, [=](float x) { return factor * x; });
}

KERNEL clipRowsToNormF32(const float* src, u32 srcStride, const float* norm, float* dst, u32 dstStride, u32 rows,
                         u32 cols, float clipNorm) {
  const float size = norm[0], factor = size > clipNorm ? clipNorm / size : 1.0f;
  mapRows(src, srcStride, dst, dstStride, rows, cols, 0, [=](float x) { return factor * x; });
}

KERNEL clipValueF32(const float* src, float* dst, u32 n, float low, float high) {
  mapRows(src, n, dst, n, 1, n, 0, [=](float x) { return minOf(maxOf(x, low), high); });
}

KERNEL sumF64(const double* src, u32 count, double* dst) {
  double sum = 0;
  for (u32 i = threadIdx.x; i < count; i += blockDim.x) sum += src[i];
  sum = blockSum(sum);
  if (threadIdx.x == 0) dst[0] = sum;
}

KERNEL rowSquaresF64(const float* src, u32 srcStride, u32 rows, u32 cols, double* dst) {
  const u32 total = rows * cols;
  sumChunks(
      [=](u32 q) {
        double sum = 0;
        for (u32 i = q * BLOCK_THREADS + threadIdx.x; i < total; i += CHUNKS * BLOCK_THREADS) {
          const u32 r = i / cols;
          const double x = src[(u64)r * srcStride + (i - r * cols)];
          sum += x * x;
        }
        return sum;
      },
      [=](double sum) { dst[0] = sum; });
}
