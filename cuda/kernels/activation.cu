// Activations and their gradients. Bit-equal to the CPU where no exp, tanh or erf enters; a few units in the last place
// else.
#include "common.cuh"

#define FORWARD(name, expression)                                                       \
  KERNEL name(const float* x, u32 xStride, float* y, u32 yStride, u32 rows, u32 cols) { \
    mapRows(x, xStride, y, yStride, rows, cols, 0, [](float v) { return expression; }); \
  }

/** `v` is y or x, whichever the slope is taken from. */
#define BACKWARD(name, expression)                                                                                     \
  KERNEL name(const float* dy, u32 dyStride, const float* y, u32 yStride, float* dx, u32 dxStride, u32 rows, u32 cols, \
              u32 acc) {                                                                                               \
    zipRows(dy, dyStride, y, yStride, dx, dxStride, rows, cols, acc, [](float g, float v) { return expression; });     \
  }

/** With long functions, one element at a time: four copies of expf would not make the memory faster. */
#define SMOOTH(name, expression)                                                        \
  KERNEL name(const float* x, u32 xStride, float* y, u32 yStride, u32 rows, u32 cols) { \
    forElements(rows, cols, [=](u32 r, u32 c) {                                         \
      const float v = x[(u64)r * xStride + c];                                          \
      y[(u64)r * yStride + c] = expression;                                             \
    });                                                                                 \
  }
#define SMOOTH_GRAD(name, expression)                                                                                  \
  KERNEL name(const float* dy, u32 dyStride, const float* x, u32 xStride, float* dx, u32 dxStride, u32 rows, u32 cols, \
              u32 acc) {                                                                                               \
    forElements(rows, cols, [=](u32 r, u32 c) {                                                                        \
      const float v = x[(u64)r * xStride + c];                                                                         \
      put(dx + (u64)r * dxStride + c, dy[(u64)r * dyStride + c] * (expression), acc);                                  \
    });                                                                                                                \
  }

FORWARD(reluF32, maxOf(v, 0.0f))
KERNEL biasReluF32(const float* x, u32 xStride, const float* bias, float* y, u32 yStride, u32 rows, u32 cols) {
  zipRows(x, xStride, bias, 0, y, yStride, rows, cols, 0, [](float v, float b) { return maxOf(v + b, 0.0f); });
}

BACKWARD(reluGradF32, v > 0 ? g : 0.0f)
SMOOTH(sigmoidF32, logistic(v))
BACKWARD(sigmoidGradF32, (g * (v * (1.0f - v))))
SMOOTH(tanhF32, tanhf(v))
BACKWARD(tanhGradF32, g * (1.0f - v * v))

INLINE float normalDensity(float x) { return expf(-0.5f * x * x) * 0.3989422804014327f; }

/** sigmoid(2 * sqrt(2 / pi) * (x + 0.044715 * x^3)). */
INLINE float geluGate(float x) { return logistic(1.5957691216057308f * (x + 0.044715f * x * x * x)); }

INLINE float geluTanhSlope(float x) {
  const float s = geluGate(x);
  // 1 - s loses what is left of it far from 0, where the product with x has to vanish.
  const float rest = geluGate(-x);
  return s + s * rest * x * (1.5957691216057308f * (1.0f + 3.0f * 0.044715f * x * x));
}

SMOOTH(geluF32, (v * normcdff(v)))
SMOOTH_GRAD(geluGradF32, normcdff(v) + v * normalDensity(v))
SMOOTH(geluTanhF32, (v * geluGate(v)))
SMOOTH_GRAD(geluTanhGradF32, geluTanhSlope(v))
SMOOTH(swishF32, (v * logistic(v)))
SMOOTH_GRAD(swishGradF32, logistic(v) * (1.0f + v * logistic(-v)))
SMOOTH(softplusF32, softplus(v))
SMOOTH_GRAD(softplusGradF32, logistic(v))

KERNEL leakyReluF32(const float* x, u32 xStride, float* y, u32 yStride, u32 rows, u32 cols, float slope) {
  mapRows(x, xStride, y, yStride, rows, cols, 0, [=](float v) { return v > 0 ? v : v * slope; });
}

KERNEL leakyReluGradF32(const float* dy, u32 dyStride, const float* x, u32 xStride, float* dx, u32 dxStride, u32 rows,
                        u32 cols, float slope, u32 acc) {
  zipRows(dy, dyStride, x, xStride, dx, dxStride, rows, cols, acc,
          [=](float g, float v) { return v > 0 ? g : g * slope; });
}

KERNEL preluF32(const float* x, u32 xStride, const float* slope, float* y, u32 yStride, u32 rows, u32 cols) {
  zipRows(x, xStride, slope, 0, y, yStride, rows, cols, 0, [](float v, float by) { return v > 0 ? v : v * by; });
}

KERNEL preluGradF32(const float* dy, u32 dyStride, const float* x, u32 xStride, const float* slope, float* dx,
                    u32 dxStride, u32 rows, u32 cols, u32 acc) {
  forElements(rows, cols, [=](u32 r, u32 c) {
    const float g = dy[(u64)r * dyStride + c];
    put(dx + (u64)r * dxStride + c, x[(u64)r * xStride + c] > 0 ? g : g * slope[c], acc);
  });
}
