import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { RaggedTensor } from '../../src/tensor/ragged-tensor.js';
import { type DType, type Nested, Tensor } from '../../src/tensor/tensor.js';
import {
  maybeSqueeze3dTensor,
  mergeDicts,
  packTensors,
  packTypedKeyedTensors,
  splitTensorsWithType,
  unpackPackedTensors,
  unpackTensors,
} from '../../src/tensor/tensor-utils.js';
import { parityCase } from '../parity-sparse.js';

type Dict = Record<string, Tensor>;
const dict = (values: Record<string, Nested>, dtype: DType): Dict =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, Tensor.of(dtype, value)]));
const shapes = (tensors: Dict) =>
  Object.fromEntries(Object.entries(tensors).map(([key, tensor]) => [key, tensor.shape]));
const arrays = (tensors: Dict) =>
  Object.fromEntries(Object.entries(tensors).map(([key, tensor]) => [key, tensor.toArray()]));

t.test('test_pack_tensors: packing and unpacking give the numbers of the reference', async (t) => {
  type Expected = { packed: number[]; sizes: number[] };
  const { input, expected } = parityCase<Record<string, Nested>, Expected>('tensor_utils', 'pack_unpack');
  const tensors = dict(input, 'float32');
  const packed = packTensors(tensors);
  t.same(packed.packed.toArray(), expected.packed);
  t.same(packed.sizes.toArray(), expected.sizes.map(BigInt));
  const unpacked = unpackTensors({ x: [null], y: [2, null] }, packed);
  t.same(arrays(unpacked), input);
  t.equal(unpacked.x!.data.buffer, packed.packed.data.buffer, 'unpacking gives views');
});

t.test('test_pack_typed_keyed_tensors: groups and sizes lie as in the reference', async (t) => {
  type Expected = { packed: number[][]; size_vector: number[] };
  const { input, expected } = parityCase<{ groups: Record<string, Nested>[] }, Expected>(
    'tensor_utils',
    'typed_pack_sizes',
  );
  const groups = [
    dict(input.groups[0]!, 'int64'),
    dict(input.groups[1]!, 'float64'),
    dict(input.groups[2]!, 'float32'),
  ];
  const list = packTypedKeyedTensors(groups);
  t.same(
    list.map((tensor) => (tensor.toArray() as (number | bigint)[]).map(Number)),
    [...expected.packed, expected.size_vector],
  );
  const unpacked = unpackPackedTensors(groups.map(shapes), list);
  t.same(unpacked.map(arrays), groups.map(arrays));
  t.throws(() => unpackPackedTensors([], [list[0]!]), { message: 'Wrong packed_list length' });
  t.throws(() => unpackPackedTensors([shapes(groups[2]!)], [list[2]!, list[2]!]), { code: 'ML_PACK' });
});

t.test('test_split_tensors_with_type_and_merge_dicts: groups come in the order of their dtype names', async (t) => {
  const { input, expected } = parityCase<Record<string, DType>, { groups: string[][] }>(
    'tensor_utils',
    'split_by_type_order',
  );
  const keys = Object.keys(input).reverse();
  const tensors = Object.fromEntries(keys.map((key) => [key, Tensor.of(input[key]!, [1])]));
  const groups = splitTensorsWithType(tensors);
  t.same(
    groups.map((group) => Object.keys(group)),
    expected.groups,
  );
  t.same(mergeDicts(groups), tensors);
});

t.test('test_maybe_squeeze_3d_tensor: a ragged tensor with one row per row is squeezed', async (t) => {
  const { input, expected } = parityCase<{ rows: number[][][] }, { rows: number[][] }>(
    'tensor_utils',
    'squeeze_3d_ragged',
  );
  t.same(maybeSqueeze3dTensor(RaggedTensor.fromRows('int32', input.rows)).toArray(), expected.rows);
  const flat = RaggedTensor.fromRows('int32', [[1], []]);
  t.equal(maybeSqueeze3dTensor(flat), flat);
  const unknown = { message: 'Unknown shape of RaggedTensor. ' };
  t.throws(() => maybeSqueeze3dTensor(Tensor.of('int32', [1])), { message: 'input must be RaggedTensor' });
  t.throws(() => maybeSqueeze3dTensor(RaggedTensor.fromRows('int32', [[[1], [2]]])), unknown);
  t.throws(() => maybeSqueeze3dTensor(RaggedTensor.fromRows('int32', [[[[1]]]])), unknown);
});

t.test('any dictionary survives grouping, packing, unpacking and merging', async () => {
  const tensor = fc
    .tuple(fc.constantFrom<DType>('float32', 'float64', 'int32', 'int64', 'bool'), fc.nat(3), fc.nat(3))
    .map(([dtype, rows, cols]) => {
      const values = Array.from({ length: rows }, (_, r) => Array.from({ length: cols }, (_, c) => (r + c) % 2));
      return Tensor.of(dtype, values);
    });
  fc.assert(
    fc.property(fc.dictionary(fc.string(), tensor, { minKeys: 1, noNullPrototype: true }), (tensors) => {
      const groups = splitTensorsWithType(tensors);
      const unpacked = unpackPackedTensors(groups.map(shapes), packTypedKeyedTensors(groups));
      assert.deepEqual(arrays(mergeDicts(unpacked)), arrays(tensors));
    }),
  );
});

t.test('what cannot be packed is said', async (t) => {
  t.throws(() => packTensors({}), { code: 'ML_PACK', message: /there are none/ });
  t.throws(() => packTensors({ a: Tensor.of('int32', [1]), b: Tensor.of('int64', [1]) }), {
    message: 'tensors cannot be packed: a is int32, but b is int64',
  });
  const packed = packTensors({ a: Tensor.of('int32', [1, 2]) });
  t.throws(() => unpackTensors({ a: [1], b: [1] }, packed), { code: 'ML_PACK' });
});
