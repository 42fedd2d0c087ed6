import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import {
  clipByGlobalNorm,
  fusedClipByGlobalNorm,
  globalL2Reduce,
} from '../../../src/tensor/ops/clip-by-global-norm.js';
import {
  featureInsight,
  featureInsightAggregate,
  featureInsightAggregateGradient,
  featureInsightGradient,
} from '../../../src/tensor/ops/feature-insight.js';
import { ffm, ffmGradient } from '../../../src/tensor/ops/ffm.js';
import { inbatchAucLoss, inbatchAucLossGradient } from '../../../src/tensor/ops/inbatch-auc-loss.js';
import { Tensor } from '../../../src/tensor/tensor.js';
import { close, dot, numericGradient, wholeTensor } from './arbitraries.js';

const f32 = (values: readonly number[]) => Float32Array.from(values);

t.test('the gradient of the pair loss is the numeric one', async () => {
  const example = fc.tuple(fc.constantFrom(1, 0, -1, -20000), fc.integer({ min: -40, max: 40 }));
  fc.assert(
    fc.property(fc.array(example, { maxLength: 8 }), (examples) => {
      const label = f32(examples.map(([l]) => l));
      const logit = Tensor.vector('float32', f32(examples.map(([, x]) => x / 8)));
      // In float64, since a float32 loss is too coarse to differ.
      const loss = (x: Tensor<'float32'>) => {
        let total = 0;
        x.data.forEach((p, i) => {
          x.data.forEach((n, j) => {
            if (label[i]! > 0 && label[j]! <= 0 && label[j]! > -10000) total -= Math.log1p(Math.exp(n - p));
          });
        });
        return total;
      };
      close([inbatchAucLoss(label, logit.data)], [loss(logit)], 1e-6);
      close(
        inbatchAucLossGradient(label, logit.data, 3),
        numericGradient(logit, (x) => 3 * loss(x)),
        2e-3,
      );
    }),
    { numRuns: 50 },
  );
});

t.test('far apart logits keep the loss finite and the weight of negatives counts on them only', async (t) => {
  t.equal(inbatchAucLoss(f32([1, 0]), f32([-100, 100])), -200);
  t.equal(inbatchAucLoss(f32([1, 0]), f32([100, -100])), 0);
  t.same([...inbatchAucLossGradient(f32([1, 0]), f32([-100, 100]), 1, 0.25)], [1, -0.25]);
  t.throws(() => inbatchAucLoss(f32([1]), f32([])), { message: 'the label and logit not match' });
  t.throws(() => inbatchAucLoss(f32([]), f32([]), 0), { code: 'ML_OP' });
});

t.test('gradients of feature insight are adjoint, those of its aggregate numeric', async (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 }),
      fc.integer(),
      (sizes, seed) => {
        const width = sizes.reduce((a, b) => a + b, 0);
        const x = wholeTensor([3, width], seed);
        const w = wholeTensor([width, 2], seed + 1);
        const out = featureInsight(x, w, sizes);
        const grad = wholeTensor(out.shape, seed + 2);
        const { input, weight } = featureInsightGradient(grad, x, w, sizes);
        assert.equal(dot([out], [grad]), dot([x], [input]));
        assert.equal(dot([out], [grad]), dot([w], [weight]));
        const by = wholeTensor([3, sizes.length], seed + 3);
        const made = featureInsightAggregateGradient(by, x, w, sizes);
        close(
          made.input.data,
          numericGradient(x, (v) => dot([featureInsightAggregate(v, w, sizes)], [by])),
          1e-3,
        );
        close(
          made.weight.data,
          numericGradient(w, (v) => dot([featureInsightAggregate(x, v, sizes)], [by])),
          1e-3,
        );
      },
    ),
    { numRuns: 40 },
  );
  const x = wholeTensor([1, 2], 1);
  t.throws(() => featureInsight(x, wholeTensor([2, 1], 1), []), { code: 'ML_OP' });
  t.throws(() => featureInsight(x, wholeTensor([3, 1], 1), [2]), { code: 'ML_OP' });
});

t.test('products of fields: dot is multiply summed over the field, gradients are adjoint', async (t) => {
  const count = fc.integer({ min: 1, max: 3 });
  fc.assert(
    fc.property(count, count, count, fc.nat(3), fc.integer(), (lefts, rights, k, batch, seed) => {
      const left = wholeTensor([batch, lefts * k], seed);
      const right = wholeTensor([batch, rights * k], seed + 1);
      const product = ffm(left, right, k, 'multiply');
      const sums = ffm(left, right, k, 'dot');
      assert.deepEqual(sums.shape, [batch, lefts * rights]);
      sums.data.forEach((x, i) => {
        assert.equal(
          x,
          product.data.subarray(i * k, (i + 1) * k).reduce((a, b) => a + b, 0),
        );
      });
      for (const [type, out] of [
        ['multiply', product],
        ['dot', sums],
      ] as const) {
        const grad = wholeTensor(out.shape, seed + 2);
        const made = ffmGradient(grad, left, right, k, type);
        assert.equal(dot([out], [grad]), dot([left], [made.left]));
        assert.equal(dot([out], [grad]), dot([right], [made.right]));
      }
    }),
  );
  t.throws(() => ffm(wholeTensor([1, 3], 1), wholeTensor([1, 2], 1), 2), { code: 'ML_OP' });
});

t.test('clipping scales to the norm, or returns what it was given', async (t) => {
  fc.assert(
    fc.property(fc.integer(), fc.integer({ min: 1, max: 30 }), (seed, clipNorm) => {
      const list = [wholeTensor([5], seed), wholeTensor([2, 3], seed + 1)];
      const { clipped, globalNorm } = clipByGlobalNorm(list, clipNorm);
      close([globalNorm], [Math.sqrt(globalL2Reduce(list))], 1e-6);
      if (globalNorm <= clipNorm) assert.equal(clipped, list);
      else close([Math.sqrt(globalL2Reduce(clipped))], [clipNorm], 1e-6);
      assert.deepEqual(fusedClipByGlobalNorm(list, clipNorm), { clipped, globalNorm });
    }),
  );
  const nan = [Tensor.of('float32', [Number.NaN, 100])];
  t.equal(clipByGlobalNorm(nan, 1).clipped, nan, 'a NaN norm passes everything');
  const infinite = clipByGlobalNorm([Tensor.of('float32', [Number.POSITIVE_INFINITY, 1])], 1);
  t.same([...infinite.clipped[0]!.data], [Number.NaN, 0]);
  t.same(clipByGlobalNorm([Tensor.of('float32', [4])], 3, 6).clipped[0]!.toArray(), [2]);
  t.same(clipByGlobalNorm([], 1), { clipped: [], globalNorm: 0 });
  t.throws(() => clipByGlobalNorm(1 as unknown as [], 1), { message: 't_list should be a list' });
});
