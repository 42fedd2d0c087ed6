// Many buffers as one, and embeddings of ids to the layout of a model. Mirrors assembly/ops.
#include "common.cuh"

/** The last piece that begins at or before `at`: offsets[0] is 0, offsets[count] the end. */
INLINE u32 pieceAt(const u32* offsets, u32 count, u32 at) {
  u32 low = 0, high = count;
  while (high - low > 1) {
    const u32 middle = (low + high) / 2;
    if (offsets[middle] <= at) low = middle;
    else high = middle;
  }
  return low;
}

/** dst = the pieces times scale, each from offsets[i] on and filled with zeros to offsets[i + 1]. `total` is
 * offsets[count]. */
KERNEL packF32(const u64* sources, const u32* sizes, const u32* offsets, u32 count, u32 total, float* dst,
               float scale) {
  for (u32 at = firstThread(); at < total; at += allThreads()) {
    const u32 piece = pieceAt(offsets, count, at), i = at - offsets[piece];
    dst[at] = i < sizes[piece] ? ((const float*)sources[piece])[i] * scale : 0.0f;
  }
}

/** The inverse: what lies between the pieces is left out. */
KERNEL unpackF32(const u64* targets, const u32* sizes, const u32* offsets, u32 count, u32 total, const float* src) {
  for (u32 at = firstThread(); at < total; at += allThreads()) {
    const u32 piece = pieceAt(offsets, count, at), i = at - offsets[piece];
    if (i < sizes[piece]) ((float*)targets[piece])[i] = src[at];
  }
}

/**
 * rows[i] = address of the row of id i, for ids from begin to end. bad[0] becomes the first id whose row is not in its
 * source, if that is less than what it holds.
 */
KERNEL layoutResolve(const uint2* fidOffset, u32 begin, u32 end, const DeviceSource* sources, u32 sourceCount, u32 dim,
                     u64* rows, u32* bad) {
  for (u32 i = begin + firstThread(); i < end; i += allThreads()) {
    const uint2 place = fidOffset[i];
    const bool known = place.y < sourceCount;
    const u64 at = known ? (u64)place.x * sources[place.y].unit : 0;
    if (known && at + dim <= sources[place.y].floats) rows[i] = sources[place.y].address + at * 4;
    else atomicMin(bad, i);
  }
}

/** out[b, :] += the pooled columns of sample b; with FIRSTN the columns of its first ids side by side. Bit-equal to the
 * CPU. */
KERNEL layoutForwardF32(const u64* rows, const u32* samples, u32 batch, u32 shared, u32 start, u32 dim, u32 pooling,
                        u32 limit, float* out, u32 rowStride, u32 positionStride) {
  forElements(batch, dim, [=](u32 b, u32 c) {
    const u32 sample = shared ? 0 : b, first = samples[sample], count = samples[sample + 1] - first;
    float* const to = out + (u64)b * rowStride + c;
    if (pooling == POOLING_TYPE::FIRSTN) {
      for (u32 k = 0; k < min(count, limit); k++)
        to[(u64)k * positionStride] = ((const float*)rows[first + k])[start + c];
      return;
    }
    float sum = count > 0 ? *to : 0.0f;
    for (u32 k = 0; k < count; k++) {
      const float x = ((const float*)rows[first + k])[start + c];
      sum += pooling == POOLING_TYPE::MEAN ? x / (float)count : x;
    }
    if (count > 0) *to = sum;
  });
}

/** The rows get scale * the gradient of the places they went to, by atomics: an id may come in many samples. */
KERNEL layoutBackwardF32(const u64* rows, const u32* samples, u32 batch, u32 shared, u32 start, u32 dim, u32 pooling,
                         u32 limit, const float* grad, u32 rowStride, u32 positionStride, float scale) {
  forElements(batch, dim, [=](u32 b, u32 c) {
    const u32 sample = shared ? 0 : b, first = samples[sample], count = samples[sample + 1] - first;
    const u32 used = pooling == POOLING_TYPE::FIRSTN ? min(count, limit) : count;
    for (u32 k = 0; k < used; k++) {
      const float g =
          scale * grad[(u64)b * rowStride + (pooling == POOLING_TYPE::FIRSTN ? (u64)k * positionStride : 0) + c];
      atomicAdd((float*)rows[first + k] + start + c, pooling == POOLING_TYPE::MEAN ? g / (float)count : g);
    }
  });
}
