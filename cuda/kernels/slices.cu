// Slices of table rows to the matrices of their features, and their gradients. Mirrors assembly/sparse/slices.ts.
#include "common.cuh"

struct SliceRowsByAddress {
  const u64* addresses;
  __device__ __forceinline__ const float* operator()(u32 index) const { return (const float*)addresses[index]; }
};

struct SliceRowsOfMatrix {
  const float* first;
  u32 stride;
  __device__ __forceinline__ const float* operator()(u32 index) const { return first + (u64)index * stride; }
};

#define ROWS_OF_WARP 8

/** visit(r, at) for all rows and units of a piece that belong to a warp. */
template <class Visit>
INLINE void forRowsOfWarp(u32 first, u32 rows, u32 units, Visit visit) {
  const u32 count = min(ROWS_OF_WARP, rows - first) * units;
  for (u32 i = threadIdx.x & 31; i < count; i += 32) {
    const u32 r = i / units;
    visit(first + r, i - r * units);
  }
}

/** A warp has eight rows of all matrices to itself and takes the pieces in order: those that add find what others
 * wrote. */
template <class Rows>
INLINE void gatherPieces(Rows rowOf, const u32* inverse, u32 idsPerRow, u32 rows, const DevicePiece* pieces,
                         u32 pieceCount) {
  for (u32 first = (firstThread() >> 5) * ROWS_OF_WARP; first < rows; first += (allThreads() >> 5) * ROWS_OF_WARP) {
    for (u32 p = 0; p < pieceCount; p++) {
      const DevicePiece piece = pieces[p];
      const u32 offset = piece.offset / 4, stride = piece.stride / 4;
      float* const matrix = (float*)piece.matrix;
      __syncwarp();
      if (piece.floats % 4 == 0) {
        forRowsOfWarp(first, rows, piece.floats / 4, [=](u32 r, u32 unit) {
          const u32* ids = inverse + (u64)r * idsPerRow + piece.first;
          float4 sum = load4(rowOf(ids[0]) + offset + unit * 4);
          for (u32 i = 1; i < piece.ids; i++) sum = add4(sum, load4(rowOf(ids[i]) + offset + unit * 4));
          put4(matrix + (u64)r * stride + unit * 4, sum, piece.add);
        });
      } else {
        forRowsOfWarp(first, rows, piece.floats, [=](u32 r, u32 c) {
          const u32* ids = inverse + (u64)r * idsPerRow + piece.first;
          float sum = rowOf(ids[0])[offset + c];
          for (u32 i = 1; i < piece.ids; i++) sum += rowOf(ids[i])[offset + c];
          put(matrix + (u64)r * stride + c, sum, piece.add);
        });
      }
    }
  }
}

KERNEL gatherSlicesF32(const u64* rowPtrs, const u32* inverse, u32 idsPerRow, u32 rows, const DevicePiece* pieces,
                       u32 pieceCount) {
  gatherPieces(SliceRowsByAddress{rowPtrs}, inverse, idsPerRow, rows, pieces, pieceCount);
}

KERNEL gatherSlicesRowsF32(const float* table, u32 tableStride, const u32* inverse, u32 idsPerRow, u32 rows,
                           const DevicePiece* pieces, u32 pieceCount) {
  gatherPieces(SliceRowsOfMatrix{table, tableStride}, inverse, idsPerRow, rows, pieces, pieceCount);
}

/** By atomics, in the order of the hardware: for when no sorted order is at hand. */
KERNEL scatterSlicesF32(const u32* inverse, u32 idsPerRow, u32 rows, const DevicePiece* pieces, u32 pieceCount,
                        float* sums, u32 sumsStride, void* scratch) {
  for (u32 first = (firstThread() >> 5) * ROWS_OF_WARP; first < rows; first += (allThreads() >> 5) * ROWS_OF_WARP) {
    for (u32 p = 0; p < pieceCount; p++) {
      const DevicePiece piece = pieces[p];
      const float* const matrix = (const float*)piece.matrix;
      forRowsOfWarp(first, rows, piece.floats, [=](u32 r, u32 c) {
        const float g = matrix[(u64)r * (piece.stride / 4) + c];
        for (u32 i = 0; i < piece.ids; i++) {
          const u32 id = inverse[(u64)r * idsPerRow + piece.first + i];
          atomicAdd(sums + (u64)id * sumsStride + piece.offset / 4 + c, g);
        }
      });
    }
  }
}

/**
 * The same without atomics. `sorted` is, for each segment, a unique id and the end of its entries; then all entries,
 * sorted by segment. Entry r * pieceCount + p is row r of the matrix of piece p, whose floats are added to the row of
 * the id, in the order of the entries, in blocks if a feature has many: `mostIds` in each of `rows` rows. Rows of sums
 * have `width` floats. A lane keeps a float of them, or a quad where `quads` says that pieces are made of those.
 */
KERNEL segmentSumSlicesF32(const u32* sorted, u32 segments, const DevicePiece* pieces, u32 pieceCount, float* sums,
                           u32 sumStride, u32 width, u32 quads, u32 rows, u32 mostIds) {
  const u32* const entries = sorted + 2 * (u64)segments;
  const u32 units = quads ? width / 4 : width, bits = laneBits(units), step = 1u << bits;
  const bool inBlocks = (u64)rows * mostIds > CHAIN_MAX;
  for (u32 s = firstThread() >> bits; s < segments; s += allThreads() >> bits) {
    const u32 begin = s == 0 ? 0 : sorted[2 * s - 1], end = sorted[2 * s + 1];
    const u32* const own = entries + begin;
    float* const to = sums + (u64)sorted[2 * s] * sumStride;
    for (u32 unit = threadIdx.x & (step - 1); unit < units; unit += step) {
      const u32 c = quads ? unit * 4 : unit;
      const float4 start = quads ? load4(to + c) : make_float4(to[c], 0, 0, 0);
      sumOfId<1>(
          start, make_float4(0, 0, 0, 0), end - begin, inBlocks,
          [=](float4 sum, u32 i) {
            const u32 r = own[i] / pieceCount;
            const DevicePiece* const piece = pieces + (own[i] - r * pieceCount);
            const u32 column = c - piece->offset / 4;
            if (column >= piece->floats) return sum;
            const float* const g = (const float*)piece->matrix + (u64)r * (piece->stride / 4) + column;
            if (quads) return add4(sum, load4(g));
            sum.x += *g;
            return sum;
          },
          [=](float4 sum, bool adds) {
            if (quads) put4(to + c, sum, adds);
            else put(to + c, sum.x, adds);
          });
    }
  }
}
