// Arithmetic on four floats or on one: each rule is written once and compiled as the vector body and as the scalar
// tail, so both do the same operations in the same order. `T` is v128 or f32.

@inline
export function add<T>(a: T, b: T): T {
  if (isVector<T>()) return f32x4.add(a, b);
  else return a + b;
}

@inline
export function sub<T>(a: T, b: T): T {
  if (isVector<T>()) return f32x4.sub(a, b);
  else return a - b;
}

@inline
export function mul<T>(a: T, b: T): T {
  if (isVector<T>()) return f32x4.mul(a, b);
  else return a * b;
}

@inline
export function div<T>(a: T, b: T): T {
  if (isVector<T>()) return f32x4.div(a, b);
  else return a / b;
}

@inline
export function root<T>(a: T): T {
  if (isVector<T>()) return f32x4.sqrt(a);
  else return sqrt<f32>(a);
}

/** The larger; NaN when one is. */
@inline
export function larger<T>(a: T, b: T): T {
  if (isVector<T>()) return f32x4.max(a, b);
  else return max<f32>(a, b);
}

/** The root of the smallest float, 2^-74.5. */
const LEAST_ROOT: f32 = 3.743392066509216e-23;

/**
 * What a root or a sum of them is divided by: LEAST_ROOT in place of 0, and any other root as it is. A weight that had
 * no gradient so far then stays, where 0 / 0 would make it NaN for good. NaN stays NaN.
 */
@inline
export function divisor<T>(a: T): T {
  if (isVector<T>()) return f32x4.pmax(a, f32x4.splat(LEAST_ROOT));
  else return a < LEAST_ROOT ? LEAST_ROOT : a;
}

@inline
export function splat<T>(x: f32): T {
  if (isVector<T>()) return f32x4.splat(x);
  else return x;
}

/** g + decay * w. */
@inline
export function decayed<T>(g: T, w: T, decay: T): T {
  return add<T>(g, mul<T>(decay, w));
}

/** (lane 0 + lane 1) + (lane 2 + lane 3). */
@inline
export function sumLanes(v: v128): f32 {
  return (f32x4.extract_lane(v, 0) + f32x4.extract_lane(v, 1)) + (f32x4.extract_lane(v, 2) + f32x4.extract_lane(v, 3));
}

@inline
export function maxLanes(v: v128): f32 {
  return max<f32>(
    max<f32>(f32x4.extract_lane(v, 0), f32x4.extract_lane(v, 1)),
    max<f32>(f32x4.extract_lane(v, 2), f32x4.extract_lane(v, 3)),
  );
}
