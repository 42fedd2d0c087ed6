// The largest values of groups of neighbouring floats, and their gradient. Bit-equal to the CPU.
#include "common.cuh"

/** A number that is larger for a larger value and, of equal values, for the earlier place. NaN is below everything. */
INLINE u64 rankOf(float v, u32 place) {
  const u32 bits = v == 0 ? 0 : __float_as_uint(v);
  const u32 key = v != v ? 0 : bits >> 31 ? ~bits : bits | 0x80000000u;
  return (u64)key << 32 | ~place;
}

/** A warp per group; each of `k` rounds finds the largest of what is below the one before. k is small. */
KERNEL topKF32(const float* x, u32 xStride, float* values, u32 valuesStride, float* indices, u32 indicesStride,
               u32 rows, u32 groups, u32 width, u32 k) {
  forWarpRows(rows * groups, [=](u32 group, u32 lane) {
    const u32 r = group / groups, g = group - r * groups;
    const float* const from = x + (u64)r * xStride + g * width;
    u64 before = ~0ull;
    for (u32 i = 0; i < k; i++) {
      u64 most = 0;
      for (u32 c = lane; c < width; c += 32) {
        const u64 rank = rankOf(from[c], c);
        if (rank < before && rank > most) most = rank;
      }
#pragma unroll
      for (u32 step = 16; step > 0; step >>= 1) most = max(most, __shfl_xor_sync(WHOLE_WARP, most, step));
      const u32 place = ~(u32)most;
      if (lane == 0) {
        values[(u64)r * valuesStride + g * k + i] = from[place];
        indices[(u64)r * indicesStride + g * k + i] = (float)place;
      }
      before = most;
    }
  });
}

/** A warp per group, whose places are as topKF32 gives them: none twice. */
KERNEL topKGradF32(const float* dy, u32 dyStride, const float* indices, u32 indicesStride, float* dx, u32 dxStride,
                   u32 rows, u32 groups, u32 width, u32 k, u32 acc) {
  forWarpRows(rows * groups, [=](u32 group, u32 lane) {
    const u32 r = group / groups, g = group - r * groups;
    float* const to = dx + (u64)r * dxStride + g * width;
    if (!acc) {
      for (u32 c = lane; c < width; c += 32) to[c] = 0;
      __syncwarp();
    }
    for (u32 i = lane; i < k; i += 32) {
      float* const place = to + (u32)indices[(u64)r * indicesStride + g * k + i];
      *place = *place + dy[(u64)r * dyStride + g * k + i];
    }
  });
}
