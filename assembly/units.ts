// Bytes of what loads and stores step over. An offset of a load is a constant expression of these or of a structure in
// generated/layouts.ts, never a bare number.

/** A u32, i32 or f32. */
export const WORD: usize = 4;
export const FLOAT: usize = 4;
/** An i64, u64 or f64. */
export const LONG: usize = 8;
export const VECTOR: usize = 16;
/** A line of the cache. */
export const LINE: usize = 64;

// Vectors after the first one.
export const V1: usize = VECTOR;
export const V2: usize = 2 * VECTOR;
export const V3: usize = 3 * VECTOR;
export const V4: usize = 4 * VECTOR;
export const V5: usize = 5 * VECTOR;
export const V6: usize = 6 * VECTOR;
export const V7: usize = 7 * VECTOR;
