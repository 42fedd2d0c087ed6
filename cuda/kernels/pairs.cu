// The compressed interaction of pairs of fields, and the loss over pairs of examples.
//
// Sums of cinF32 and its gradients run in the order of the CPU and are bit-equal to it.
#include "block-sums.cuh"

/**
 * out[r, o, :] (+)= sum over pairs of w[pair, o] * left * right. A thread has one column of four outputs (of one, where
 * there are odd ones), so that a product of two fields is used four times. Nothing is kept in memory: there is no
 * scratch.
 */
template <u32 OUTS>
INLINE void interact(const float* left, u32 leftStride, const float* right, u32 rightStride, const float* w, float* out,
                     u32 outStride, u32 rows, u32 lefts, u32 rights, u32 dim, u32 outs, u32 acc) {
  const u32 perRow = outs / OUTS * dim, total = rows * perRow;
  for (u32 item = firstThread(); item < total; item += allThreads()) {
    const u32 r = item / perRow, at = item - r * perRow, o = at / dim * OUTS, d = at % dim;
    const float* const x = left + (u64)r * leftStride + d;
    const float* const y = right + (u64)r * rightStride + d;
    const float* weight = w + o;
    float4 sum = make_float4(0, 0, 0, 0);
    for (u32 i = 0; i < lefts; i++) {
      const float a = x[i * dim];
      for (u32 j = 0; j < rights; j++, weight += outs) {
        const float z = a * y[j * dim];
        if (OUTS == 1) {
          sum.x += weight[0] * z;
        } else {
          const float4 v = load4(weight);
          sum = add4(sum, make_float4(v.x * z, v.y * z, v.z * z, v.w * z));
        }
      }
    }
    float* const to = out + (u64)r * outStride + o * dim + d;
    put(to, sum.x, acc);
    if (OUTS == 4) {
      put(to + dim, sum.y, acc);
      put(to + 2 * dim, sum.z, acc);
      put(to + 3 * dim, sum.w, acc);
    }
  }
}

KERNEL cinF32(const float* left, u32 leftStride, const float* right, u32 rightStride, const float* w, float* out,
              u32 outStride, u32 rows, u32 lefts, u32 rights, u32 dim, u32 outs, float* scratch, u32 acc) {
  if (outs % 4 == 0)
    interact<4>(left, leftStride, right, rightStride, w, out, outStride, rows, lefts, rights, dim, outs, acc);
  else interact<1>(left, leftStride, right, rightStride, w, out, outStride, rows, lefts, rights, dim, outs, acc);
}

/** to (+)= sum over k of other[k] * dot of w[first + k * step, :] and dy[:], for one column. */
INLINE void interactGrad(const float* dy, const float* other, const float* w, float* to, u32 count, u32 first, u32 step,
                         u32 dim, u32 outs, u32 acc) {
  float sum = acc ? *to : 0.0f;
  for (u32 k = 0; k < count; k++) {
    const float* const weight = w + (u64)(first + k * step) * outs;
    float dz = 0;
    for (u32 o = 0; o < outs; o++) dz += weight[o] * dy[o * dim];
    const float term = dz * other[k * dim];
    sum = acc || k > 0 ? sum + term : term;
  }
  *to = sum;
}

/** dw[pair, o] = sum over rows, each of them a sum over columns, in blocks of PAIR_ROWS. */
INLINE float weightGrad(const float* dy, u32 dyStride, const float* left, u32 leftStride, const float* right,
                        u32 rightStride, u32 rows, u32 dim) {
  float total = 0, block = 0;
  for (u32 r = 0; r < rows; r++, dy += dyStride, left += leftStride, right += rightStride) {
    if (r > 0 && r % PAIR_ROWS == 0) {
      total = r == PAIR_ROWS ? block : total + block;
      block = 0;
    }
    float sum = 0;
    if (dim % 4 == 0) {
      for (u32 d = 0; d < dim; d += 4) {
        const float4 x = load4(left + d), y = load4(right + d), g = load4(dy + d);
        sum += (x.x * y.x) * g.x;
        sum += (x.y * y.y) * g.y;
        sum += (x.z * y.z) * g.z;
        sum += (x.w * y.w) * g.w;
      }
    } else {
      for (u32 d = 0; d < dim; d++) sum += (left[d] * right[d]) * dy[d];
    }
    block += sum;
  }
  return rows <= PAIR_ROWS ? block : total + block;
}

