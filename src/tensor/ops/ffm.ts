/** @file Products of all pairs of fields of two sides. Mirrors ffm_ops. */
import { Tensor } from '../tensor.js';
import { check, checkCount, matrixShape } from './check.js';

type Floats = Tensor<'float32'>;
export type FfmIntType = 'multiply' | 'dot';

interface Survey {
  readonly batch: number;
  readonly lefts: number;
  readonly rights: number;
  readonly outShape: readonly [number, number];
}

function survey(left: Floats, right: Floats, dimSize: number, intType: FfmIntType): Survey {
  const op = 'ffm';
  checkCount(op, 'the field width', dimSize, 1);
  check(intType === 'multiply' || intType === 'dot', op, `${intType} is neither multiply nor dot`);
  const [batch, leftWidth] = matrixShape(op, 'left', left);
  const [rightBatch, rightWidth] = matrixShape(op, 'right', right);
  check(batch === rightBatch, op, `the sides have ${batch} and ${rightBatch} rows`);
  const fits = leftWidth % dimSize === 0 && rightWidth % dimSize === 0;
  check(fits, op, `widths ${leftWidth} and ${rightWidth} are no multiples of ${dimSize}`);
  const [lefts, rights] = [leftWidth / dimSize, rightWidth / dimSize];
  return { batch, lefts, rights, outShape: [batch, lefts * rights * (intType === 'dot' ? 1 : dimSize)] };
}

/** Calls `visit` with the positions in left, right and out of every product. */
function forEachProduct(
  { batch, lefts, rights, outShape }: Survey,
  dimSize: number,
  intType: FfmIntType,
  visit: (l: number, r: number, out: number) => void,
): void {
  for (let b = 0; b < batch; b++) {
    for (let pair = 0; pair < lefts * rights; pair++) {
      const l = (b * lefts + Math.floor(pair / rights)) * dimSize;
      const r = (b * rights + (pair % rights)) * dimSize;
      const out = b * outShape[1] + (intType === 'dot' ? pair : pair * dimSize);
      for (let c = 0; c < dimSize; c++) visit(l + c, r + c, intType === 'dot' ? out : out + c);
    }
  }
}

/** All pairs of a left and a right field of `dimSize`; pair l * R + r. `dot` sums over the field. */
export function ffm(left: Floats, right: Floats, dimSize: number, intType: FfmIntType = 'multiply'): Floats {
  const shape = survey(left, right, dimSize, intType);
  const out = new Float32Array(shape.outShape[0] * shape.outShape[1]);
  forEachProduct(shape, dimSize, intType, (l, r, at) => {
    out[at] = out[at]! + Math.fround(left.data[l]! * right.data[r]!);
  });
  return new Tensor('float32', shape.outShape, out);
}

/** Gradients of ffm with respect to both sides. */
export function ffmGradient(
  grad: Floats,
  left: Floats,
  right: Floats,
  dimSize: number,
  intType: FfmIntType = 'multiply',
): { left: Floats; right: Floats } {
  const shape = survey(left, right, dimSize, intType);
  check(grad.size === shape.outShape[0] * shape.outShape[1], 'ffmGradient', `the gradient has shape [${grad.shape}]`);
  const dl = new Float32Array(left.size);
  const dr = new Float32Array(right.size);
  forEachProduct(shape, dimSize, intType, (l, r, at) => {
    dl[l] = dl[l]! + Math.fround(grad.data[at]! * right.data[r]!);
    dr[r] = dr[r]! + Math.fround(grad.data[at]! * left.data[l]!);
  });
  return { left: new Tensor('float32', left.shape, dl), right: new Tensor('float32', right.shape, dr) };
}
