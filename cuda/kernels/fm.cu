// The second-order term of a factorization machine. Sixteen lanes per row take a column each; sums are in the order of
// the CPU, so results are bit-equal to it.
#include "common.cuh"

#define FM_LANES 16

KERNEL fmPairsF32(const float* x, u32 xStride, float* out, u32 outStride, u32 rows, u32 fields, u32 dim, u32 acc) {
  const u32 lane = threadIdx.x % FM_LANES, whole = dim & ~3u;
  // Both rows of a warp go round together, as the shuffles need all lanes.
  for (u32 base = (firstThread() >> 5) * 2; base < rows; base += (allThreads() >> 5) * 2) {
    const u32 r = base + (threadIdx.x & 31) / FM_LANES;
    const float* row = x + (u64)r * xStride;
    float part = 0, tail = 0;
    for (u32 first = 0; first < dim; first += FM_LANES) {
      const u32 c = first + lane;
      float s = 0, q = 0;
      if (r < rows && c < dim) {
        for (u32 i = 0; i < fields; i++) {
          const float v = row[(u64)i * dim + c];
          s += v;
          q += v * v;
        }
      }
      const float term = s * s - q;
      // Lane 0 to 3 add the columns of their rest of four, from left to right.
#pragma unroll
      for (u32 four = 0; four < FM_LANES; four += 4) {
        const float next = __shfl_sync(WHOLE_WARP, term, (lane & 3) + four, FM_LANES);
        if (first + four < whole) part += next;
        else if (first + four < dim) tail = next;
      }
    }
    part += __shfl_down_sync(WHOLE_WARP, part, 2, FM_LANES);
    part += __shfl_down_sync(WHOLE_WARP, part, 1, FM_LANES);
    for (u32 i = 0; i < (dim & 3); i++) {
      const float next = __shfl_sync(WHOLE_WARP, tail, i, FM_LANES);
      part += next;
    }
    if (lane == 0 && r < rows) put(out + (u64)r * outStride, 0.5f * part, acc);
  }
}

KERNEL fmPairsGradF32(const float* dy, u32 dyStride, const float* x, u32 xStride, float* dx, u32 dxStride, u32 rows,
                      u32 fields, u32 dim, u32 acc) {
  forElements(rows, dim, [=](u32 r, u32 c) {
    const float* row = x + (u64)r * xStride + c;
    float sum = 0;
    for (u32 i = 0; i < fields; i++) sum += row[(u64)i * dim];
    const float g = dy[(u64)r * dyStride];
    for (u32 i = 0; i < fields; i++) put(dx + (u64)r * dxStride + (u64)i * dim + c, g * (sum - row[(u64)i * dim]), acc);
  });
}
