// Parts of rows moved, scaled and reduced: a row is read as [outer, n, inner] floats, or as groups of neighbouring
// floats. A thread per result; sums are in the order of the CPU and bit-equal to it, except softmaxF32, where exp
// enters.
#include "common.cuh"

/** The order of the CPU for neighbouring terms: four partial sums, (q0 + q2) + (q1 + q3), then the rest. */
template <class Term>
INLINE float sumTerms(u32 count, Term term) {
  float q0 = 0, q1 = 0, q2 = 0, q3 = 0;
  u32 i = 0;
  for (; i + 4 <= count; i += 4) {
    q0 += term(i);
    q1 += term(i + 1);
    q2 += term(i + 2);
    q3 += term(i + 3);
  }
  float sum = (q0 + q2) + (q1 + q3);
  for (; i < count; i++) sum += term(i);
  return sum;
}

KERNEL copyBlocksF32(const float* src, u32 srcStride, u32 srcStep, float* dst, u32 dstStride, u32 dstStep, u32 rows,
                     u32 blocks, u32 width, u32 acc) {
  forElements(rows, blocks * width, [=](u32 r, u32 at) {
    const u32 b = at / width, c = at - b * width;
    put(dst + (u64)r * dstStride + (u64)b * dstStep + c, src[(u64)r * srcStride + (u64)b * srcStep + c], acc);
  });
}

KERNEL transposeInnerF32(const float* src, u32 srcStride, float* dst, u32 dstStride, u32 rows, u32 outer, u32 n,
                         u32 inner, u32 acc) {
  forElements(rows, outer * n * inner, [=](u32 r, u32 to) {
    const u32 o = to / (n * inner), rest = to - o * n * inner, j = rest / n, i = rest - j * n;
    put(dst + (u64)r * dstStride + to, src[(u64)r * srcStride + (o * n + i) * inner + j], acc);
  });
}

KERNEL gatherInnerF32(const float* src, u32 srcStride, float* dst, u32 dstStride, u32 rows, u32 outer, u32 n, u32 inner,
                      const u32* indices, u32 count, u32 acc) {
  forElements(rows, outer * count * inner, [=](u32 r, u32 to) {
    const u32 o = to / (count * inner), rest = to - o * count * inner, k = rest / inner, c = rest - k * inner;
    put(dst + (u64)r * dstStride + to, src[(u64)r * srcStride + (o * n + indices[k]) * inner + c], acc);
  });
}

/** A thread per place of dst looks for the indices that name it: there are few, and no atomics are needed. */
KERNEL scatterInnerF32(const float* src, u32 srcStride, float* dst, u32 dstStride, u32 rows, u32 outer, u32 n,
                       u32 inner, const u32* indices, u32 count, u32 acc) {
  forElements(rows, outer * n * inner, [=](u32 r, u32 to) {
    const u32 o = to / (n * inner), rest = to - o * n * inner, i = rest / inner, c = rest - i * inner;
    float* const place = dst + (u64)r * dstStride + to;
    float sum = acc ? *place : 0.0f;
    for (u32 k = 0; k < count; k++) {
      if (indices[k] == i) sum += src[(u64)r * srcStride + (o * count + k) * inner + c];
    }
    *place = sum;
  });
}

KERNEL sumInnerF32(const float* src, u32 srcStride, float* dst, u32 dstStride, u32 rows, u32 outer, u32 n, u32 inner,
                   float factor, u32 acc) {
  forElements(rows, outer * inner, [=](u32 r, u32 at) {
    const u32 o = at / inner;
    const float* first = src + (u64)r * srcStride + o * n * inner + (at - o * inner);
    float sum = 0;
    if (inner == 1) sum = sumTerms(n, [=](u32 j) { return first[j]; });
    else
      for (u32 j = 0; j < n; j++) sum += first[j * inner];
    put(dst + (u64)r * dstStride + at, factor * sum, acc);
  });
}

KERNEL maxInnerF32(const float* src, u32 srcStride, float* dst, u32 dstStride, u32 rows, u32 outer, u32 n, u32 inner,
                   u32 acc) {
  forElements(rows, outer * inner, [=](u32 r, u32 at) {
    const u32 o = at / inner;
    const float* first = src + (u64)r * srcStride + o * n * inner + (at - o * inner);
    float top = first[0];
    for (u32 j = 1; j < n; j++) top = maxOf(top, first[j * inner]);
    put(dst + (u64)r * dstStride + at, top, acc);
  });
}

