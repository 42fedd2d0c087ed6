// Optimizer steps of table rows, each row once: `index` names the rows that the gradients belong to, in any order, without
// repetition; 2^32 - 1 is no row, and its gradient is passed over. Without `index` row i is that of gradient i. State is laid out as src/runtime/reference/optim has it, `dim` floats after `dim`
// floats. Bit-equal to the CPU.
#include "steps.cuh"

#define NO_ROW 0xffffffffu

/** visit(i, row, c): gradient i, its row, column c; as many lanes per row as it has columns, at most a warp. */
template <class Visit>
INLINE void forRowWeights(const u32* index, u32 count, u32 dim, Visit visit) {
  const u32 bits = laneBits(dim), step = 1u << bits;
  for (u32 i = firstThread() >> bits; i < count; i += allThreads() >> bits) {
    const u32 row = index == nullptr ? i : index[i];
    if (row == NO_ROW) continue;
    for (u32 c = threadIdx.x & (step - 1); c < dim; c += step) visit(i, row, c);
  }
}

#define ROWS float *w, u32 wStride, float *state, u32 stateStride, const u32 *index, const float *grad, u32 gradStride, u32 count, u32 dim
#define PLACES                                        \
  float* const weight = w + (u64)row * wStride + c;     \
  float* const slot = state + (u64)row * stateStride + c; \
  const float g = grad[(u64)i * gradStride + c];        \
  float x = *weight;

KERNEL stepRowsSgdF32(float* w, u32 wStride, const u32* index, const float* grad, u32 gradStride, u32 count, u32 dim, float lr) {
  forRowWeights(index, count, dim, [=](u32 i, u32 row, u32 c) {
    float* const weight = w + (u64)row * wStride + c;
    *weight = *weight - lr * grad[(u64)i * gradStride + c];
  });
}

KERNEL stepRowsMovingAverageF32(float* w, u32 wStride, const u32* index, const float* grad, u32 gradStride, u32 count, u32 dim,
                                float mu) {
  forRowWeights(index, count, dim, [=](u32 i, u32 row, u32 c) {
    float* const weight = w + (u64)row * wStride + c;
    *weight = mu * *weight + (1.0f - mu) * grad[(u64)i * gradStride + c];
  });
}

/** Steps with one float of state for a weight. */
template <class Step>
INLINE void stepWithOne(ROWS, Step step) {
  forRowWeights(index, count, dim, [=](u32 i, u32 row, u32 c) {
    PLACES
    float s = slot[0];
    step(x, s, g);
    slot[0] = s;
    *weight = x;
  });
}

/** Steps with two floats of state for a weight. */
template <class Step>
INLINE void stepWithTwo(ROWS, Step step) {
  forRowWeights(index, count, dim, [=](u32 i, u32 row, u32 c) {
    PLACES
    float s = slot[0], z = slot[dim];
    step(x, s, z, g);
    slot[0] = s;
    slot[dim] = z;
    *weight = x;
  });
}

#define PASS w, wStride, state, stateStride, index, grad, gradStride, count, dim

KERNEL stepRowsAdagradF32(ROWS, float lr, float decay) { stepWithOne(PASS, Adagrad{lr, decay}); }

KERNEL stepRowsDecoupledAdagradF32(ROWS, float lr, float decay) { stepWithOne(PASS, DecoupledAdagrad{lr, decay}); }

KERNEL stepRowsMomentumF32(ROWS, float lr, float decay, float mu, u32 nesterov) {
  stepWithOne(PASS, Momentum{lr, decay, mu, nesterov});
}

/** `second` is rmspropv2: the gradient's share is 1, not 1 - mu. */
KERNEL stepRowsRmspropF32(ROWS, float lr, float decay, float mu, u32 second) {
  stepWithOne(PASS, RowRmsprop{lr, decay, mu, second ? 1.0 : 1.0 - (double)mu});
}

KERNEL stepRowsFtrlF32(ROWS, float lr, float beta, float l1, float l2, u32 standard) {
  stepWithTwo(PASS, Ftrl{lr, beta, l1, l2, standard});
}

KERNEL stepRowsAdadeltaF32(ROWS, float lr, float decay, float rho, float epsilon) {
  stepWithTwo(PASS, Adadelta{lr, decay, rho, epsilon});
}

INLINE float nextPower(float power, float beta) {
  const float next = power * beta;
  return next < 1.17549435e-38f ? 0.0f : next;
}

/** A warp per row, so that the powers of the row are raised after all lanes have read them. */
template <bool KEEPS_MAX>
INLINE void stepAdam(ROWS, float lr, float beta1, float beta2, float decay, float epsilon, u32 nesterov) {
  forWarpRows(count, [=](u32 i, u32 lane) {
    const u32 row = index == nullptr ? i : index[i];
    if (row == NO_ROW) return;
    float* const powers = state + (u64)row * stateStride + (KEEPS_MAX ? 3 : 2) * dim;
    const float power1 = powers[0], power2 = powers[1];
    const float rate = (lr * sqrtf(1.0f - power2)) / (1.0f - power1);
    const Adam step{rate, beta1, beta2, decay, epsilon, nesterov};
    for (u32 c = lane; c < dim; c += 32) {
      PLACES
      float m = slot[0], v = slot[dim], h;
      float scale = step.second(x, m, v, g, h);
      slot[0] = m;
      slot[dim] = v;
      if (KEEPS_MAX) {
        scale = maxOf(slot[2 * dim], scale);
        slot[2 * dim] = scale;
      }
      step.finish(x, m, scale, h);
      *weight = x;
    }
    __syncwarp();
    if (lane == 0) powers[0] = nextPower(power1, beta1);
    if (lane == 1) powers[1] = nextPower(power2, beta2);
  });
}

KERNEL stepRowsAdamF32(ROWS, float lr, float beta1, float beta2, float decay, float epsilon, u32 nesterov) {
  stepAdam<false>(PASS, lr, beta1, beta2, decay, epsilon, nesterov);
}

KERNEL stepRowsAmsgradF32(ROWS, float lr, float beta1, float beta2, float decay, float epsilon, u32 nesterov) {
  stepAdam<true>(PASS, lr, beta1, beta2, decay, epsilon, nesterov);
}
