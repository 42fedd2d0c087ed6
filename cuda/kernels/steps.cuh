// One step of an optimizer for one weight: what the dense and the row optimizers have in common. Bit-equal to the CPU.
#pragma once
#include "common.cuh"

/** What a root or a sum of them is divided by: the root of the smallest float in place of 0, any other root as it is.
 */
INLINE float divisor(float root) { return root < 3.743392066509216e-23f ? 3.743392066509216e-23f : root; }

struct Sgd {
  float rate;
  __device__ __forceinline__ void operator()(float& w, float g) const { w = w - rate * g; }
};

struct Adagrad {
  float rate, decay;
  __device__ __forceinline__ void operator()(float& w, float& norm, float g) const {
    const float h = g + decay * w, sum = norm + h * h;
    norm = sum;
    w = w - (rate / divisor(sqrtf(sum))) * h;
  }
};

struct DecoupledAdagrad {
  float rate, decay;
  __device__ __forceinline__ void operator()(float& w, float& norm, float g) const {
    const float before = w;
    norm = norm + g * g;
    w = (before - (rate / divisor(sqrtf(norm))) * g) - (rate * decay) * before;
  }
};

struct Ftrl {
  float rate, beta, l1, l2;
  /** 1: l1 pulls by the sign of the sum; 0: upstream's indicator of a negative sum. */
  u32 standard;
  __device__ __forceinline__ void operator()(float& w, float& norm, float& zero, float g) const {
    const float after = norm + g * g, root = sqrtf(after);
    if (rate == 0) {
      norm = after;
      zero = zero + g;
      return;
    }
    const float s = (root - sqrtf(norm)) / rate;
    const float z = zero + (g - s * w);
    const float side = standard ? (signbit(z) ? -1.0f : 1.0f) : (z < 0 ? 1.0f : 0.0f);
    const float step = (rate * (side * l1 - z)) / divisor((root + beta) + l2 * rate);
    norm = after;
    zero = z;
    w = fabsf(z) > l1 ? step : 0.0f;
  }
};

struct Momentum {
  float rate, decay, mu;
  u32 nesterov;
  __device__ __forceinline__ void operator()(float& w, float& n, float g) const {
    const float dx = rate * (g + decay * w), before = mu * n, after = before - dx;
    n = after;
    w = nesterov ? (w - before) + (1.0f + mu) * after : w + after;
  }
};

struct Adadelta {
  float rate, decay, rho, epsilon;
  __device__ __forceinline__ void operator()(float& w, float& accum, float& update, float g) const {
    const float rest = 1.0f - rho, h = g + decay * w;
    const float a = accum * rho + (h * h) * rest;
    const float u = (sqrtf(update + epsilon) / divisor(sqrtf(a + epsilon))) * h;
    accum = a;
    w = w - u * rate;
    update = update * rho + (u * u) * rest;
  }
};

/** `rate` is scaled by the powers of the betas already. */
struct Adam {
  float rate, beta1, beta2, decay, epsilon;
  u32 nesterov;
  __device__ __forceinline__ float second(float& w, float& m, float& v, float g, float& h) const {
    h = g + decay * w;
    m = m + (h - m) * (1.0f - beta1);
    v = v + (h * h - v) * (1.0f - beta2);
    return v;
  }
  __device__ __forceinline__ void finish(float& w, float m, float scale, float h) const {
    const float direction = nesterov ? h * (1.0f - beta1) + beta1 * m : m;
    w = w - (direction * rate) / (sqrtf(scale) + divisor(epsilon));
  }
  __device__ __forceinline__ void operator()(float& w, float& m, float& v, float g) const {
    float h;
    const float scale = second(w, m, v, g, h);
    finish(w, m, scale, h);
  }
};

/** The row optimizer: f64 between the loads and the stores. `rest` is 1 - mu, or 1 for the second version. */
struct RowRmsprop {
  double rate, decay, mu, rest;
  __device__ __forceinline__ void operator()(float& w, float& n, float g) const {
    const double weight = w, dx = (double)g + decay * weight;
    n = (float)(mu * (double)n + rest * (dx * dx));
    w = (float)(weight - (rate / (sqrt((double)n) + 1.0)) * dx);
  }
};

/** step(x, a, b, c, g) for the weight at w, its gradient and its SLOTS slots, which are loaded before and stored after.
 */
template <u32 SLOTS, class Step>
INLINE void stepOne(float* w, float* a, float* b, float* c, const float* g, Step step) {
  float x = *w, p = 0, q = 0, r = 0;
  if (SLOTS > 0) p = *a;
  if (SLOTS > 1) q = *b;
  if (SLOTS > 2) r = *c;
  step(x, p, q, r, *g);
  if (SLOTS > 0) *a = p;
  if (SLOTS > 1) *b = q;
  if (SLOTS > 2) *c = r;
  *w = x;
}

/** The same for four weights, at places that are multiples of 16 bytes. */
template <u32 SLOTS, class Step>
INLINE void stepQuad(float* w, float* a, float* b, float* c, const float* g, Step step) {
  const float4 zero = make_float4(0, 0, 0, 0), h = *(const float4*)g;
  float4 x = *(float4*)w, p = zero, q = zero, r = zero;
  if (SLOTS > 0) p = *(float4*)a;
  if (SLOTS > 1) q = *(float4*)b;
  if (SLOTS > 2) r = *(float4*)c;
  step(x.x, p.x, q.x, r.x, h.x);
  step(x.y, p.y, q.y, r.y, h.y);
  step(x.z, p.z, q.z, r.z, h.z);
  step(x.w, p.w, q.w, r.w, h.w);
  if (SLOTS > 0) *(float4*)a = p;
  if (SLOTS > 1) *(float4*)b = q;
  if (SLOTS > 2) *(float4*)c = r;
  *(float4*)w = x;
}
