// What CUDA kernels share with src/, under the same names. Written by cuda/generate-layouts.mjs: do not edit.
#pragma once

// src/memory/device-table-layout.ts
namespace DEVICE_COUNTER {
constexpr unsigned rows = 0;
constexpr unsigned badGradients = 1;
constexpr unsigned noRoom = 2;
}  // namespace DEVICE_COUNTER
constexpr unsigned NO_ROW = 4294967295;

// src/memory/id-sums-layout.ts
constexpr unsigned CHAIN_MAX = 4096;
constexpr unsigned BLOCK_ADDITIONS = 256;

// src/memory/kinds.ts
namespace BINARY_KIND {
constexpr unsigned add = 0;
constexpr unsigned sub = 1;
constexpr unsigned mul = 2;
constexpr unsigned div = 3;
constexpr unsigned maximum = 4;
constexpr unsigned minimum = 5;
constexpr unsigned greaterEqual = 6;
constexpr unsigned equal = 7;
}  // namespace BINARY_KIND
namespace UNARY_KIND {
constexpr unsigned abs = 0;
constexpr unsigned sqrt = 1;
constexpr unsigned exp = 2;
constexpr unsigned log = 3;
constexpr unsigned sign = 4;
constexpr unsigned log1p = 5;
}  // namespace UNARY_KIND
namespace FUSED_ACTIVATION {
constexpr unsigned none = 0;
constexpr unsigned relu = 1;
constexpr unsigned sigmoid = 2;
constexpr unsigned tanh = 3;
}  // namespace FUSED_ACTIVATION
namespace POOLING_TYPE {
constexpr unsigned SUM = 0;
constexpr unsigned MEAN = 1;
constexpr unsigned FIRSTN = 3;
}  // namespace POOLING_TYPE

// src/memory/record-layout.ts
namespace MATMUL_SHAPE {
constexpr unsigned groups = 0;
constexpr unsigned m = 1;
constexpr unsigned n = 2;
constexpr unsigned k = 3;
constexpr unsigned aGroup = 4;
constexpr unsigned aRow = 5;
constexpr unsigned aCol = 6;
constexpr unsigned bGroup = 7;
constexpr unsigned bRow = 8;
constexpr unsigned bCol = 9;
constexpr unsigned cGroup = 10;
constexpr unsigned cRow = 11;
}  // namespace MATMUL_SHAPE

// src/memory/sum-blocks.ts
constexpr unsigned SUM_BLOCK = 64;
constexpr unsigned SUM_K = 256;
constexpr unsigned PAIR_ROWS = 256;

// src/runtime/backends/cuda/launch-grids.ts
constexpr unsigned BLOCK_THREADS = 256;
constexpr unsigned GEMM_TILE = 64;

struct __align__(16) DeviceSlot {
  unsigned long long id;
  unsigned value;
  unsigned unused3;
};
static_assert(sizeof(DeviceSlot) == 16, "as in src/memory");

struct __align__(8) DevicePiece {
  unsigned first;
  unsigned ids;
  unsigned offset;
  unsigned floats;
  unsigned long long matrix;
  unsigned stride;
  unsigned add;
};
static_assert(sizeof(DevicePiece) == 32, "as in src/memory");

struct __align__(8) DeviceSource {
  unsigned long long address;
  unsigned floats;
  unsigned unit;
};
static_assert(sizeof(DeviceSource) == 16, "as in src/memory");
