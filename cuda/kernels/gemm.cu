// Matrix products with fused multiply-add: a product is not rounded before it is added, so results differ from the
// CPU's in the last bits. As there, SUM_K steps of k make a sum and sums are added up: a product over a batch is no
// long chain of roundings.
//
// A block makes a tile of 64 x 64 of C, a thread 4 x 4 of it, 16 steps of k at a time. Operands are read along the side
// whose stride is 1, whichever it is. The finished tile goes through shared memory, so that C is written a row of
// threads at a time and bias and activation are in the code once.
#include "common.cuh"

#define TILE GEMM_TILE
#define DEPTH 16
/** A row of a panel: four floats more than a tile, so that rows begin at different banks and stay aligned. */
#define PITCH (TILE + 4)

struct Operand {
  const float* at;
  u32 rowStride, colStride;
};

/**
 * Loads DEPTH x TILE elements to panel[k][i], 0 where there are none. `outer` counts along the tile, from `first` to
 * below `limit`; the element is at i * outerStride + k * innerStride.
 */
INLINE void loadPanel(float (*panel)[PITCH], const float* from, u32 outerStride, u32 innerStride, u32 first, u32 limit,
                      u32 k0, u32 depth) {
  const bool alongDepth = innerStride == 1;
#pragma unroll
  for (u32 step = 0; step < TILE * DEPTH / BLOCK_THREADS; step++) {
    const u32 e = threadIdx.x + step * BLOCK_THREADS;
    const u32 k = alongDepth ? e % DEPTH : e / TILE, i = alongDepth ? e / DEPTH : e % TILE;
    const bool inside = first + i < limit && k0 + k < depth;
    panel[k][i] = inside ? from[(u64)(first + i) * outerStride + (u64)(k0 + k) * innerStride] : 0.0f;
  }
}

INLINE void multiplyRow(float4& sum, float a, float4 b) {
  sum.x = fmaf(a, b.x, sum.x);
  sum.y = fmaf(a, b.y, sum.y);
  sum.z = fmaf(a, b.z, sum.z);
  sum.w = fmaf(a, b.w, sum.w);
}

/** The tile (row0, col0) of A * B; finish(row, col, sum) takes each element of it. */
template <class Finish>
INLINE void multiplyTile(Operand a, Operand b, u32 m, u32 n, u32 k, u32 row0, u32 col0, Finish finish) {
  __shared__ __align__(16) float memory[TILE][PITCH];
  float (*const left)[PITCH] = memory;
  float (*const right)[PITCH] = memory + DEPTH;
  const u32 x = (threadIdx.x % 16) * 4, y = (threadIdx.x / 16) * 4;
  const float4 zero = make_float4(0, 0, 0, 0);
  float4 total0 = zero, total1 = zero, total2 = zero, total3 = zero;
  float4 sum0 = zero, sum1 = zero, sum2 = zero, sum3 = zero;
  for (u32 k0 = 0; k0 < k; k0 += DEPTH) {
    loadPanel(left, a.at, a.rowStride, a.colStride, row0, m, k0, k);
    loadPanel(right, b.at, b.colStride, b.rowStride, col0, n, k0, k);
    __syncthreads();
#pragma unroll
    for (u32 p = 0; p < DEPTH; p++) {
      const float4 u = *(const float4*)&left[p][y], v = *(const float4*)&right[p][x];
      multiplyRow(sum0, u.x, v);
      multiplyRow(sum1, u.y, v);
      multiplyRow(sum2, u.z, v);
      multiplyRow(sum3, u.w, v);
    }
    if (k0 % SUM_K == SUM_K - DEPTH || k0 + DEPTH >= k) {
      total0 = add4(total0, sum0);
      total1 = add4(total1, sum1);
      total2 = add4(total2, sum2);
      total3 = add4(total3, sum3);
      sum0 = sum1 = sum2 = sum3 = zero;
    }
    __syncthreads();
  }
  *(float4*)&memory[y][x] = total0;
  *(float4*)&memory[y + 1][x] = total1;
  *(float4*)&memory[y + 2][x] = total2;
  *(float4*)&memory[y + 3][x] = total3;
  __syncthreads();
#pragma unroll 1
  for (u32 e = threadIdx.x; e < TILE * TILE; e += BLOCK_THREADS) {
    const u32 row = row0 + e / TILE, col = col0 + e % TILE;
    if (row < m && col < n) finish(row, col, memory[e / TILE][e % TILE]);
  }
}

KERNEL gemmF32(const float* a, u32 aRowStride, u32 aColStride, const float* b, u32 bRowStride, u32 bColStride, float* c,
               u32 cStride, u32 m, u32 n, u32 k, u32 acc, float* scratch) {
  multiplyTile(Operand{a, aRowStride, aColStride}, Operand{b, bRowStride, bColStride}, m, n, k, blockIdx.y * TILE,
               blockIdx.x * TILE, [=](u32 row, u32 col, float sum) { put(c + (u64)row * cStride + col, sum, acc); });
}

/** c = activation(a * b + bias), one of FUSED_ACTIVATION. Without a bias the pointer is 0. */
KERNEL gemmBiasF32(const float* a, u32 aRowStride, u32 aColStride, const float* b, u32 bRowStride, u32 bColStride,
                   float* c, u32 cStride, u32 m, u32 n, u32 k, const float* bias, u32 activation) {
  multiplyTile(Operand{a, aRowStride, aColStride}, Operand{b, bRowStride, bColStride}, m, n, k, blockIdx.y * TILE,
               blockIdx.x * TILE, [=](u32 row, u32 col, float sum) {
                 float v = bias == nullptr ? sum : sum + bias[col];
                 if (activation == FUSED_ACTIVATION::relu) v = maxOf(v, 0.0f);
                 if (activation == FUSED_ACTIVATION::sigmoid) v = logistic(v);
                 if (activation == FUSED_ACTIVATION::tanh) v = tanhf(v);
                 c[(u64)row * cStride + col] = v;
               });
}
