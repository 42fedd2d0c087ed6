// Optimizer steps of table rows, each row once: `index` names the rows that the gradients belong to, in any order,
// without repetition; 2^32 - 1 is no row, and its gradient is passed over. Without `index` row i is that of gradient i.
// State is laid out as src/runtime/backends/reference/optim has it, `dim` floats after `dim` floats. Bit-equal to the
// CPU.
#include "steps.cuh"

#define ROWS                                                                                                 \
  float *w, u32 wStride, float *state, u32 stateStride, const u32 *index, const float *grad, u32 gradStride, \
      u32 count, u32 dim
#define PASS w, wStride, state, stateStride, index, grad, gradStride, count, dim
#define STATELESS w, wStride, nullptr, 0, index, grad, gradStride, count, dim
#define STEP [=](float& x, float& a, float& b, float& c, float g)

INLINE u32 rowAt(const u32* index, u32 i) { return index == nullptr ? i : index[i]; }

/** Whether rows, states and gradients are made of quads at multiples of 16 bytes. */
INLINE bool areWide(const float* w, u32 wStride, const float* state, u32 stateStride, const float* grad, u32 gradStride,
                    u32 dim) {
  return ((dim | wStride | stateStride | gradStride) & 3) == 0 && isWide(w) && isWide(state) && isWide(grad);
}

/** Steps with SLOTS floats of state for a weight; as many lanes per row as it has quads, or floats, at most a warp. */
template <u32 SLOTS, class Step>
INLINE void stepRows(ROWS, Step step) {
  const bool wide = areWide(w, wStride, state, stateStride, grad, gradStride, dim);
  const u32 units = wide ? dim / 4 : dim, bits = laneBits(units);
  for (u32 i = firstThread() >> bits; i < count; i += allThreads() >> bits) {
    const u32 row = rowAt(index, i);
    if (row == NO_ROW) continue;
    float *const weights = w + (u64)row * wStride, *const slots = state + (u64)row * stateStride;
    const float* const g = grad + (u64)i * gradStride;
    for (u32 unit = threadIdx.x & ((1u << bits) - 1); unit < units; unit += 1u << bits) {
      const u32 at = wide ? unit * 4 : unit;
      float *const a = slots + at, *const b = a + dim, *const c = b + dim;
      if (wide) stepQuad<SLOTS>(weights + at, a, b, c, g + at, step);
      else stepOne<SLOTS>(weights + at, a, b, c, g + at, step);
    }
  }
}

KERNEL stepRowsSgdF32(float* w, u32 wStride, const u32* index, const float* grad, u32 gradStride, u32 count, u32 dim,
                      float lr) {
  stepRows<0>(STATELESS, STEP { Sgd{lr}(x, g); });
}

KERNEL stepRowsMovingAverageF32(float* w, u32 wStride, const u32* index, const float* grad, u32 gradStride, u32 count,
                                u32 dim, float mu) {
  stepRows<0>(STATELESS, STEP { x = mu * x + (1.0f - mu) * g; });
}

KERNEL stepRowsAdagradF32(ROWS, float lr, float decay) {
  stepRows<1>(PASS, STEP { Adagrad{lr, decay}(x, a, g); });
}

KERNEL stepRowsDecoupledAdagradF32(ROWS, float lr, float decay) {
  stepRows<1>(PASS, STEP { DecoupledAdagrad{lr, decay}(x, a, g); });
}

KERNEL stepRowsMomentumF32(ROWS, float lr, float decay, float mu, u32 nesterov) {
  stepRows<1>(PASS, STEP { Momentum{lr, decay, mu, nesterov}(x, a, g); });
}

/** `second` is rmspropv2: the gradient's share is 1, not 1 - mu. */
KERNEL stepRowsRmspropF32(ROWS, float lr, float decay, float mu, u32 second) {
  const RowRmsprop rule{lr, decay, mu, second ? 1.0 : 1.0 - (double)mu};
  stepRows<1>(PASS, STEP { rule(x, a, g); });
}

KERNEL stepRowsFtrlF32(ROWS, float lr, float beta, float l1, float l2, u32 standard) {
  stepRows<2>(PASS, STEP { Ftrl{lr, beta, l1, l2, standard}(x, a, b, g); });
}

KERNEL stepRowsAdadeltaF32(ROWS, float lr, float decay, float rho, float epsilon) {
  stepRows<2>(PASS, STEP { Adadelta{lr, decay, rho, epsilon}(x, a, b, g); });
}

INLINE float nextPower(float power, float beta) {
  const float next = power * beta;
  return next < 1.17549435e-38f ? 0.0f : next;
}

/** The rows of a warp go round together, so that the powers of a row are raised after all its lanes have read them. */
template <bool KEEPS_MAX>
INLINE void stepAdam(ROWS, float lr, float beta1, float beta2, float decay, float epsilon, u32 nesterov) {
  const bool wide = areWide(w, wStride, state, stateStride, grad, gradStride, dim);
  const u32 units = wide ? dim / 4 : dim, bits = laneBits(units), lane = threadIdx.x & ((1u << bits) - 1);
  const u32 rowsOfWarp = 32 >> bits;
  for (u32 base = (firstThread() >> 5) * rowsOfWarp; base < count; base += (allThreads() >> 5) * rowsOfWarp) {
    const u32 i = base + ((threadIdx.x & 31) >> bits), row = i < count ? rowAt(index, i) : NO_ROW;
    float* const slots = state + (row == NO_ROW ? 0 : (u64)row * stateStride);
    float* const powers = slots + (KEEPS_MAX ? 3 : 2) * dim;
    float power1 = 0, power2 = 0;
    if (row != NO_ROW) {
      power1 = powers[0];
      power2 = powers[1];
      const Adam rule{(lr * sqrtf(1.0f - power2)) / (1.0f - power1), beta1, beta2, decay, epsilon, nesterov};
      const auto step = STEP {
        float h, scale = rule.second(x, a, b, g, h);
        if (KEEPS_MAX) scale = c = maxOf(c, scale);
        rule.finish(x, a, scale, h);
      };
      float* const weights = w + (u64)row * wStride;
      const float* const g = grad + (u64)i * gradStride;
      for (u32 unit = lane; unit < units; unit += 1u << bits) {
        const u32 at = wide ? unit * 4 : unit;
        float *const a = slots + at, *const b = a + dim, *const c = b + dim;
        if (wide) stepQuad<KEEPS_MAX ? 3 : 2>(weights + at, a, b, c, g + at, step);
        else stepOne<KEEPS_MAX ? 3 : 2>(weights + at, a, b, c, g + at, step);
      }
    }
    __syncwarp();
    if (row == NO_ROW || lane > 0) continue;
    powers[0] = nextPower(power1, beta1);
    powers[1] = nextPower(power2, beta2);
  }
}

KERNEL stepRowsAdamF32(ROWS, float lr, float beta1, float beta2, float decay, float epsilon, u32 nesterov) {
  stepAdam<false>(PASS, lr, beta1, beta2, decay, epsilon, nesterov);
}

KERNEL stepRowsAmsgradF32(ROWS, float lr, float beta1, float beta2, float decay, float epsilon, u32 nesterov) {
  stepAdam<true>(PASS, lr, beta1, beta2, decay, epsilon, nesterov);
}
