import t from 'tap';
import { type DType, Tensor } from '../../src/tensor/tensor.js';

t.test('nested lists become a shape and flat data, and come back', async (t) => {
  const x = Tensor.of('float32', [
    [1, 2, 3],
    [4, 5, 6],
  ]);
  t.same(x.shape, [2, 3]);
  t.equal(x.size, 6);
  t.equal(x.rank, 2);
  t.same(x.toArray(), [
    [1, 2, 3],
    [4, 5, 6],
  ]);
  t.equal(Tensor.of('int64', 7).toArray(), 7n);
  t.same(Tensor.of('int64', 7).shape, []);
  t.same(Tensor.of('bool', [true, false]).toArray(), [true, false]);
  t.same(Tensor.of('int32', []).shape, [0]);
  t.same(new Tensor('uint8', [2, 0], new Uint8Array(0)).toArray(), [[], []]);
});

t.test('a reshaped tensor shares the data', async (t) => {
  const x = Tensor.of('int32', [1, 2, 3, 4]);
  t.equal(x.reshape([2, 2]).data, x.data);
});

t.test('a tensor that contradicts itself is refused with its reason', async (t) => {
  const code = { code: 'ML_TENSOR' };
  t.throws(() => Tensor.of('float32', [[1], [2, 3]]), { ...code, message: /differ in length/ });
  t.throws(() => Tensor.of('float32', [1, [2]]), code);
  t.throws(() => Tensor.of('float32', [[1], 2]), code);
  t.throws(() => new Tensor('int32', [3], new Int32Array(2)), { ...code, message: /has 2 values/ });
  t.throws(() => new Tensor('int32', [-1], new Int32Array(2)), { ...code, message: /not a whole number/ });
  t.throws(() => new Tensor('int32', [2], new Float32Array(2) as never), { ...code, message: /Int32Array/ });
  t.throws(() => new Tensor('half' as DType, [2], new Float32Array(2)), { ...code, message: /dtype is unknown/ });
});
