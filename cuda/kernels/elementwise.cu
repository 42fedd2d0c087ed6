// Rows moved, scaled and combined element by element. Bit-equal to the CPU except exp, log and log1p of unaryF32.
#include "common.cuh"

KERNEL copyRowsF32(const float* src, u32 srcStride, float* dst, u32 dstStride, u32 rows, u32 cols, u32 acc) {
  mapRows(src, srcStride, dst, dstStride, rows, cols, acc, [](float x) { return x; });
}

KERNEL zeroRowsF32(float* dst, u32 dstStride, u32 rows, u32 cols) {
  mapRows(dst, dstStride, dst, dstStride, rows, cols, 0, [](float) { return 0.0f; });
}

KERNEL subF32(const float* a, u32 aStride, const float* b, u32 bStride, float* dst, u32 dstStride, u32 rows, u32 cols,
              u32 acc) {
  zipRows(a, aStride, b, bStride, dst, dstStride, rows, cols, acc, [](float x, float y) { return x - y; });
}

KERNEL mulF32(const float* a, u32 aStride, const float* b, u32 bStride, float* dst, u32 dstStride, u32 rows, u32 cols,
              u32 acc) {
  zipRows(a, aStride, b, bStride, dst, dstStride, rows, cols, acc, [](float x, float y) { return x * y; });
}

KERNEL scaleF32(const float* src, u32 srcStride, float* dst, u32 dstStride, u32 rows, u32 cols, float factor, u32 acc) {
  mapRows(src, srcStride, dst, dstStride, rows, cols, acc, [=](float x) { return factor * x; });
}

KERNEL addBiasF32(const float* x, u32 xStride, const float* bias, float* dst, u32 dstStride, u32 rows, u32 cols) {
  zipRows(x, xStride, bias, 0, dst, dstStride, rows, cols, 0, [](float v, float shift) { return v + shift; });
}

KERNEL scaleColumnsF32(const float* x, u32 xStride, const float* factor, float* dst, u32 dstStride, u32 rows, u32 cols,
                       u32 acc) {
  zipRows(x, xStride, factor, 0, dst, dstStride, rows, cols, acc, [](float v, float by) { return v * by; });
}

KERNEL broadcastScalarF32(const float* src, float* dst, u32 dstStride, u32 rows, u32 cols, float factor, u32 acc) {
  const float value = factor * src[0];
  forElements(rows, cols, [=](u32 r, u32 c) { put(dst + (u64)r * dstStride + c, value, acc); });
}

KERNEL scaleRowsF32(const float* scale, u32 scaleStride, const float* src, u32 srcStride, float* dst, u32 dstStride,
                    u32 rows, u32 cols, u32 acc) {
  forElements(rows, cols, [=](u32 r, u32 c) {
    put(dst + (u64)r * dstStride + c, scale[(u64)r * scaleStride] * src[(u64)r * srcStride + c], acc);
  });
}

KERNEL broadcastF32(const float* src, u32 srcStride, u32 srcStep, float* dst, u32 dstStride, u32 rows, u32 cols,
                    float factor, u32 acc) {
  forElements(rows, cols, [=](u32 r, u32 c) {
    put(dst + (u64)r * dstStride + c, factor * src[(u64)r * srcStride + (u64)c * srcStep], acc);
  });
}

INLINE float combine(u32 kind, float x, float y) {
  switch (kind) {
    case BINARY_KIND::add: return x + y;
    case BINARY_KIND::sub: return x - y;
    case BINARY_KIND::mul: return x * y;
    case BINARY_KIND::div: return x / y;
    case BINARY_KIND::maximum: return maxOf(x, y);
    case BINARY_KIND::minimum: return minOf(x, y);
    case BINARY_KIND::greaterEqual: return x >= y ? 1.0f : 0.0f;
    default: return x == y ? 1.0f : 0.0f;
  }
}

KERNEL binaryF32(u32 kind, const float* a, u32 aStride, u32 aStep, const float* b, u32 bStride, u32 bStep, float* dst,
                 u32 dstStride, u32 rows, u32 cols) {
  forElements(rows, cols, [=](u32 r, u32 c) {
    const float x = a[(u64)r * aStride + (u64)c * aStep], y = b[(u64)r * bStride + (u64)c * bStep];
    dst[(u64)r * dstStride + c] = combine(kind, x, y);
  });
}

INLINE float single(u32 kind, float x) {
  switch (kind) {
    case UNARY_KIND::abs: return fabsf(x);
    case UNARY_KIND::sqrt: return sqrtf(x);
    case UNARY_KIND::exp: return expf(x);
    case UNARY_KIND::log: return logf(x);
    case UNARY_KIND::log1p: return log1pf(x);
    default: return x > 0 ? 1.0f : x < 0 ? -1.0f : 0.0f;
  }
}

KERNEL unaryF32(u32 kind, const float* x, u32 xStride, float* y, u32 yStride, u32 rows, u32 cols) {
  forElements(rows, cols, [=](u32 r, u32 c) { y[(u64)r * yStride + c] = single(kind, x[(u64)r * xStride + c]); });
}

KERNEL divideByScalarF32(const float* x, u32 xStride, const float* divisor, float* dst, u32 dstStride, u32 rows,
                         u32 cols, u32 acc) {
  const float by = divisor[0];
  forElements(rows, cols, [=](u32 r, u32 c) {
    put(dst + (u64)r * dstStride + c, by == 0 ? 0.0f : x[(u64)r * xStride + c] / by, acc);
  });
}

INLINE u32 mixWord(u32 word) {
  u32 mixed = word ^ (word >> 16);
  mixed *= 0x7feb352du;
  mixed ^= mixed >> 15;
  mixed *= 0x846ca68bu;
  return mixed ^ (mixed >> 16);
}

/** hashU32 of src/base/random.ts. */
INLINE u32 hashU32(u32 seed, u32 a, u32 b, u32 c) {
  return mixWord(mixWord(mixWord(mixWord(seed ^ 0x9e3779b9u) ^ a) ^ (b * 0x85ebca6bu)) ^ (c * 0xc2b2ae35u));
}

KERNEL dropoutF32(const float* x, u32 xStride, float* y, u32 yStride, u32 rows, u32 cols, u32 first, const u32* step,
                  u32 seed, u32 drop, float scale, u32 acc) {
  const u32 counter = step[0];
  forElements(rows, cols, [=](u32 r, u32 c) {
    const bool stays = hashU32(seed, counter, first + r, c) >= drop;
    put(y + (u64)r * yStride + c, stays ? x[(u64)r * xStride + c] * scale : 0.0f, acc);
  });
}

KERNEL castI64F32(const long long* src, u32 srcStride, float* dst, u32 dstStride, u32 rows, u32 cols) {
  forElements(rows, cols, [=](u32 r, u32 c) { dst[(u64)r * dstStride + c] = (float)src[(u64)r * srcStride + c]; });
}
