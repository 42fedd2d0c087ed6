// Optimizer steps of dense variables: one thread per weight, parameter, state and gradient in one pass. Bit-equal to the CPU.
#include "steps.cuh"

template <class Visit>
INLINE void forWeights(u32 n, Visit visit) {
  for (u32 i = firstThread(); i < n; i += allThreads()) visit(i);
}

KERNEL applySgdF32(float* w, const float* g, u32 n, float lr) {
  forWeights(n, [=](u32 i) { w[i] = w[i] - lr * g[i]; });
}

KERNEL applyAdagradF32(float* w, float* norm, const float* g, u32 n, float lr, float decay) {
  forWeights(n, [=](u32 i) {
    float x = w[i], s = norm[i];
    Adagrad{lr, decay}(x, s, g[i]);
    norm[i] = s;
    w[i] = x;
  });
}

KERNEL applyFtrlF32(float* w, float* norm, float* zero, const float* g, u32 n, float lr, float beta, float l1, float l2) {
  forWeights(n, [=](u32 i) {
    float x = w[i], s = norm[i], z = zero[i];
    Ftrl{lr, beta, l1, l2, 0}(x, s, z, g[i]);
    norm[i] = s;
    zero[i] = z;
    w[i] = x;
  });
}

KERNEL applyMomentumF32(float* w, float* state, const float* g, u32 n, float lr, float decay, float mu, u32 nesterov) {
  forWeights(n, [=](u32 i) {
    float x = w[i], s = state[i];
    Momentum{lr, decay, mu, nesterov}(x, s, g[i]);
    state[i] = s;
    w[i] = x;
  });
}

/** Slots m, v, c. `second` has epsilon outside of the root; `updates` 0 keeps the slots. */
KERNEL applyAdamomF32(float* w, float* m, float* v, float* c, const float* g, u32 n, float lr, float ada, float mom,
                      float epsilon, float decay, u32 second, u32 updates) {
  forWeights(n, [=](u32 i) {
    const float weight = w[i];
    float mean = m[i], square = v[i], count = c[i];
    if (updates) {
      const float h = g[i] + decay * weight;
      mean = mom * mean + (1.0f - mom) * h;
      square = ada * square + h * h;
      count = ada * count + 1.0f;
      m[i] = mean;
      v[i] = square;
      c[i] = count;
    }
    const float ratio = square / count;
    const float scale = second ? sqrtf(ratio) + epsilon : sqrtf(ratio + epsilon);
    w[i] = weight - (mean * lr) / scale;
  });
}

/** Slots m, v; the second version decays the whole of v and has epsilon outside of the root. */
KERNEL applyDenseRmspropF32(float* w, float* m, float* v, const float* g, u32 n, float lr, float beta1, float beta2,
                            float epsilon, float decay, u32 second) {
  forWeights(n, [=](u32 i) {
    const float weight = w[i], h = g[i] + decay * weight, before = v[i], hh = h * h;
    const float after = second ? beta2 * before + hh : before + (hh - before) * (1.0f - beta2);
    const float scale = second ? sqrtf(after) + epsilon : sqrtf(after + epsilon);
    const float mean = beta1 * m[i] + (h * lr) / scale;
    v[i] = after;
    m[i] = mean;
    w[i] = weight - mean;
  });
}

/** State: m[n], v[n], beta1_power, beta2_power. The powers are raised by applyAdamPowersF32, after all weights have read them. */
KERNEL applyAdamF32(float* w, float* state, const float* g, u32 n, float lr, float beta1, float beta2, float decay, float epsilon,
                    u32 nesterov) {
  const float* powers = state + 2 * (u64)n;
  const float rate = (lr * sqrtf(1.0f - powers[1])) / (1.0f - powers[0]);
  forWeights(n, [=](u32 i) {
    float x = w[i], m = state[i], v = state[(u64)n + i];
    Adam{rate, beta1, beta2, decay, epsilon, nesterov}(x, m, v, g[i]);
    state[i] = m;
    state[(u64)n + i] = v;
    w[i] = x;
  });
}

/** A power below the normal floats becomes 0. */
KERNEL applyAdamPowersF32(float* powers, float beta1, float beta2) {
  if (firstThread() > 1) return;
  const float next = powers[firstThread()] * (firstThread() == 0 ? beta1 : beta2);
  powers[firstThread()] = next < 1.17549435e-38f ? 0.0f : next;
}

KERNEL addCountI64(u64* counter, u32 count) {
  if (firstThread() == 0) *counter += count;
}
