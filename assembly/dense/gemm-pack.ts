// Packing of operands into panels. Not exported by the module. Steps are in bytes: `sideStep` along the side that is
// cut into panels (rows of A, columns of B) and `kStep` along k, so one pair of functions packs A and B, plain or
// transposed.

/** Copies `k` steps of four side-by-side vectors: a 4 x 4 transpose per four steps when k is contiguous. */
@inline
function packQuad(src: usize, sideStep: usize, kStep: usize, k: i32, out: usize, outStep: usize): void {
  let s0 = src;
  let s1 = s0 + sideStep;
  let s2 = s1 + sideStep;
  let s3 = s2 + sideStep;
  let left = k;
  if (kStep == 4) {
    while (left >= 4) {
      const x0 = v128.load(s0);
      const x1 = v128.load(s1);
      const x2 = v128.load(s2);
      const x3 = v128.load(s3);
      const t0 = v128.shuffle<f32>(x0, x1, 0, 4, 1, 5);
      const t1 = v128.shuffle<f32>(x0, x1, 2, 6, 3, 7);
      const t2 = v128.shuffle<f32>(x2, x3, 0, 4, 1, 5);
      const t3 = v128.shuffle<f32>(x2, x3, 2, 6, 3, 7);
      v128.store(out, v128.shuffle<f64>(t0, t2, 0, 2));
      out += outStep;
      v128.store(out, v128.shuffle<f64>(t0, t2, 1, 3));
      out += outStep;
      v128.store(out, v128.shuffle<f64>(t1, t3, 0, 2));
      out += outStep;
      v128.store(out, v128.shuffle<f64>(t1, t3, 1, 3));
      out += outStep;
      s0 += 16;
      s1 += 16;
      s2 += 16;
      s3 += 16;
      left -= 4;
    }
  }
  while (left > 0) {
    store<f32>(out, load<f32>(s0));
    store<f32>(out, load<f32>(s1), 4);
    store<f32>(out, load<f32>(s2), 8);
    store<f32>(out, load<f32>(s3), 12);
    out += outStep;
    s0 += kStep;
    s1 += kStep;
    s2 += kStep;
    s3 += kStep;
    left--;
  }
}

/** The last panel, when the side does not fill it: what is missing is 0 and its results are never read. */
@inline
function packPart(src: usize, sideStep: usize, kStep: usize, count: i32, width: i32, k: i32, out: usize): void {
  for (let i = 0; i < k; i++) {
    let s = src;
    for (let r = 0; r < width; r++) {
      store<f32>(out, r < count ? load<f32>(s) : 0);
      s += sideStep;
      out += 4;
    }
    src += kStep;
  }
}

/** A: panels of 4 rows, each 4 floats per k. */
export function packA(src: usize, sideStep: usize, kStep: usize, count: i32, k: i32, out: usize): void {
  const panelBytes = <usize>k << 4;
  let left = count;
  while (left >= 4) {
    if (sideStep == 4) {
      let s = src;
      const end = out + panelBytes;
      for (let o = out; o != end; o += 16) {
        v128.store(o, v128.load(s));
        s += kStep;
      }
    } else {
      packQuad(src, sideStep, kStep, k, out, 16);
    }
    src += sideStep << 2;
    out += panelBytes;
    left -= 4;
  }
  if (left > 0) packPart(src, sideStep, kStep, left, 4, k, out);
}

/** B: panels of 8 columns, each 8 floats per k. */
export function packB(src: usize, sideStep: usize, kStep: usize, count: i32, k: i32, out: usize): void {
  const panelBytes = <usize>k << 5;
  let left = count;
  while (left >= 8) {
    if (sideStep == 4) {
      let s = src;
      const end = out + panelBytes;
      for (let o = out; o != end; o += 32) {
        const low = v128.load(s);
        const high = v128.load(s, 16);
        v128.store(o, low);
        v128.store(o, high, 16);
        s += kStep;
      }
    } else {
      packQuad(src, sideStep, kStep, k, out, 32);
      packQuad(src + (sideStep << 2), sideStep, kStep, k, out + 16, 32);
    }
    src += sideStep << 3;
    out += panelBytes;
    left -= 8;
  }
  if (left > 0) packPart(src, sideStep, kStep, left, 8, k, out);
}
