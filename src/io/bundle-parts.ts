/** @file Puts the parts of a partitioned variable together. */
import { type BundleData, elementCount, type PartExtents } from './bundle-format.js';

export interface BundlePart {
  readonly extents: PartExtents;
  readonly shape: readonly number[];
  readonly data: BundleData;
}

/** The values of a tensor of `shape`, or null when the parts do not fill it: outside of it, or of another count. */
export function joinParts(shape: readonly number[], parts: readonly BundlePart[]): BundleData | null {
  const count = elementCount(shape);
  const total = parts.reduce((sum, { data }) => sum + data.length, 0);
  if (total !== count || !parts.every((part) => isWithin(shape, part))) return null;
  const whole = emptyLike(parts[0]!.data, count);
  for (const part of parts) place(whole as Float32Array, shape, part);
  return whole;
}

const lengthOf = (shape: readonly number[], [start, length]: PartExtents[number], d: number) =>
  length < 0 ? shape[d]! - start : length;

function isWithin(shape: readonly number[], part: BundlePart): boolean {
  if (part.extents.length !== shape.length || part.shape.length !== shape.length) return false;
  return part.extents.every((extent, d) => {
    const length = lengthOf(shape, extent, d);
    return length === part.shape[d] && extent[0] + length <= shape[d]!;
  });
}

/** Copies row by row: only along the last dimension do elements lie side by side in both. */
function place(whole: Float32Array, shape: readonly number[], { extents, shape: size, data }: BundlePart): void {
  const row = size.at(-1) ?? 1;
  for (let from = 0; from < data.length; from += row) {
    let to = 0;
    let [stride, rest] = [1, from];
    for (let d = shape.length - 1; d >= 0; d--) {
      to += (extents[d]![0] + (rest % size[d]!)) * stride;
      rest = Math.floor(rest / size[d]!);
      stride *= shape[d]!;
    }
    for (let i = 0; i < row; i++) whole[to + i] = (data as Float32Array)[from + i]!;
  }
}

function emptyLike(data: BundleData, count: number): BundleData {
  if (!ArrayBuffer.isView(data)) return new Array<Uint8Array>(count);
  return new (data.constructor as new (count: number) => Exclude<BundleData, readonly Uint8Array[]>)(count);
}
