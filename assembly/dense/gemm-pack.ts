// Packing of operands into panels. Not exported by the module. Steps are in bytes: `sideStep` along the side that is
// cut into panels (rows of A, columns of B) and `kStep` along k, so one function packs A and B, plain or transposed.
import { FLOAT, LONG, V1, V2, V3 } from "../units";

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
    store<f32>(out, load<f32>(s1), FLOAT);
    store<f32>(out, load<f32>(s2), 2 * FLOAT);
    store<f32>(out, load<f32>(s3), 3 * FLOAT);
    out += outStep;
    s0 += kStep;
    s1 += kStep;
    s2 += kStep;
    s3 += kStep;
    left--;
  }
}

/** The same of two side-by-side vectors. */
@inline
function packPair(src: usize, sideStep: usize, kStep: usize, k: i32, out: usize, outStep: usize): void {
  let s0 = src;
  let s1 = s0 + sideStep;
  let left = k;
  if (kStep == 4) {
    while (left >= 4) {
      const x0 = v128.load(s0);
      const x1 = v128.load(s1);
      const low = v128.shuffle<f32>(x0, x1, 0, 4, 1, 5);
      const high = v128.shuffle<f32>(x0, x1, 2, 6, 3, 7);
      v128.store_lane<u64>(out, low, 0);
      out += outStep;
      v128.store_lane<u64>(out, low, 1);
      out += outStep;
      v128.store_lane<u64>(out, high, 0);
      out += outStep;
      v128.store_lane<u64>(out, high, 1);
      out += outStep;
      s0 += 16;
      s1 += 16;
      left -= 4;
    }
  }
  while (left > 0) {
    store<f32>(out, load<f32>(s0));
    store<f32>(out, load<f32>(s1), FLOAT);
    out += outStep;
    s0 += kStep;
    s1 += kStep;
    left--;
  }
}

/** One step of one panel whose side is contiguous. */
@inline
function copyStep(src: usize, width: i32, out: usize): void {
  const x0 = v128.load(src);
  if (width == 16) {
    const x1 = v128.load(src, V1);
    const x2 = v128.load(src, V2);
    const x3 = v128.load(src, V3);
    v128.store(out, x0);
    v128.store(out, x1, V1);
    v128.store(out, x2, V2);
    v128.store(out, x3, V3);
  } else if (width == 8) {
    const x1 = v128.load(src, V1);
    v128.store(out, x0);
    v128.store(out, x1, V1);
  } else if (width == 6) {
    const x1 = load<u64>(src, 2 * LONG);
    v128.store(out, x0);
    store<u64>(out, x1, 2 * LONG);
  } else {
    v128.store(out, x0);
  }
}

/** A panel whose side is contiguous: each step is copied as it lies. */
@inline
function packCopy(src: usize, kStep: usize, width: i32, k: i32, out: usize): void {
  const end = out + (<usize>(k * width) << 2);
  while (out != end) {
    copyStep(src, width, out);
    src += kStep;
    out += <usize>width << 2;
  }
}

/** The last panel, when the side does not fill it: what is missing is 0 and its results are never read. */
@inline
function packPart(src: usize, sideStep: usize, kStep: usize, count: i32, width: i32, k: i32, out: usize): void {
  const outStep = <usize>width << 2;
  for (let r = 0; r < width; r++) {
    let s = src + <usize>r * sideStep;
    let o = out + (<usize>r << 2);
    if (r < count) {
      for (let i = 0; i < k; i++) {
        store<f32>(o, load<f32>(s));
        s += kStep;
        o += outStep;
      }
    } else {
      for (let i = 0; i < k; i++) {
        store<f32>(o, 0);
        o += outStep;
      }
    }
  }
}

/** Panels of `width` (4, 6, 8 or 16, known when compiled) along the side, each `width` floats per k. */
@inline
export function pack(
  src: usize, sideStep: usize, kStep: usize, count: i32, width: i32, k: i32, out: usize,
): void {
  const outStep = <usize>width << 2;
  const panelBytes = <usize>k * outStep;
  let left = count;
  while (left >= width) {
    if (sideStep == 4) {
      packCopy(src, kStep, width, k, out);
    } else {
      let done = 0;
      for (; done + 4 <= width; done += 4) {
        packQuad(src + <usize>done * sideStep, sideStep, kStep, k, out + (<usize>done << 2), outStep);
      }
      if (done < width) packPair(src + <usize>done * sideStep, sideStep, kStep, k, out + (<usize>done << 2), outStep);
    }
    src += <usize>width * sideStep;
    out += panelBytes;
    left -= width;
  }
  if (left > 0) packPart(src, sideStep, kStep, left, width, k, out);
}
