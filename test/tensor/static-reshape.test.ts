import t from 'tap';
import { type PartialShape, StaticReshapeNBuilder, staticReshape } from '../../src/tensor/static-reshape.js';
import { allocateData, type Nested, sizeOfShape, Tensor } from '../../src/tensor/tensor.js';
import { parityCase } from '../parity-sparse.js';

const zeros = (shape: readonly number[]) => new Tensor('float32', shape, allocateData('float32', sizeOfShape(shape)));

t.test('test_static_reshape_n: sizes and shapes are those of the reference', async (t) => {
  type Input = { input_shapes: number[][]; targets: (number | null)[][] };
  type Expected = { sizes: number[]; output_shapes: number[][] };
  const { input, expected } = parityCase<Input, Expected>('static_reshape_n', 'sizes_and_shapes');
  const inputs = input.input_shapes.map(zeros);
  const { outputs, sizes } = staticReshape(inputs, input.targets);
  t.same(sizes.toArray(), expected.sizes.map(BigInt));
  t.same(
    outputs.map((output) => output.shape),
    expected.output_shapes,
  );
  t.ok(
    outputs.every((output, i) => output.data === inputs[i]!.data),
    'nothing is copied',
  );
});

t.test('test_nested_reshape_n: a nested structure is flattened through the builder', async (t) => {
  type Values = Record<string, Nested>[];
  type Input = { values: Values; target: PartialShape };
  const { input, expected } = parityCase<Input, { flat: Values; sizes: number[] }>(
    'static_reshape_n',
    'nested_flatten',
  );
  const builder = new StaticReshapeNBuilder();
  const indexes = input.values.map((dict) =>
    Object.entries(dict).map(([key, value]) => [key, builder.add(Tensor.of('int32', value), input.target)] as const),
  );
  const { outputs, sizes } = builder.build();
  const flat = indexes.map((dict) => Object.fromEntries(dict.map(([key, i]) => [key, outputs[i]!.toArray()])));
  t.same(flat, expected.flat);
  t.same(sizes.toArray(), expected.sizes.map(BigInt));
});

t.test('an unknown dimension beside a zero is zero', async (t) => {
  t.same(staticReshape([zeros([0, 4])], [[null, 0]]).outputs[0]!.shape, [0, 0]);
  t.same(staticReshape([zeros([0])], [[-1, 3]]).outputs[0]!.shape, [0, 3]);
});

t.test('shapes that do not fit are refused in the words of the reference', async (t) => {
  const reshape = (shape: readonly number[], target: PartialShape) => () =>
    staticReshape([zeros([1]), zeros(shape)], [[1], target]);
  t.throws(() => staticReshape([zeros([1])], []), {
    message: '`shapes` size must equal to `inputs`, got shapes (0) vs `inputs` (1)',
  });
  t.throws(reshape([4], null), { message: 'Shape cannot be unknown rank for input [1]!' });
  t.throws(reshape([1], []), { message: 'Shape cannot be unknown rank for input [1]!' });
  t.throws(reshape([8], [null, 2, null]), {
    message: 'Only one input size may be -1, not both 0 and 2for input [1]!',
  });
  t.throws(reshape([7], [null, 2]), { message: 'Input[1] of size 7 cannot be reshaped as [?,2]' });
  t.throws(reshape([6], [2, 2]), {
    message: 'Input[1] to reshape is a tensor with 6 values, but the requested shape has 4',
  });
  t.throws(reshape([6], [null, 0]), {
    message: 'Input[1] to reshape is a tensor with 6 values, but the requested shape has 0',
  });
});
