/**
 * @file Parameter block of a row optimizer in shared memory.
 *
 * An optimizer's number is that of its config message, so that a block needs no table of its own.
 */
export const OPTIMIZER_NUMBER = {
  adagrad: 1,
  sgd: 2,
  ftrl: 3,
  dynamicWdAdagrad: 5,
  adadelta: 6,
  adam: 7,
  amsgrad: 8,
  momentum: 9,
  movingAverage: 10,
  rmsprop: 11,
  rmspropv2: 12,
  groupFtrl: 14,
  batchSoftmax: 15,
  groupAdagrad: 16,
} as const;

export const PARAMETER_BLOCK_BYTES = 48;
/** Byte offsets inside the block, which is aligned to 8. `initial` is the accumulator's, `values` are five floats. */
export const PARAMETER_BLOCK = { rate: 0, flags: 4, initial: 8, values: 12, globalStep: 32 } as const;
export const PARAMETER_FLAG = { nesterov: 1, standardL1: 2, decoupled: 4 } as const;
