// The step of dot products, the one place where modules differ in their numbers.

/** a * b + c: rounded once where the module has fused steps and the machine too, else rounded twice. */
@inline
export function madd(a: v128, b: v128, c: v128): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) return f32x4.relaxed_madd(a, b, c);
  return f32x4.add(c, f32x4.mul(a, b));
}
