import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { copyNested } from '../../src/tensor/copy-nested.js';
import { type LeafKinds, NestedTensors } from '../../src/tensor/nested.js';
import { RaggedTensor } from '../../src/tensor/ragged-tensor.js';
import { Tensor } from '../../src/tensor/tensor.js';
import { parityCase } from '../parity-sparse.js';

const one = () => Tensor.of('float32', 1);
const zero = () => Tensor.of('float32', 0);

t.test('testBasic: leaves are replaced and the input is left alone', async (t) => {
  const { expected } = parityCase<unknown, { result: unknown }>('nested_tensors', 'replace_leaves');
  const input = { a: one(), b: [one(), one()] };
  const nested = new NestedTensors(input);
  t.same(nested.getTensors(), [input.a, ...input.b]);
  const result = nested.getNestedResult(nested.getTensors().map(zero)) as { a: Tensor; b: Tensor[] };
  t.same({ a: result.a.toArray(), b: result.b.map((x) => x.toArray()) }, expected.result);
  t.ok(input.a instanceof Tensor, 'the input is not touched');
});

t.test('testConstant: constants alone give no tensors and come back', async (t) => {
  const { input, expected } = parityCase<{ nested: unknown }, { tensors: unknown[]; result: unknown }>(
    'nested_tensors',
    'constants_only',
  );
  const nested = new NestedTensors(input.nested);
  t.same(nested.getTensors(), expected.tensors);
  t.same(nested.getNestedResult([]), expected.result);
});

t.test('testRaggedTensor: a ragged leaf travels as values and row splits', async (t) => {
  type Expected = { flat: { values: number[]; row_splits: number[] }; result: number[][] };
  const { input, expected } = parityCase<{ rows: number[][] }, Expected>('nested_tensors', 'ragged_roundtrip');
  const nested = new NestedTensors(RaggedTensor.fromRows('int32', input.rows));
  const flat = nested.getTensors();
  t.same(flat[0]!.toArray(), expected.flat.values);
  t.same(flat[1]!.toArray(), expected.flat.row_splits.map(BigInt));
  t.same((nested.getNestedResult(flat) as RaggedTensor).toArray(), expected.result);
});

t.test('dense leaves come first, the same object counts once, null stays', async (t) => {
  const x = one();
  const y = zero();
  const ragged = RaggedTensor.fromRows('int32', [[1]]);
  const input = { r: ragged, list: [x, null, 'name', [y, x, true]], again: ragged, none: undefined, n: 3n };
  const nested = new NestedTensors(input);
  t.same(nested.getTensors(), [x, y, ragged.values, ragged.rowSplits]);
  const result = nested.getNestedResult(nested.getTensors()) as typeof input;
  t.same(result, input);
  t.equal(result.r, result.again, 'what was one object is one object again');
  t.not(result.list, input.list);
});

t.test('testRaggedTensorWithPlaceHolder: anything can take the place of the tensors', async (t) => {
  const nested = new NestedTensors({ r: RaggedTensor.fromRows('int32', [[], [1], [2, 3]]), x: one() });
  const names = nested.getTensors().map((tensor, i) => `placeholder ${i} of ${tensor.dtype}`);
  const result = nested.mapResult(names, (values, rowSplits) => ({ values, rowSplits }));
  const ragged = { values: 'placeholder 1 of int32', rowSplits: 'placeholder 2 of int64' };
  t.same(result, { r: ragged, x: 'placeholder 0 of float32' });
  t.throws(() => nested.mapResult(names.slice(1), () => null), { code: 'ML_NESTED_COUNT' });
});

t.test('tuples are frozen lists, and what is frozen can be walked', async (t) => {
  const tuple = Object.freeze([one(), Object.freeze({ a: one() })]);
  const nested = new NestedTensors(Object.freeze({ tuple, list: [one()] }));
  const result = nested.getNestedResult(nested.getTensors()) as { tuple: unknown[]; list: unknown[] };
  t.ok(Object.isFrozen(result.tuple));
  t.notOk(Object.isFrozen(result.list));
  t.same(result, { tuple, list: [one()] });
  const alone = new NestedTensors(tuple[0]);
  t.equal(alone.getNestedResult(alone.getTensors()), tuple[0], 'a leaf is a structure too');
});

