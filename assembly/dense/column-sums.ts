// Sums over the rows of a matrix, one for each column. Not exported by the module.
//
// A chain of additions is off by as many roundings as it is long, and a batch has a million rows. So 64 rows are added
// up, then 64 of those sums, and these are added to the result: the order is fixed, and so is the error, at about 130
// roundings for what is not above 300,000 rows. Columns are summed in registers, 32 at a time, which also saves the
// result's loads and stores.
import { SUM_BLOCK } from "../generated/layouts";
import { add, mul, sub } from "../optim/lanes";
import { put, put1 } from "./loops";

const BLOCK_ROWS: i32 = SUM_BLOCK * SUM_BLOCK;

/**
 * What is summed of a and b: a, a * b, a * b where b is not above 0, a * (b - mean) * rstd with the two floats of the
 * row at `stats`.
 */
export const PLAIN: i32 = 0;
export const PRODUCT: i32 = 1;
export const NOT_ABOVE_0: i32 = 2;
export const CENTRED: i32 = 3;

@inline
function splatAt<T>(at: usize): T {
  if (isVector<T>()) return v128.load_splat<f32>(at);
  else return load<f32>(at);
}

@inline
function term<T>(kind: i32, a: usize, b: usize, stats: usize): T {
  if (kind == PLAIN) return load<T>(a);
  if (kind == PRODUCT) return mul<T>(load<T>(a), load<T>(b));
  const value = load<T>(b);
  if (kind == CENTRED) return mul<T>(load<T>(a), mul<T>(sub<T>(value, splatAt<T>(stats)), splatAt<T>(stats + 4)));
  if (isVector<T>()) return v128.andnot(mul<T>(load<T>(a), value), f32x4.gt(value, f32x4.splat(0)));
  else return value > 0 ? 0 : load<f32>(a) * value;
}

/** Where the next row is: every `pieces` rows the operands go on by a gap. */
@inline
function gapAfter(pieces: i32, left: i32, gap: usize): usize {
  return pieces != 1 && left == 0 ? gap : 0;
}

/**
 * Eight vectors of columns, of at most BLOCK_ROWS rows. The second sums may leave the registers: they are seldom used.
 */
@inline
function sum32(
  kind: i32, a: usize, aStep: usize, aGap: usize, b: usize, bStep: usize, bGap: usize, stats: usize,
  dst: usize, rows: i32, pieces: i32, left: i32, acc: bool,
): void {
  let t0 = f32x4.splat(0), t1 = t0, t2 = t0, t3 = t0, t4 = t0, t5 = t0, t6 = t0, t7 = t0;
  while (rows > 0) {
    let s0 = f32x4.splat(0), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
    let block = min(rows, SUM_BLOCK);
    rows -= block;
    for (; block > 0; block--) {
      s0 = f32x4.add(s0, term<v128>(kind, a, b, stats));
      s1 = f32x4.add(s1, term<v128>(kind, a + 16, b + 16, stats));
      s2 = f32x4.add(s2, term<v128>(kind, a + 32, b + 32, stats));
      s3 = f32x4.add(s3, term<v128>(kind, a + 48, b + 48, stats));
      s4 = f32x4.add(s4, term<v128>(kind, a + 64, b + 64, stats));
      s5 = f32x4.add(s5, term<v128>(kind, a + 80, b + 80, stats));
      s6 = f32x4.add(s6, term<v128>(kind, a + 96, b + 96, stats));
      s7 = f32x4.add(s7, term<v128>(kind, a + 112, b + 112, stats));
      if (pieces != 1) left--;
      a += aStep + gapAfter(pieces, left, aGap);
      b += bStep + gapAfter(pieces, left, bGap);
      if (pieces != 1 && left == 0) left = pieces;
      stats += 8;
    }
    t0 = f32x4.add(t0, s0);
    t1 = f32x4.add(t1, s1);
    t2 = f32x4.add(t2, s2);
    t3 = f32x4.add(t3, s3);
    t4 = f32x4.add(t4, s4);
    t5 = f32x4.add(t5, s5);
    t6 = f32x4.add(t6, s6);
    t7 = f32x4.add(t7, s7);
  }
  put(dst, t0, acc);
  put(dst + 16, t1, acc);
  put(dst + 32, t2, acc);
  put(dst + 48, t3, acc);
  put(dst + 64, t4, acc);
  put(dst + 80, t5, acc);
  put(dst + 96, t6, acc);
  put(dst + 112, t7, acc);
}

/** One vector of columns, or one column. */
@inline
function sumOne<T>(
  kind: i32, a: usize, aStep: usize, aGap: usize, b: usize, bStep: usize, bGap: usize, stats: usize,
  dst: usize, rows: i32, pieces: i32, left: i32, zero: T, acc: bool,
): void {
  let total = zero;
  while (rows > 0) {
    let sum = zero;
    let block = min(rows, SUM_BLOCK);
    rows -= block;
    for (; block > 0; block--) {
      sum = add<T>(sum, term<T>(kind, a, b, stats));
      if (pieces != 1) left--;
      a += aStep + gapAfter(pieces, left, aGap);
      b += bStep + gapAfter(pieces, left, bGap);
      if (pieces != 1 && left == 0) left = pieces;
      stats += 8;
    }
    total = add<T>(total, sum);
  }
  if (isVector<T>()) put(dst, total, acc);
  else put1(dst, total, acc);
}

/**
 * dst[c] (+)= sum over r and p of the term of a[r, p, c] and b[r, p, c]. A row is `pieces` pieces of `cols` floats;
 * strides count floats from row to row. `kind`, and `pieces` if it is 1, are constants where this is put.
 */
@inline
export function sumColumns(
  kind: i32, a: usize, aStride: i32, b: usize, bStride: i32, stats: usize, dst: usize, rows: i32, pieces: i32,
  cols: i32, acc: bool,
): void {
  const count = rows * pieces;
  if (count == 0 && !acc) memory.fill(dst, 0, <usize>cols << 2);
  const piece = <usize>cols << 2;
  const aStep = pieces == 1 ? <usize>aStride << 2 : piece, bStep = pieces == 1 ? <usize>bStride << 2 : piece;
  const aGap = (<usize>aStride << 2) - <usize>pieces * piece, bGap = (<usize>bStride << 2) - <usize>pieces * piece;
  for (let first = 0; first < count; first += BLOCK_ROWS) {
    const n = min(BLOCK_ROWS, count - first);
    const row = pieces == 1 ? first : first / pieces, done = pieces == 1 ? 0 : first % pieces;
    const left = pieces - done;
    const aAt = a + (<usize>(row * aStride) << 2) + <usize>done * piece;
    const bAt = b + (<usize>(row * bStride) << 2) + <usize>done * piece;
    const statsAt = stats + (<usize>first << 3);
    const adds = acc || first > 0;
    let c: usize = 0;
    for (; c + 128 <= piece; c += 128) {
      sum32(kind, aAt + c, aStep, aGap, bAt + c, bStep, bGap, statsAt, dst + c, n, pieces, left, adds);
    }
    for (; c + 16 <= piece; c += 16) {
      const zero = f32x4.splat(0);
      sumOne<v128>(kind, aAt + c, aStep, aGap, bAt + c, bStep, bGap, statsAt, dst + c, n, pieces, left, zero, adds);
    }
    for (; c < piece; c += 4) {
      sumOne<f32>(kind, aAt + c, aStep, aGap, bAt + c, bStep, bGap, statsAt, dst + c, n, pieces, left, 0, adds);
    }
  }
}
