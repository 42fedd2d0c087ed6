// Transcendental functions on four lanes. Coefficients are minimax fits made for these intervals and forms, rounded
// to f32. The errors stated with the kernels were measured against f64 over every 61st f32 of both signs; the tests
// sample it again. NaN passes through. Tails run the same code on a part-filled vector, so an element's value does not
// depend on its place. Results below the normal range are right but slow on some processors.

/**
 * exp(x) for x <= 0, within 1 ulp (of the subnormal spacing below 2^-126); 0 below -104.
 *
 * x = n * ln 2 + r with |r| <= ln 2 / 2; exp(r) = 1 + r + r^2 * q(r). The power of two is applied in two halves, so
 * that results below the normal range round once.
 */
@inline
export function expNonPositive(x: v128): v128 {
  const bounded = f32x4.max(x, f32x4.splat(-104));
  const n = f32x4.nearest(f32x4.mul(bounded, f32x4.splat(1.4426950216293335)));
  // The upper part of ln 2 has 15 bits, so n times it is exact.
  const r = f32x4.sub(
    f32x4.sub(bounded, f32x4.mul(n, f32x4.splat(0.693145751953125))),
    f32x4.mul(n, f32x4.splat(1.428606765330187e-6)),
  );
  let q = f32x4.add(f32x4.mul(r, f32x4.splat(0.0013814466074109077)), f32x4.splat(0.008368780836462975));
  q = f32x4.add(f32x4.mul(q, r), f32x4.splat(0.04166839271783829));
  q = f32x4.add(f32x4.mul(q, r), f32x4.splat(0.1666651964187622));
  q = f32x4.add(f32x4.mul(q, r), f32x4.splat(0.4999999403953552));
  const p = f32x4.add(f32x4.add(f32x4.mul(q, f32x4.mul(r, r)), r), f32x4.splat(1));
  const exponent = i32x4.trunc_sat_f32x4_s(n);
  const half = i32x4.shr_s(exponent, 1);
  const low = i32x4.shl(i32x4.add(half, i32x4.splat(127)), 23);
  const high = i32x4.shl(i32x4.add(i32x4.sub(exponent, half), i32x4.splat(127)), 23);
  return f32x4.mul(f32x4.mul(p, low), high);
}

/** log(1 + u) for 0 <= u <= 1, within 2 ulp: with s = 2u / (2 + u), s * (1 + v * P(v)), v = s^2, the atanh series. */
@inline
export function log1pUnit(u: v128): v128 {
  const s = f32x4.div(f32x4.add(u, u), f32x4.add(u, f32x4.splat(2)));
  const v = f32x4.mul(s, s);
  let p = f32x4.add(f32x4.mul(v, f32x4.splat(0.000547110044863075)), f32x4.splat(0.0021876401733607054));
  p = f32x4.add(f32x4.mul(p, v), f32x4.splat(0.012506727129220963));
  p = f32x4.add(f32x4.mul(p, v), f32x4.splat(0.08333302289247513));
  return f32x4.add(s, f32x4.mul(s, f32x4.mul(p, v)));
}

/** 1 / (1 + exp(-x)). Only exp of -|x| is taken: no end overflows and the low end keeps its relative accuracy. */
@inline
export function sigmoid4(x: v128): v128 {
  const e = expNonPositive(f32x4.neg(f32x4.abs(x)));
  const one = f32x4.splat(1);
  return f32x4.div(v128.bitselect(e, one, f32x4.lt(x, f32x4.splat(0))), f32x4.add(one, e));
}

/** tanh(x): an odd polynomial below 0.625, where 1 - exp(-2|x|) would cancel, and exp above it. */
@inline
export function tanh4(x: v128): v128 {
  const size = f32x4.abs(x);
  const u = f32x4.mul(x, x);
  let p = f32x4.add(f32x4.mul(u, f32x4.splat(-0.005704978480935097)), f32x4.splat(0.020639078691601753));
  p = f32x4.add(f32x4.mul(p, u), f32x4.splat(-0.05373971164226532));
  p = f32x4.add(f32x4.mul(p, u), f32x4.splat(0.13331441581249237));
  p = f32x4.add(f32x4.mul(p, u), f32x4.splat(-0.3333328068256378));
  const near = f32x4.add(size, f32x4.mul(size, f32x4.mul(u, p)));
  const e = expNonPositive(f32x4.mul(size, f32x4.splat(-2)));
  const one = f32x4.splat(1);
  const far = f32x4.sub(one, f32x4.div(f32x4.add(e, e), f32x4.add(one, e)));
  const positive = v128.bitselect(near, far, f32x4.lt(size, f32x4.splat(0.625)));
  return v128.or(positive, v128.and(x, f32x4.splat(-0.0)));
}

/** exp(x), within 1 ulp; infinite above 88.73. */
@inline
export function exp4(x: v128): v128 {
  // Beyond 89 every result is infinite, and the power of two still fits its two halves.
  return expNonPositive(f32x4.min(x, f32x4.splat(89)));
}

/** log(x), within 2 ulp: x = 2^e * m with m around 1, and the atanh series of m. NaN below 0, -Infinity at 0. */
@inline
export function log4(x: v128): v128 {
  // Below the normal range: scaled up by 2^24, and the exponent makes up for it.
  const tiny = f32x4.lt(x, f32x4.splat(1.1754943508222875e-38));
  const bits = v128.bitselect(f32x4.mul(x, f32x4.splat(16777216)), x, tiny);
  // Centred on sqrt(1/2): m is in [sqrt(1/2), sqrt(2)).
  const shifted = i32x4.sub(bits, i32x4.splat(0x3f3504f3));
  const exponent = i32x4.sub(i32x4.shr_s(shifted, 23), v128.and(i32x4.splat(24), tiny));
  const m = i32x4.add(v128.and(shifted, i32x4.splat(0x7fffff)), i32x4.splat(0x3f3504f3));
  const e = f32x4.convert_i32x4_s(exponent);
  const u = f32x4.sub(m, f32x4.splat(1));
  const s = f32x4.div(u, f32x4.add(f32x4.splat(2), u));
  const v = f32x4.mul(s, s);
  let p = f32x4.add(f32x4.mul(v, f32x4.splat(0.22222222)), f32x4.splat(0.2857143));
  p = f32x4.add(f32x4.mul(p, v), f32x4.splat(0.4));
  p = f32x4.add(f32x4.mul(p, v), f32x4.splat(0.6666667));
  // log m = u - u * s + s * v * p, of which u is exact.
  const small = f32x4.mul(s, f32x4.sub(f32x4.mul(v, p), u));
  const low = f32x4.add(small, f32x4.mul(e, f32x4.splat(1.428606765330187e-6)));
  let y = f32x4.add(f32x4.add(low, u), f32x4.mul(e, f32x4.splat(0.693145751953125)));
  const infinity: v128 = f32x4.splat(Infinity);
  y = v128.bitselect(x, y, f32x4.eq(x, infinity));
  y = v128.bitselect(f32x4.neg(infinity), y, f32x4.eq(x, f32x4.splat(0)));
  return v128.bitselect(y, f32x4.splat(NaN), f32x4.ge(x, f32x4.splat(0)));
}
