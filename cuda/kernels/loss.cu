// Losses of one logit per example, a thread each, and of a row of logits, a warp each. hinge is bit-equal to the CPU,
// the others are as near as expf and log1pf.
#include "common.cuh"

#define LOGIT_AND_LABEL(r) const float v = x[(u64)(r) * xStride], y = label[(u64)(r) * labelStride]

template <class Visit>
INLINE void forRows(u32 rows, Visit visit) {
  for (u32 r = firstThread(); r < rows; r += allThreads()) visit(r);
}

KERNEL bceLogitsF32(const float* x, u32 xStride, const float* label, u32 labelStride, float* out, u32 outStride,
                    u32 rows) {
  forRows(rows, [=](u32 r) {
    LOGIT_AND_LABEL(r);
    out[(u64)r * outStride] = (maxOf(v, 0.0f) - v * y) + log1pf(expf(-fabsf(v)));
  });
}

KERNEL bceLogitsGradF32(const float* x, u32 xStride, const float* label, u32 labelStride, const float* dy, u32 dyStride,
                        float* dx, u32 dxStride, u32 rows, u32 acc) {
  forRows(rows, [=](u32 r) {
    LOGIT_AND_LABEL(r);
    put(dx + (u64)r * dxStride, dy[(u64)r * dyStride] * (logistic(v) - y), acc);
  });
}

KERNEL weightedBceF32(const float* x, u32 xStride, const float* label, u32 labelStride, float* out, u32 outStride,
                      u32 rows, float positive, float negative) {
  forRows(rows, [=](u32 r) {
    LOGIT_AND_LABEL(r);
    out[(u64)r * outStride] = positive * y * softplus(-v) + negative * (1.0f - y) * softplus(v);
  });
}

KERNEL weightedBceGradF32(const float* x, u32 xStride, const float* label, u32 labelStride, const float* dy,
                          u32 dyStride, float* dx, u32 dxStride, u32 rows, float positive, float negative, u32 acc) {
  forRows(rows, [=](u32 r) {
    LOGIT_AND_LABEL(r);
    const float slope = negative * (1.0f - y) * logistic(v) - positive * y * logistic(-v);
    put(dx + (u64)r * dxStride, dy[(u64)r * dyStride] * slope, acc);
  });
}

KERNEL hingeF32(const float* x, u32 xStride, const float* label, u32 labelStride, float* out, u32 outStride, u32 rows) {
  forRows(rows, [=](u32 r) {
    LOGIT_AND_LABEL(r);
    out[(u64)r * outStride] = maxOf(0.0f, 1.0f - (y + y - 1.0f) * v);
  });
}

KERNEL hingeGradF32(const float* x, u32 xStride, const float* label, u32 labelStride, const float* dy, u32 dyStride,
                    float* dx, u32 dxStride, u32 rows, u32 acc) {
  forRows(rows, [=](u32 r) {
    LOGIT_AND_LABEL(r);
    const float sign = y + y - 1.0f;
    put(dx + (u64)r * dxStride, dy[(u64)r * dyStride] * (1.0f - sign * v > 0 ? -sign : 0.0f), acc);
  });
}

KERNEL focalF32(const float* x, u32 xStride, const float* label, u32 labelStride, float* out, u32 outStride, u32 rows,
                float gamma, float positive, float negative) {
  forRows(rows, [=](u32 r) {
    LOGIT_AND_LABEL(r);
    const float up = softplus(-v), down = softplus(v);
    out[(u64)r * outStride] =
        positive * y * expf(-gamma * down) * up + negative * (1.0f - y) * expf(-gamma * up) * down;
  });
}

KERNEL focalGradF32(const float* x, u32 xStride, const float* label, u32 labelStride, const float* dy, u32 dyStride,
                    float* dx, u32 dxStride, u32 rows, float gamma, float positive, float negative, u32 acc) {
  forRows(rows, [=](u32 r) {
    LOGIT_AND_LABEL(r);
    const float up = softplus(-v), down = softplus(v), p = logistic(v), q = logistic(-v);
    const float ifPositive = -expf(-gamma * down) * (gamma * p * up + q);
    const float ifNegative = expf(-gamma * up) * (gamma * q * down + p);
    const float slope = positive * y * ifPositive + negative * (1.0f - y) * ifNegative;
    put(dx + (u64)r * dxStride, dy[(u64)r * dyStride] * slope, acc);
  });
}

INLINE float rowMax(const float* row, u32 cols, u32 lane) {
  float top = __int_as_float(0xff800000);
  for (u32 c = lane; c < cols; c += 32) top = maxOf(top, row[c]);
  return warpMax(top);
}

INLINE float sumOfExp(const float* row, u32 cols, u32 lane, float top) {
  float sum = 0;
  for (u32 c = lane; c < cols; c += 32) sum += expf(row[c] - top);
  return warpSum(sum);
}

/** The label of class c: given, or 1 for the class that is named; NaN when there is no such class. */
INLINE float labelOf(const float* label, u32 c, u32 cols, u32 index) {
  if (!index) return label[c];
  const float named = label[0];
  const bool exists = named >= 0 && named < (float)cols && truncf(named) == named;
  return exists ? ((float)c == named ? 1.0f : 0.0f) : __int_as_float(0x7fc00000);
}

KERNEL softmaxLossF32(const float* x, u32 xStride, const float* label, u32 labelStride, float* out, u32 outStride,
                      u32 rows, u32 cols, u32 index) {
  forWarpRows(rows, [=](u32 r, u32 lane) {
    const float* row = x + (u64)r * xStride;
    const float top = rowMax(row, cols, lane);
    const float log = logf(sumOfExp(row, cols, lane, top));
    float loss = 0;
    for (u32 c = lane; c < cols; c += 32) {
      const float weight = labelOf(label + (u64)r * labelStride, c, cols, index);
      // A class that is not named takes no part, whatever its logit.
      if (!index || weight != 0) loss += weight * (log + (top - row[c]));
    }
    loss = warpSum(loss);
    if (lane == 0) out[(u64)r * outStride] = loss;
  });
}

KERNEL softmaxLossGradF32(const float* x, u32 xStride, const float* label, u32 labelStride, const float* dy,
                          u32 dyStride, float* dx, u32 dxStride, u32 rows, u32 cols, u32 index, u32 acc) {
  forWarpRows(rows, [=](u32 r, u32 lane) {
    const float* row = x + (u64)r * xStride;
    const float* labels = label + (u64)r * labelStride;
    const float top = rowMax(row, cols, lane);
    float weights = 0;
    for (u32 c = lane; c < cols; c += 32) weights += labelOf(labels, c, cols, index);
    const float share = warpSum(weights) / sumOfExp(row, cols, lane, top);
    const float grad = dy[(u64)r * dyStride];
    for (u32 c = lane; c < cols; c += 32) {
      const float slope = expf(row[c] - top) * share - labelOf(labels, c, cols, index);
      put(dx + (u64)r * dxStride + c, grad * slope, acc);
    }
  });
}
