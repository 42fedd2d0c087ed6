// Norms within a row, a warp each. Sums are made in f64, in an order that is not the CPU's: after the rounding to f32
// results are rarely another float.
#include "common.cuh"

template <class Term>
INLINE double sumOfRow(u32 cols, u32 lane, Term term) {
  double sum = 0;
  for (u32 c = lane; c < cols; c += 32) sum += term(c);
  return warpSum(sum);
}

KERNEL layerNormF32(const float* x, u32 xStride, const float* gain, const float* bias, float* y, u32 yStride,
                    float* stats, u32 rows, u32 cols, float epsilon) {
  forWarpRows(rows, [=](u32 r, u32 lane) {
    const float* row = x + (u64)r * xStride;
    const double exact = sumOfRow(cols, lane, [=](u32 c) { return (double)row[c]; }) / (double)cols;
    const double squares = sumOfRow(cols, lane, [=](u32 c) { return (row[c] - exact) * (row[c] - exact); });
    const float mean = (float)exact, rstd = (float)(1.0 / sqrt(squares / (double)cols + (double)epsilon));
    if (lane == 0) stats[2 * (u64)r] = mean;
    if (lane == 1) stats[2 * (u64)r + 1] = rstd;
    for (u32 c = lane; c < cols; c += 32) y[(u64)r * yStride + c] = (row[c] - mean) * rstd * gain[c] + bias[c];
  });
}

KERNEL layerNormGradF32(const float* dy, u32 dyStride, const float* x, u32 xStride, const float* gain,
                        const float* stats, float* dx, u32 dxStride, u32 rows, u32 cols, u32 acc) {
  forWarpRows(rows, [=](u32 r, u32 lane) {
    const float mean = stats[2 * (u64)r], rstd = stats[2 * (u64)r + 1];
    const float *grad = dy + (u64)r * dyStride, *row = x + (u64)r * xStride;
    const float meanH =
        (float)(sumOfRow(cols, lane, [=](u32 c) { return (double)(grad[c] * gain[c]); }) / (double)cols);
    const double dots =
        sumOfRow(cols, lane, [=](u32 c) { return (double)(grad[c] * gain[c]) * ((row[c] - mean) * rstd); });
    const float meanDot = (float)(dots / (double)cols);
    for (u32 c = lane; c < cols; c += 32) {
      const float unit = (row[c] - mean) * rstd;
      put(dx + (u64)r * dxStride + c, rstd * ((grad[c] * gain[c] - meanH) - unit * meanDot), acc);
    }
  });
}

KERNEL l2NormalizeF32(const float* x, u32 xStride, float* y, u32 yStride, u32 rows, u32 cols, float epsilon) {
  forWarpRows(rows, [=](u32 r, u32 lane) {
    const float* row = x + (u64)r * xStride;
    const double squares = sumOfRow(cols, lane, [=](u32 c) { return (double)row[c] * row[c]; });
    const float inverse = (float)(1.0 / sqrt(fmax(squares, (double)epsilon)));
    for (u32 c = lane; c < cols; c += 32) y[(u64)r * yStride + c] = row[c] * inverse;
  });
}

KERNEL l2NormalizeGradF32(const float* dy, u32 dyStride, const float* x, u32 xStride, float* dx, u32 dxStride, u32 rows,
                          u32 cols, float epsilon, u32 acc) {
  forWarpRows(rows, [=](u32 r, u32 lane) {
    const float *grad = dy + (u64)r * dyStride, *row = x + (u64)r * xStride;
    const double squares = sumOfRow(cols, lane, [=](u32 c) { return (double)row[c] * row[c]; });
    const double dots = sumOfRow(cols, lane, [=](u32 c) { return (double)grad[c] * row[c]; });
    const float inverse = (float)(1.0 / sqrt(fmax(squares, (double)epsilon)));
    const float along = squares > (double)epsilon ? (float)(dots / squares) : 0.0f;
    for (u32 c = lane; c < cols; c += 32) put(dx + (u64)r * dxStride + c, (grad[c] - row[c] * along) * inverse, acc);
  });
}
