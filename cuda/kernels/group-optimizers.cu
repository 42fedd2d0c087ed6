// Optimizers whose step of a weight depends on the whole row, and batch_softmax, which has one weight. Rows are named
// as in row-optimizers.cu. Bit-equal to the CPU: a sum of squares has its order, which leaves four lanes to a row.
#include "steps.cuh"

#define LANES 4

/** The sum of squares of a row in the order of the CPU: four lanes over whole quads, (0 + 1) + (2 + 3), then the rest.
 */
INLINE float squaresOfRow(const float* v, u32 dim, u32 lane) {
  float sum = 0;
  const u32 body = dim & ~3u;
  for (u32 c = lane; c < body; c += LANES) sum += v[c] * v[c];
  sum += __shfl_xor_sync(WHOLE_WARP, sum, 1);
  sum += __shfl_xor_sync(WHOLE_WARP, sum, 2);
  for (u32 c = body; c < dim; c++) sum += v[c] * v[c];
  return sum;
}

/** visit(i, row, lane, dim) by four lanes; all lanes of a warp come along, those without a row with a dim of 0. */
template <class Visit>
INLINE void forGroups(const u32* index, u32 count, u32 dim, Visit visit) {
  for (u32 base = (firstThread() >> 5) * 8; base < count; base += (allThreads() >> 5) * 8) {
    const u32 i = base + ((threadIdx.x & 31) >> 2);
    const u32 row = i >= count ? NO_ROW : index == nullptr ? i : index[i];
    const bool has = row != NO_ROW;
    visit(has ? i : 0, has ? row : 0, threadIdx.x & 3, has ? dim : 0);
  }
}

/** State: one float. Leaves the gradient changed, and the weights where l or their size is no finite number. */
KERNEL stepRowsGroupAdagradF32(float* w, u32 wStride, float* state, u32 stateStride, const u32* index, float* grad,
                               u32 gradStride, u32 count, u32 dim, float lr, float beta, float l2, float decay) {
  forGroups(index, count, dim, [=](u32 i, u32 row, u32 lane, u32 n) {
    float *const weights = w + (u64)row * wStride, *const z = grad + (u64)i * gradStride;
    float* const slot = state + (u64)row * stateStride;
    float top = 0;
    for (u32 c = lane; c < n; c += LANES) {
      const float h = z[c] + decay * weights[c];
      z[c] = h;
      top = maxOf(top, h * h);
    }
    top = maxOf(top, __shfl_xor_sync(WHOLE_WARP, top, 1));
    top = maxOf(top, __shfl_xor_sync(WHOLE_WARP, top, 2));
    const float q = (n == 0 ? 0.0f : *slot) + top, l = lr / (beta + sqrtf(q));
    for (u32 c = lane; c < n; c += LANES) z[c] = z[c] - weights[c] / l;
    __syncwarp();
    const float size = sqrtf(squaresOfRow(z, n, lane));
    const float factor = (-l * (size - l2)) / size;
    const bool stays = !(isfinite(size) && isfinite(l));
    for (u32 c = lane; c < n && !stays; c += LANES) weights[c] = size < l2 || size == 0 ? 0.0f : factor * z[c];
    if (n > 0 && lane == 0) *slot = q;
  });
}

/** State: norm[dim], zero[dim]. */
KERNEL stepRowsGroupFtrlF32(float* w, u32 wStride, float* state, u32 stateStride, const u32* index, const float* grad,
                            u32 gradStride, u32 count, u32 dim, float lr, float beta, float l1, float l2) {
  forGroups(index, count, dim, [=](u32 i, u32 row, u32 lane, u32 n) {
    float *const weights = w + (u64)row * wStride, *const norm = state + (u64)row * stateStride,
                 *const zero = norm + dim;
    const float* const g = grad + (u64)i * gradStride;
    for (u32 c = lane; c < n; c += LANES) {
      const float before = norm[c], after = before + g[c] * g[c];
      const float pull = lr == 0 ? 0.0f : ((sqrtf(after) - sqrtf(before)) / lr) * weights[c];
      norm[c] = after;
      zero[c] = (zero[c] + g[c]) - pull;
    }
    __syncwarp();
    const float size = sqrtf(squaresOfRow(zero, n, lane));
    const float factor = isfinite(size) ? (l1 - size) / size : -1.0f, l2Rate = l2 * lr;
    for (u32 c = lane; c < n && lr != 0; c += LANES) {
      const float scale = divisor((beta + sqrtf(norm[c])) + l2Rate);
      weights[c] = size < l1 || size == 0 ? 0.0f : ((lr * zero[c]) * factor) / scale;
    }
  });
}

/** State: the step of the last update, 64 bits at a multiple of 4. The rate moves the weight towards the steps in
 * between. */
KERNEL stepRowsBatchSoftmaxF32(float* w, u32 wStride, u32* state, u32 stateStride, const u32* index, u32 count,
                               float lr, u32 stepLow, u32 stepHigh) {
  for (u32 i = firstThread(); i < count; i += allThreads()) {
    const u32 row = index == nullptr ? i : index[i];
    if (row == NO_ROW) continue;
    u32* const slot = state + (u64)row * stateStride;
    float* const weight = w + (u64)row * wStride;
    const u64 now = (u64)stepHigh << 32 | stepLow, before = (u64)slot[1] << 32 | slot[0];
    const float gap = (float)(long long)(now - before);
    slot[0] = stepLow;
    slot[1] = stepHigh;
    *weight = (1.0f - lr) * *weight + lr * gap;
  }
}