KERNEL maxInnerGradF32(const float* dy, u32 dyStride, const float* x, u32 xStride, const float* y, u32 yStride,
                       float* dx, u32 dxStride, u32 rows, u32 outer, u32 n, u32 inner, u32 acc) {
  forElements(rows, outer * inner, [=](u32 r, u32 at) {
    const u32 o = at / inner, from = o * n * inner + (at - o * inner);
    const float* first = x + (u64)r * xStride + from;
    const float top = y[(u64)r * yStride + at];
    u32 ties = 0;
    for (u32 j = 0; j < n; j++) ties += first[j * inner] == top;
    const float share = dy[(u64)r * dyStride + at] / (float)ties;
    float* to = dx + (u64)r * dxStride + from;
    for (u32 j = 0; j < n; j++) put(to + j * inner, first[j * inner] == top ? share : 0.0f, acc);
  });
}

KERNEL broadcastInnerF32(const float* src, u32 srcStride, float* dst, u32 dstStride, u32 rows, u32 outer, u32 n,
                         u32 inner, float factor, u32 acc) {
  forElements(rows, outer * n * inner, [=](u32 r, u32 to) {
    const u32 o = to / (n * inner), c = to % inner;
    put(dst + (u64)r * dstStride + to, factor * src[(u64)r * srcStride + o * inner + c], acc);
  });
}

KERNEL addSharedF32(const float* x, u32 xStride, const float* v, float* out, u32 outStride, u32 rows, u32 cols,
                    u32 period, u32 acc) {
  forElements(rows, cols,
              [=](u32 r, u32 c) { put(out + (u64)r * outStride + c, x[(u64)r * xStride + c] + v[c % period], acc); });
}

KERNEL mulSharedF32(const float* x, u32 xStride, const float* v, float* out, u32 outStride, u32 rows, u32 cols,
                    u32 period, u32 acc) {
  forElements(rows, cols,
              [=](u32 r, u32 c) { put(out + (u64)r * outStride + c, x[(u64)r * xStride + c] * v[c % period], acc); });
}

KERNEL scaleGroupsF32(const float* factors, u32 factorsStride, const float* src, u32 srcStride, float* dst,
                      u32 dstStride, u32 rows, u32 groups, u32 width, u32 acc) {
  forElements(rows, groups * width, [=](u32 r, u32 at) {
    put(dst + (u64)r * dstStride + at, factors[(u64)r * factorsStride + at / width] * src[(u64)r * srcStride + at],
        acc);
  });
}

KERNEL groupDotF32(const float* a, u32 aStride, const float* b, u32 bStride, float* out, u32 outStride, u32 rows,
                   u32 groups, u32 width, u32 acc) {
  forElements(rows, groups, [=](u32 r, u32 g) {
    const float *x = a + (u64)r * aStride + g * width, *y = b + (u64)r * bStride + g * width;
    put(out + (u64)r * outStride + g, sumTerms(width, [=](u32 i) { return x[i] * y[i]; }), acc);
  });
}

KERNEL softmaxF32(const float* x, u32 xStride, const float* mask, u32 maskStride, u32 maskStep, float* y, u32 yStride,
                  u32 rows, u32 groups, u32 width) {
  // A warp per group: r counts groups of all rows.
  forWarpRows(rows * groups, [=](u32 at, u32 lane) {
    const u32 r = at / groups, g = at - r * groups;
    const float* from = x + (u64)r * xStride + g * width;
    const float* keep = mask == nullptr ? nullptr : mask + (u64)r * maskStride + (u64)g * maskStep;
    float* to = y + (u64)r * yStride + g * width;
    const float none = __int_as_float(0xff800000);
    float top = none;
    for (u32 i = lane; i < width; i += 32) {
      if (keep == nullptr || keep[i] != 0) top = maxOf(top, from[i]);
    }
    top = warpMax(top);
    float sum = 0;
    for (u32 i = lane; i < width; i += 32) {
      sum += (keep == nullptr || keep[i] != 0) && top != none ? expf(from[i] - top) : 0.0f;
    }
    sum = warpSum(sum);
    for (u32 i = lane; i < width; i += 32) {
      const float e = (keep == nullptr || keep[i] != 0) && top != none ? expf(from[i] - top) : 0.0f;
      to[i] = sum == 0 ? e : e / sum;
    }
  });
}