t.test('a structure inside itself is refused, the same list in two places is not', async (t) => {
  const inside: unknown[] = [one()];
  const twice = new NestedTensors([inside, { again: inside }]);
  t.same(twice.getNestedResult(twice.getTensors()), [inside, { again: inside }]);
  inside.push({ inside });
  t.throws(() => new NestedTensors(inside), { code: 'ML_NESTED_LEAF' });
});

t.test('keys keep their order and may have any name', async (t) => {
  const input = JSON.parse('{"b": 1, "__proto__": 2, "a": 3}') as object;
  const result = new NestedTensors(input).getNestedResult([]) as object;
  t.same(Object.entries(result), [
    ['b', 1],
    ['__proto__', 2],
    ['a', 3],
  ]);
});

t.test('a copy has tensors of its own and keeps what is no tensor', async (t) => {
  const x = Tensor.of('float32', [1, 2]);
  const ragged = RaggedTensor.fromRows('int64', [[5], []]);
  const input = { x, again: [x, 'name', null], ragged };
  const copied = copyNested(input);
  t.same(copied, input);
  t.not(copied.x, x);
  t.equal(copied.again[0], copied.x, 'one tensor is copied once');
  x.data[0] = 7;
  (ragged.values as Tensor<'int64'>).data[0] = 7n;
  t.same(copied.x.toArray(), [1, 2]);
  t.same(copied.ragged.toArray(), [[5n], []]);
});

t.test('what is no leaf is refused in the words of the reference', async (t) => {
  const deep = RaggedTensor.fromRows('int32', [[[1]]]);
  t.throws(() => new NestedTensors([deep]), { message: "Nested tensor doesn't support nested RaggedTensor." });
  t.throws(() => new NestedTensors({ a: 1.5 }), { message: 'Tensor is not supported. 1.5' });
  t.throws(() => new NestedTensors([new Map()]), { message: 'Tensor is not supported. Map(0) {}' });
  t.throws(() => new NestedTensors([one()]).getNestedResult([]), {
    message: 'nested result needs 1 tensors, got 0',
  });
});

t.test('symbolic tensors and variables walk through with their own rules', async (t) => {
  class Symbol1 {
    readonly name: string;
    constructor(name: string) {
      this.name = name;
    }
  }
  class Variable {}
  const kinds: LeafKinds<Symbol1, never> = {
    isTensor: (leaf): leaf is Symbol1 => leaf instanceof Symbol1,
    isRagged: (leaf): leaf is never => false,
    isVariable: (leaf) => leaf instanceof Variable,
    raggedRank: () => 1,
    flatten: (ragged) => ragged,
    unflatten: (values) => values as never,
  };
  const variable = new Variable();
  const nested = new NestedTensors<Symbol1, never>({ a: new Symbol1('a'), v: variable }, kinds);
  const result = nested.getNestedResult([new Symbol1('b')]) as { a: Symbol1; v: Variable };
  t.equal(result.a.name, 'b');
  t.equal(result.v, variable);
});

t.test('any structure is rebuilt as it was', async () => {
  const { nested } = fc.letrec<{ nested: unknown }>((tie) => ({
    nested: fc.oneof(
      { maxDepth: 4 },
      fc.constant(null).map(() => one()),
      fc.constantFrom(null, true, 5, 'text'),
      fc.constant(null).map(() => RaggedTensor.fromRows('int32', [[1], []])),
      fc.array(tie('nested'), { maxLength: 4 }),
      fc.dictionary(fc.string(), tie('nested'), { maxKeys: 4, noNullPrototype: true }),
    ),
  }));
  fc.assert(
    fc.property(nested, (value) => {
      const walk = new NestedTensors(value);
      assert.deepEqual(plain(walk.getNestedResult(walk.getTensors())), plain(value));
    }),
  );
});

/** Structure with tensors as lists, for comparison. */
function plain(value: unknown): unknown {
  if (value instanceof Tensor || value instanceof RaggedTensor) return { tensor: value.toArray() };
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value).map(([key, item]) => [key, plain(item)]);
}
