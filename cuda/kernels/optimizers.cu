// Optimizer steps of dense variables: parameter, state and gradient in one pass, four weights a thread. Bit-equal to
// the CPU.
#include "steps.cuh"

/**
 * step(x, a, b, c, g) for every weight x with its slots, of which there are SLOTS, and its gradient. Quads where all
 * arrays are aligned to them; the rest, and all of odd places, one by one.
 */
template <u32 SLOTS, class Step>
INLINE void stepWeights(float* w, float* a, float* b, float* c, const float* g, u32 n, Step step) {
  const bool wide =
      isWide(w) && isWide(g) && (SLOTS < 1 || isWide(a)) && (SLOTS < 2 || isWide(b)) && (SLOTS < 3 || isWide(c));
  const u32 quads = wide ? n / 4 : 0;
  for (u32 i = firstThread(); i < quads; i += allThreads())
    stepQuad<SLOTS>(w + i * 4, a + i * 4, b + i * 4, c + i * 4, g + i * 4, step);
  for (u32 i = quads * 4 + firstThread(); i < n; i += allThreads())
    stepOne<SLOTS>(w + i, a + i, b + i, c + i, g + i, step);
}

#define STEP [=](float& x, float& a, float& b, float& c, float g)

KERNEL applySgdF32(float* w, const float* g, u32 n, float lr) {
  stepWeights<0>(w, nullptr, nullptr, nullptr, g, n, STEP { Sgd{lr}(x, g); });
}

KERNEL applyAdagradF32(float* w, float* norm, const float* g, u32 n, float lr, float decay) {
  stepWeights<1>(w, norm, nullptr, nullptr, g, n, STEP { Adagrad{lr, decay}(x, a, g); });
}

KERNEL applyFtrlF32(float* w, float* norm, float* zero, const float* g, u32 n, float lr, float beta, float l1,
                    float l2) {
  stepWeights<2>(w, norm, zero, nullptr, g, n, STEP { Ftrl{lr, beta, l1, l2, 0}(x, a, b, g); });
}

KERNEL applyStandardFtrlF32(float* w, float* norm, float* zero, const float* g, u32 n, float lr, float beta, float l1,
                            float l2) {
  stepWeights<2>(w, norm, zero, nullptr, g, n, STEP { Ftrl{lr, beta, l1, l2, 1}(x, a, b, g); });
}

KERNEL applyMomentumF32(float* w, float* state, const float* g, u32 n, float lr, float decay, float mu, u32 nesterov) {
  stepWeights<1>(w, state, nullptr, nullptr, g, n, STEP { Momentum{lr, decay, mu, nesterov}(x, a, g); });
}

/** TensorFlow's momentum: the slot does not hold the rate. */
KERNEL applyDenseMomentumF32(float* w, float* accum, const float* g, u32 n, float lr, float mu, u32 nesterov) {
  stepWeights<1>(
      w, accum, nullptr, nullptr, g, n, STEP {
        a = mu * a + g;
        x = x - (nesterov ? g * lr + (a * mu) * lr : lr * a);
      });
}

/** Slots m, v, c. `second` has epsilon outside of the root; `updates` 0 keeps the slots. */
KERNEL applyAdamomF32(float* w, float* m, float* v, float* c, const float* g, u32 n, float lr, float ada, float mom,
                      float epsilon, float decay, u32 second, u32 updates) {
  stepWeights<3>(
      w, m, v, c, g, n, STEP {
        if (updates) {
          const float h = g + decay * x;
          a = mom * a + (1.0f - mom) * h;
          b = ada * b + h * h;
          c = ada * c + 1.0f;
        }
        const float ratio = b / divisor(c);
        x = x - (a * lr) / divisor(second ? sqrtf(ratio) + epsilon : sqrtf(ratio + epsilon));
      });
}

/** Slots m, v; the second version decays the whole of v and has epsilon outside of the root. */
KERNEL applyDenseRmspropF32(float* w, float* m, float* v, const float* g, u32 n, float lr, float beta1, float beta2,
                            float epsilon, float decay, u32 second) {
  stepWeights<2>(
      w, m, v, nullptr, g, n, STEP {
        const float h = g + decay * x, hh = h * h;
        b = second ? beta2 * b + hh : b + (hh - b) * (1.0f - beta2);
        a = beta1 * a + (h * lr) / divisor(second ? sqrtf(b) + epsilon : sqrtf(b + epsilon));
        x = x - a;
      });
}

INLINE float biasCorrected(float lr, float power1, float power2) {
  return (lr * sqrtf(1.0f - power2)) / (1.0f - power1);
}

/** State: m[n], v[n], beta1_power, beta2_power. The powers are raised by applyAdamPowersF32, after all weights have
 * read them. */
KERNEL applyAdamF32(float* w, float* state, const float* g, u32 n, float lr, float beta1, float beta2, float decay,
                    float epsilon, u32 nesterov) {
  const float* powers = state + 2 * (u64)n;
  const Adam adam{biasCorrected(lr, powers[0], powers[1]), beta1, beta2, decay, epsilon, nesterov};
  stepWeights<2>(w, state, state + n, nullptr, g, n, STEP { adam(x, a, b, g); });
}

/** Slots m, v; the powers are shared by all variables and raised elsewhere. */
KERNEL applyDenseAdamF32(float* w, float* m, float* v, const float* g, u32 n, float lr, const float* power1,
                         const float* power2, float beta1, float beta2, float decay, float epsilon, u32 nesterov) {
  const Adam adam{biasCorrected(lr, *power1, *power2), beta1, beta2, decay, epsilon, nesterov};
  stepWeights<2>(w, m, v, nullptr, g, n, STEP { adam(x, a, b, g); });
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
