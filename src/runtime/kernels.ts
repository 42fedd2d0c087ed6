/**
 * @file The table of kernels a program may call: the contract between the compiler and the backends.
 *
 * Each kernel has an opcode, its operands in order, and one sentence. The WASM side dispatches on the opcode
 * (assembly/program.ts), the reference side looks the function up by name (src/runtime/reference/). Matrices are
 * row-major f32 and `stride` counts floats between rows.
 */

/** `u32` is a pointer, count or stride; `f32` a float in the register's bits. */
export type OperandKind = 'u32' | 'f32';

export interface Kernel {
  readonly name: string;
  readonly opcode: number;
  readonly operands: readonly OperandKind[];
  readonly meaning: string;
}

const table = new Map<string, Kernel>();

function kernel(opcode: number, name: string, signature: string, meaning: string): Kernel {
  const operands = [...signature].map((letter): OperandKind => (letter === 'f' ? 'f32' : 'u32'));
  const entry = { name, opcode, operands, meaning };
  table.set(name, entry);
  return entry;
}

/** Signatures: one letter per operand, `u` for u32 and `f` for f32. */
export const KERNEL = {
  copyRowsF32: kernel(2, 'copyRowsF32', 'uuuuuuu', 'dst (+)= src'),
  subF32: kernel(4, 'subF32', 'uuuuuuuuu', 'dst (+)= a - b'),
  mulF32: kernel(5, 'mulF32', 'uuuuuuuuu', 'dst (+)= a * b'),
  scaleF32: kernel(6, 'scaleF32', 'uuuuuufu', 'dst (+)= factor * src'),
  addBiasF32: kernel(7, 'addBiasF32', 'uuuuuuu', 'dst[r,:] = x[r,:] + bias'),
  sumRowsF32: kernel(8, 'sumRowsF32', 'uuuuuu', 'dst[c] (+)= sum over r of src[r,c]'),
  sumF32: kernel(9, 'sumF32', 'uuuuuf', 'dst[0] = factor * sum of src'),
  broadcastScalarF32: kernel(10, 'broadcastScalarF32', 'uuuuufu', 'dst (+)= factor * src[0]'),
  rowDotF32: kernel(11, 'rowDotF32', 'uuuuuuuuu', 'out[r] (+)= dot of a[r,:] and b[r,:]'),
  scaleRowsF32: kernel(12, 'scaleRowsF32', 'uuuuuuuuu', 'dst[r,:] (+)= scale[r] * src[r,:]'),
  reluF32: kernel(13, 'reluF32', 'uuuuuu', 'y = max(x, 0)'),
  reluGradF32: kernel(14, 'reluGradF32', 'uuuuuuuuu', 'dx (+)= dy where y > 0'),
  sigmoidF32: kernel(15, 'sigmoidF32', 'uuuuuu', 'y = 1 / (1 + exp(-x))'),
  sigmoidGradF32: kernel(16, 'sigmoidGradF32', 'uuuuuuuuu', 'dx (+)= dy * y * (1 - y)'),
  tanhF32: kernel(17, 'tanhF32', 'uuuuuu', 'y = tanh(x)'),
  tanhGradF32: kernel(18, 'tanhGradF32', 'uuuuuuuuu', 'dx (+)= dy * (1 - y * y)'),
  bceLogitsF32: kernel(19, 'bceLogitsF32', 'uuuuuuu', 'out[r] = cross entropy of label[r] under logit x[r]'),
  bceLogitsGradF32: kernel(20, 'bceLogitsGradF32', 'uuuuuuuuuu', 'dx[r] (+)= dy[r] * (sigmoid(x[r]) - label[r])'),
  gemmF32: kernel(21, 'gemmF32', 'uuuuuuuuuuuuu', 'c (+)= a * b, general strides'),
  reduceSlicesF32: kernel(22, 'reduceSlicesF32', 'uuuuu', 'dst[i] = sum over slices of src[slice][i], in slice order'),
  applySgdF32: kernel(23, 'applySgdF32', 'uuuf', 'w -= lr * g'),
  applyAdagradF32: kernel(24, 'applyAdagradF32', 'uuuuff', 'h = g + decay * w; n += h * h; w -= lr / sqrt(n) * h'),
  applyFtrlF32: kernel(25, 'applyFtrlF32', 'uuuuuffff', 'FTRL-proximal step'),
  addCountI64: kernel(26, 'addCountI64', 'uu', 'the i64 counter grows by count'),
  applyAdamomF32: kernel(27, 'applyAdamomF32', 'uuuuuufffffuu', 'adamom step with slots m, v, c'),
  applyDenseRmspropF32: kernel(28, 'applyDenseRmspropF32', 'uuuuufffffu', 'rmsprop step with slots m, v'),
  advanceGeneration: kernel(40, 'advanceGeneration', 'uuu', 'empties a unique scratch table by a new generation'),
  uniqueI64: kernel(41, 'uniqueI64', 'uuuuuuuu', 'unique ids in first-seen order, with inverse; result: count'),
  partitionByHash: kernel(42, 'partitionByHash', 'uuuuu', 'indexes of ids, grouped by the partition of their hash'),
  tableFind: kernel(43, 'tableFind', 'uuuuu', 'rows and slots of ids, the zero row for absent ones; result: found'),
  poolSumF32: kernel(44, 'poolSumF32', 'uuuuuuu', 'out[r,:] = sum of the rows of the ids of example r'),
  zeroRowsF32: kernel(45, 'zeroRowsF32', 'uuuu', 'dst = 0'),
  scatterAddF32: kernel(46, 'scatterAddF32', 'uuuuuuuu', 'gradient of poolSumF32, added per unique id'),
  tableApply: kernel(47, 'tableApply', 'uuuuuuu', 'sums gradients per id over slices and steps each row once'),
  tableRetrieve: kernel(48, 'tableRetrieve', 'uuuuuu', 'out[i,:] = what a lookup of id i shows; result: found'),
  bankedFind: kernel(
    49,
    'bankedFind',
    'uuuuuu',
    'rows of ids in other memories, copied to a local buffer; result: found',
  ),
  bankedApply: kernel(50, 'bankedApply', 'uuuuuuu', 'tableApply of a table in other memories'),
  countInverseU32: kernel(51, 'countInverseU32', 'uuu', 'how often each unique id came'),
  tableAdmit: kernel(52, 'tableAdmit', 'uuuuuuu', 'ids without a row that the filter keeps out; result: how many'),
  tableTouch: kernel(
    53,
    'tableTouch',
    'uuuuuuuu',
    'ids that got a step go to a set of touched pairs; result: how many',
  ),
  applyDenseMomentumF32: kernel(140, 'applyDenseMomentumF32', 'uuuuffu', 'momentum step with slot accum'),
  applyDenseAdamF32: kernel(141, 'applyDenseAdamF32', 'uuuuufuuffffu', 'adam step with slots m, v and shared powers'),
  applyStandardFtrlF32: kernel(142, 'applyStandardFtrlF32', 'uuuuuffff', 'FTRL-proximal step with the sign in l1'),
  applyShampooF32: kernel(143, 'applyShampooF32', 'ufu', 'shampoo step of the variable of a block'),
  clipValueF32: kernel(144, 'clipValueF32', 'uuuff', 'dst = min(max(src, low), high)'),
  blockSquaresF32: kernel(145, 'blockSquaresF32', 'uuu', 'sums of squares per block of floats, f64'),
  addSumsF64: kernel(146, 'addSumsF64', 'uuuuu', 'dst[0] (+)= sum of f64 at a stride, in order'),
  clipByNormF32: kernel(147, 'clipByNormF32', 'uuuuuuuf', 'dst = src, times clip / norm where the norm is larger'),
  rootF64: kernel(148, 'rootF64', 'uu', 'dst[0] = square root of an f64, as f32'),
  rowSquaresF64: kernel(149, 'rowSquaresF64', 'uuuuu', 'dst[0] = sum of squares of a matrix, f64'),
} as const satisfies Record<string, Kernel>;

export const KERNELS: ReadonlyMap<string, Kernel> = table;
export const KERNEL_OF_OPCODE: ReadonlyMap<number, Kernel> = new Map([...table.values()].map((k) => [k.opcode, k]));
