import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { allocateData, type DType, Tensor } from '../../src/tensor/tensor.js';
import { TensorPacking } from '../../src/tensor/tensor-packing.js';

const arrays = (tensors: Readonly<Record<string, Tensor>>) =>
  Object.fromEntries(Object.entries(tensors).map(([key, tensor]) => [key, tensor.toArray()]));

t.test('test_pack_typed_keyed_tensors_with_placeholder: sizes are known when the values come', async (t) => {
  const packing = new TensorPacking({
    ids: { dtype: 'int64', shape: [null] },
    y: { dtype: 'float32', shape: [2, null] },
    x: { dtype: 'float32', shape: [-1] },
    flags: { dtype: 'int32', shape: [2, 1] },
  });
  for (const count of [3, 0, 1]) {
    const list = Array.from({ length: count }, (_, i) => i);
    const feeds = {
      x: Tensor.of('float32', list),
      y: Tensor.of('float32', [list, list]),
      ids: Tensor.of('int64', list),
      flags: Tensor.of('int32', [[1], [2]]),
    };
    const packed = packing.pack(feeds);
    t.same(
      packed.map(({ dtype }) => dtype),
      ['float32', 'int32', 'int64', 'int64'],
    );
    t.same(packed.at(-1)!.toArray(), [2, 1, 1, count, 2 * count, 2, count].map(BigInt));
    t.same(arrays(packing.unpack(packed)), arrays(feeds));
  }
});

t.test('what does not fit its placeholder is refused', async (t) => {
  const packing = new TensorPacking({ x: { dtype: 'float32', shape: [null, 2] } });
  const refuse = (feeds: Record<string, Tensor>, reason: string) =>
    t.throws(() => packing.pack(feeds), { code: 'ML_PACK', message: `tensors cannot be packed: ${reason}` });
  refuse({}, 'x is missing, and its placeholder float32 [?,2]');
  refuse({ x: Tensor.of('int32', [[1, 2]]) }, 'x is int32 [1,2], and its placeholder float32 [?,2]');
  refuse({ x: Tensor.of('float32', [1, 2]) }, 'x is float32 [2], and its placeholder float32 [?,2]');
  refuse({ x: Tensor.of('float32', [[1, 2, 3]]) }, 'x is float32 [1,3], and its placeholder float32 [?,2]');
  refuse({ x: Tensor.of('float32', [[1, 2]]), z: Tensor.of('int32', [1]) }, 'there is no placeholder z');
  t.throws(() => new TensorPacking({}), { code: 'ML_PACK' });
  t.throws(() => new TensorPacking({ x: { dtype: 'int32', shape: [null, null] } }), { code: 'ML_RESHAPE_UNKNOWN' });
  t.throws(() => new TensorPacking({ x: { dtype: 'int32', shape: null } }), { code: 'ML_RESHAPE_RANK' });
});

t.test('any values come back from any placeholders', async () => {
  const entry = fc.record({
    dtype: fc.constantFrom<DType>('float32', 'float64', 'int32', 'int64', 'bool'),
    shape: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 3 }),
    unknown: fc.nat(3),
    size: fc.nat(4),
  });
  fc.assert(
    fc.property(fc.dictionary(fc.string(), entry, { minKeys: 1, noNullPrototype: true }), (entries) => {
      const list = Object.entries(entries);
      const placeholders = list.map(([key, { dtype, shape, unknown }]) => {
        const partial = shape.map((dim, i) => (i === unknown ? null : dim));
        return [key, { dtype, shape: partial }] as const;
      });
      const feeds = list.map(([key, { dtype, shape, unknown, size }]) => {
        const dims = shape.map((dim, i) => (i === unknown ? size : dim));
        const data = allocateData<DType>(
          dtype,
          dims.reduce((product, dim) => product * dim, 1),
        );
        for (let i = 0; i < data.length; i++) data[i] = typeof data[i] === 'bigint' ? BigInt(i) : i % 2;
        return [key, new Tensor<DType>(dtype, dims, data)] as const;
      });
      const packing = new TensorPacking(Object.fromEntries(placeholders));
      const given = Object.fromEntries(feeds);
      assert.deepEqual(arrays(packing.unpack(packing.pack(given))), arrays(given));
    }),
  );
});
