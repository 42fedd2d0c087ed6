/** @file What ops ask of their inputs before they infer a shape. Each throws ML_GRAPH and names the op. */
import { misfit, sameShape, shapeText, type Tensor, type TensorSpec } from '../graph.js';

export function floats(type: string, tensor: Tensor): Tensor {
  if (tensor.spec.dtype !== 'float32') throw misfit(type, `${tensor.name} holds ${tensor.spec.dtype}, not floats`);
  return tensor;
}

/** A row of floats for each example. */
export function rowsOfFloats(type: string, tensor: Tensor): Tensor {
  if (!floats(type, tensor).perExample) throw misfit(type, `${tensor.name} must have a row per example`);
  return tensor;
}

/** One float for each example. */
export function oneFloat(type: string, tensor: Tensor, what: string): Tensor {
  if (rowsOfFloats(type, tensor).columns !== 1) {
    throw misfit(type, `one ${what} per example is needed, ${tensor.name} is ${shapeText(tensor.spec.shape)}`);
  }
  return tensor;
}

/** A vector that all examples share, with a value for each column of `x`. */
export function perColumn(type: string, x: Tensor, vector: Tensor, what: string): Tensor {
  const { shape, partial } = floats(type, vector).spec;
  if (vector.perExample || partial || shape.length !== 1 || vector.columns !== x.columns) {
    throw misfit(type, `a ${what} per column of ${shapeText(x.spec.shape)} is needed, not ${shapeText(shape)}`);
  }
  return vector;
}

/** Floats of one shape, both sums over the batch or neither. */
export function same(type: string, a: Tensor, b: Tensor): TensorSpec {
  floats(type, a);
  floats(type, b);
  if (!sameShape(a.spec.shape, b.spec.shape)) {
    throw misfit(type, `shapes ${shapeText(a.spec.shape)} and ${shapeText(b.spec.shape)} differ`);
  }
  if ((a.spec.partial ?? false) !== (b.spec.partial ?? false)) {
    throw misfit(type, `of ${a.name} and ${b.name} one is a sum over the batch and the other is not`);
  }
  return a.spec;
}