KERNEL softmaxGradF32(const float* dy, u32 dyStride, const float* y, u32 yStride, float* dx, u32 dxStride, u32 rows,
                      u32 groups, u32 width, u32 acc) {
  forElements(rows, groups, [=](u32 r, u32 g) {
    const float *a = dy + (u64)r * dyStride + g * width, *b = y + (u64)r * yStride + g * width;
    const float mean = sumTerms(width, [=](u32 i) { return a[i] * b[i]; });
    for (u32 i = 0; i < width; i++) put(dx + (u64)r * dxStride + g * width + i, b[i] * (a[i] - mean), acc);
  });
}

KERNEL pairProductsF32(const float* left, u32 leftStride, const float* right, u32 rightStride, float* out,
                       u32 outStride, u32 rows, u32 lefts, u32 rights, u32 dim, u32 acc) {
  forElements(rows, lefts * rights * dim, [=](u32 r, u32 at) {
    const u32 pair = at / dim, c = at - pair * dim, i = pair / rights, j = pair - i * rights;
    const float value = left[(u64)r * leftStride + i * dim + c] * right[(u64)r * rightStride + j * dim + c];
    put(out + (u64)r * outStride + at, value, acc);
  });
}

KERNEL pairProductsGradF32(const float* dy, u32 dyStride, const float* other, u32 otherStride, float* dx, u32 dxStride,
                           u32 rows, u32 count, u32 others, u32 dim, u32 step, u32 otherStep, u32 acc) {
  forElements(rows, count * dim, [=](u32 r, u32 at) {
    const u32 i = at / dim, c = at - i * dim;
    float* const to = dx + (u64)r * dxStride + at;
    float sum = acc ? *to : 0.0f;
    for (u32 j = 0; j < others; j++) {
      const float term =
          dy[(u64)r * dyStride + (i * step + j * otherStep) * dim + c] * other[(u64)r * otherStride + j * dim + c];
      sum = acc || j > 0 ? sum + term : term;
    }
    *to = sum;
  });
}

/** `shape` has the words of MATMUL_SHAPE. */
KERNEL batchMatMulF32(const float* a, u32 aStride, const float* b, u32 bStride, float* c, u32 cStride, u32 rows,
                      const u32* shape, u32 acc) {
  const u32 m = shape[MATMUL_SHAPE::m], n = shape[MATMUL_SHAPE::n], k = shape[MATMUL_SHAPE::k];
  const u32 aRow = shape[MATMUL_SHAPE::aRow], aCol = shape[MATMUL_SHAPE::aCol], bRow = shape[MATMUL_SHAPE::bRow],
            bCol = shape[MATMUL_SHAPE::bCol];
  forElements(rows, shape[MATMUL_SHAPE::groups] * m * n, [=](u32 r, u32 at) {
    const u32 g = at / (m * n), rest = at - g * m * n, i = rest / n, j = rest - i * n;
    const float* x = a + (u64)r * aStride + (u64)g * shape[MATMUL_SHAPE::aGroup] + (u64)i * aRow;
    const float* y = b + (u64)r * bStride + (u64)g * shape[MATMUL_SHAPE::bGroup] + (u64)j * bCol;
    float sum = 0;
    if (bCol != 1 && aCol == 1 && bRow == 1) sum = sumTerms(k, [=](u32 p) { return x[p] * y[p]; });
    else
      for (u32 p = 0; p < k; p++) sum += x[(u64)p * aCol] * y[(u64)p * bRow];
    put(c + (u64)r * cStride + (u64)g * shape[MATMUL_SHAPE::cGroup] + (u64)i * shape[MATMUL_SHAPE::cRow] + j, sum, acc);
  });
}

/** A thread per shared value walks the batch in the order of the CPU. Without b the terms are those of a. */
KERNEL sumSharedF32(const float* a, u32 aStride, const float* b, u32 bStride, float* dst, u32 rows, u32 cols,
                    u32 period) {
  for (u32 c = firstThread(); c < period; c += allThreads()) {
    const u32 pieces = cols / period;
    dst[c] = sumInBlocks(0, rows * pieces, 1, [=](u32 i) {
      const u32 r = i / pieces, at = (i - r * pieces) * period + c;
      const float x = a[(u64)r * aStride + at];
      return b == nullptr ? x : x * b[(u64)r * bStride + at];
    });
  }
}
