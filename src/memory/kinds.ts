/** @file Numbers by which operands of kernels choose among variants. */

/** `kind` of binaryF32. */
export const BINARY_KIND = {
  add: 0,
  sub: 1,
  mul: 2,
  div: 3,
  maximum: 4,
  minimum: 5,
  greaterEqual: 6,
  equal: 7,
} as const;

/** `kind` of unaryF32. */
export const UNARY_KIND = { abs: 0, sqrt: 1, exp: 2, log: 3, sign: 4, log1p: 5 } as const;

/** `activation` of gemmBiasF32, a kernel of cuda/. */
export const FUSED_ACTIVATION = { none: 0, relu: 1, sigmoid: 2, tanh: 3 } as const;

/** How embeddings of a feature become columns of a layout: the numbers of upstream's PoolingType. */
export const POOLING_TYPE = { SUM: 0, MEAN: 1, FIRSTN: 3 } as const;
