// Sums in f64 by a block, and by all blocks of a launch in an order that no schedule and no grid changes.
#pragma once
#include "common.cuh"

/** The sum of one double per thread of a block, in thread 0. */
INLINE double blockSum(double v) {
  __shared__ double parts[BLOCK_THREADS / 32];
  v = warpSum(v);
  __syncthreads();
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
  __syncthreads();
  double total = 0;
  if (threadIdx.x == 0) {
    for (u32 i = 0; i < BLOCK_THREADS / 32; i++) total += parts[i];
  }
  return total;
}

/** As many chunks as a block has threads, so that the last block adds them up at once. */
#define CHUNKS BLOCK_THREADS

/** Sums of chunks of the launch at hand. Launches of a module that use them follow each other on one stream. */
static __device__ double chunkSums[CHUNKS];
static __device__ u32 chunkedBlocks;

/**
 * finish(sum over all chunks q of all threads' part(q)), in one thread. Blocks take chunks in turn; the last one to end
 * adds them up, in order.
 */
template <class Part, class Finish>
INLINE void sumChunks(Part part, Finish finish) {
  __shared__ u32 isLast;
  for (u32 q = blockIdx.x; q < CHUNKS; q += gridDim.x) {
    const double sum = blockSum(part(q));
    if (threadIdx.x == 0) chunkSums[q] = sum;
  }
  if (threadIdx.x == 0) {
    __threadfence();
    isLast = atomicAdd(&chunkedBlocks, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!isLast) return;
  __threadfence();
  const double sum = blockSum(*(volatile double*)(chunkSums + threadIdx.x));
  if (threadIdx.x == 0) {
    chunkedBlocks = 0;
    finish(sum);
  }
}
