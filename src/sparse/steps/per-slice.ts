/** A buffer for each slice, at `base + slice * sliceBytes`. */
export interface PerSlice {
  readonly base: number;
  readonly sliceBytes: number;
}
