/** @file Gradients of equal ids added up, for updates that step each id once. */

export interface SummedGradients {
  /** Each id once, in the order of its first appearance. */
  readonly ids: BigInt64Array;
  readonly gradients: Float32Array;
  /** How often each id came. */
  readonly counts: Uint32Array;
  /** Where each id came first. */
  readonly first: Uint32Array;
}

/** Sums of `dim` floats per id, in f32 and in order. */
export function sumGradients(ids: BigInt64Array, gradients: Float32Array, dim: number): SummedGradients {
  const places = new Map<bigint, number>();
  const sums = new Float32Array(gradients.length);
  const counts = new Uint32Array(ids.length);
  const first = new Uint32Array(ids.length);
  ids.forEach((id, position) => {
    const gradient = gradients.subarray(position * dim, (position + 1) * dim);
    const place = places.get(id);
    if (place === undefined) {
      sums.set(gradient, places.size * dim);
      first[places.size] = position;
      counts[places.size] = 1;
      places.set(id, places.size);
      return;
    }
    counts[place]!++;
    for (let c = 0; c < dim; c++) sums[place * dim + c]! += gradient[c]!;
  });
  const { size } = places;
  return {
    ids: BigInt64Array.from(places.keys()),
    gradients: sums.subarray(0, size * dim),
    counts: counts.subarray(0, size),
    first: first.subarray(0, size),
  };
}