/**
 * A thread has one float of both sides, dLeft first: dRight may be added to the same matrix. The threads after those
 * have one weight each. The gradient of a product of fields is computed for either side, which spares a scratch per
 * example.
 */
KERNEL cinGradF32(const float* dy, u32 dyStride, const float* left, u32 leftStride, const float* right, u32 rightStride,
                  const float* w, float* dLeft, u32 dLeftStride, u32 accLeft, float* dRight, u32 dRightStride,
                  u32 accRight, float* dw, u32 rows, u32 lefts, u32 rights, u32 dim, u32 outs, float* scratch) {
  const u32 perRow = max(lefts, rights) * dim, sides = rows * perRow, total = sides + lefts * rights * outs;
  for (u32 item = firstThread(); item < total; item += allThreads()) {
    if (item < sides) {
      const u32 r = item / perRow, at = item - r * perRow, e = at / dim, d = at - e * dim;
      const float* const g = dy + (u64)r * dyStride + d;
      const float* const x = left + (u64)r * leftStride + d;
      const float* const y = right + (u64)r * rightStride + d;
      if (e < lefts)
        interactGrad(g, y, w, dLeft + (u64)r * dLeftStride + at, rights, e * rights, 1, dim, outs, accLeft);
      if (e < rights) interactGrad(g, x, w, dRight + (u64)r * dRightStride + at, lefts, e, rights, dim, outs, accRight);
    } else {
      const u32 at = item - sides, pair = at / outs, o = at - pair * outs, i = pair / rights, j = pair - i * rights;
      dw[at] = weightGrad(dy + o * dim, dyStride, left + i * dim, leftStride, right + j * dim, rightStride, rows, dim);
    }
  }
}

INLINE bool isPositive(float label) { return label > 0; }
INLINE bool isNegative(float label) { return label <= 0 && label > -10000.0f; }

/** The sum over positives of the slice and all negatives of log sigmoid of their difference. Chunk q has every 256th
 * positive. */
KERNEL inbatchAucF32(const float* labels, const float* logits, u32 rows, u32 first, u32 count, float* dst) {
  sumChunks(
      [=](u32 q) {
        double sum = 0;
        for (u32 p = first + q; p < first + count; p += CHUNKS) {
          if (!isPositive(labels[p])) continue;
          for (u32 n = threadIdx.x; n < rows; n += blockDim.x) {
            const float d = logits[p] - logits[n];
            if (isNegative(labels[n])) sum += (double)(minOf(d, 0.0f) - log1pf(expf(-fabsf(d))));
          }
        }
        return sum;
      },
      [=](double sum) { dst[0] = (float)sum; });
}

/** A warp per row of the slice. */
KERNEL inbatchAucGradF32(const float* labels, const float* logits, u32 rows, u32 first, u32 count, const float* grad,
                         float negWeight, float* dst, u32 dstStride, u32 acc) {
  forWarpRows(count, [=](u32 i, u32 lane) {
    const float label = labels[first + i], x = logits[first + i];
    const bool positive = isPositive(label);
    double sum = 0;
    if (positive || isNegative(label)) {
      for (u32 j = lane; j < rows; j += 32) {
        const float d = positive ? x - logits[j] : logits[j] - x;
        // 1 / (1 + exp(d)).
        if (positive ? isNegative(labels[j]) : isPositive(labels[j])) sum += (double)logistic(-d);
      }
    }
    sum = warpSum(sum);
    const double scale = grad[0];
    if (lane == 0) put(dst + (u64)i * dstStride, (float)(scale * (positive ? sum : -(double)negWeight * sum)), acc);
  });
}
