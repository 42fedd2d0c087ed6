/** @file Cases of shapes, ragged tensors and nested structures (src/tensor) and of shard file names. */
import { validateShardedFiles } from '../../../src/io/shard-files.js';
import { NestedTensors } from '../../../src/tensor/nested.js';
import { RaggedTensor } from '../../../src/tensor/ragged-tensor.js';
import { fusedValueRowids, normalizeMergedSplit } from '../../../src/tensor/ragged-utils.js';
import { type PartialShape, StaticReshapeNBuilder, staticReshape } from '../../../src/tensor/static-reshape.js';
import { allocateData, type DType, type Nested, sizeOfShape, Tensor } from '../../../src/tensor/tensor.js';
import {
  maybeSqueeze3dTensor,
  mergeDicts,
  packTensors,
  packTypedKeyedTensors,
  splitTensorsWithType,
  unpackPackedTensors,
  unpackTensors,
} from '../../../src/tensor/tensor-utils.js';
import { fieldsOf, isRecord, orError, type ParityCase, type ParityHandlers, UnknownForm } from '../case.js';
import { f32, i64, ids, ragged } from '../values.js';

type Dict = Record<string, unknown>;

const zeros = (dtype: DType, shape: readonly number[]) =>
  new Tensor(dtype, shape, allocateData(dtype, sizeOfShape(shape)));
const mapValues = <T, U>(dict: Record<string, T>, make: (value: T) => U): Record<string, U> =>
  Object.fromEntries(Object.entries(dict).map(([key, value]) => [key, make(value)]));

function reshape({ input }: ParityCase) {
  const given = fieldsOf(input, [], ['input_shapes', 'targets', 'values', 'target']);
  if (given.values === undefined) {
    const inputs = (given.input_shapes as number[][]).map((shape) => zeros('float32', shape));
    return orError(() => {
      const { outputs, sizes } = staticReshape(inputs, given.targets as PartialShape[]);
      return { sizes, output_shapes: outputs.map((output) => output.shape) };
    });
  }
  if (Array.isArray((given.values as unknown[])[0])) {
    const made = staticReshape((given.values as unknown[]).map(f32), given.targets as PartialShape[]);
    return { outputs: made.outputs, sizes: made.sizes, output_shapes: made.outputs.map((output) => output.shape) };
  }
  const builder = new StaticReshapeNBuilder();
  const places = (given.values as Dict[]).map((dict) =>
    mapValues(dict, (value) => builder.add(f32(value), given.target as PartialShape)),
  );
  const { outputs, sizes } = builder.build();
  return { flat: places.map((dict) => mapValues(dict, (index) => outputs[index]!)), sizes };
}

function rowIds({ input }: ParityCase) {
  const splits = i64(fieldsOf(input, ['row_splits']).row_splits);
  const rt = RaggedTensor.fromRowSplits(zeros('float32', [Number(splits.data.at(-1))]), splits);
  const rowids = fusedValueRowids(rt);
  return { rowids, second_call_returns_same_object: fusedValueRowids(rt) === rowids };
}

function mergedSplit({ input }: ParityCase) {
  const given = fieldsOf(input, ['row_split', 'row_split_size']);
  return { normed: normalizeMergedSplit(ids(given.row_split), given.row_split_size as number[]) };
}

function tensorUtils({ input }: ParityCase) {
  const { tensors: named, ...flat } = input as Dict;
  const given = isRecord(named) && Object.keys(flat).length === 0 ? named : (input as Dict);
  if ('rows' in given) return { rows: maybeSqueeze3dTensor(ragged('int64', given.rows)) };
  if ('groups' in given) return typedPack(given.groups as Dict[]);
  const values = Object.values(given);
  if (values.every((value) => typeof value === 'string')) {
    const groups = splitTensorsWithType(mapValues(given as Record<string, DType>, (dtype) => zeros(dtype, [1])));
    if (Object.keys(mergeDicts(groups)).length !== values.length) throw new Error('merging loses tensors');
    return { groups: groups.map((group) => Object.keys(group)) };
  }
  if (!values.every(Array.isArray)) throw new UnknownForm('neither tensors nor dtypes');
  const tensors = mapValues(given, f32);
  const packed = packTensors(tensors);
  return { ...packed, roundtrip: sameTensors(tensors, unpackTensors(shapesOf(tensors), packed)) };
}

const shapesOf = (tensors: Record<string, Tensor>) => mapValues(tensors, (tensor) => tensor.shape);
const sameTensors = (a: Record<string, Tensor>, b: Record<string, Tensor>) =>
  Object.keys(a).every((key) => String(a[key]!.toArray()) === String(b[key]!.toArray()));

function typedPack(groups: readonly Dict[]) {
  const tensors = groups.map((group) => mapValues(group, (value) => Tensor.of('float64', value as Nested)));
  const packed = packTypedKeyedTensors(tensors);
  const back = unpackPackedTensors(tensors.map(shapesOf), packed);
  return {
    packed: packed.slice(0, -1),
    size_vector: packed.at(-1),
    roundtrip: tensors.every((group, g) => sameTensors(group, back[g]!)),
  };
}

function nested({ input }: ParityCase) {
  const given = fieldsOf(input, [], ['nested', 'replacement', 'rows']);
  if (given.rows !== undefined) {
    const structure = new NestedTensors(ragged('int64', given.rows));
    const [values, splits] = structure.getTensors();
    return { flat: { values, row_splits: splits }, result: structure.getNestedResult([values!, splits!]) };
  }
  const replaces = given.replacement !== undefined;
  const structure = new NestedTensors(replaces ? asTensors(given.nested) : given.nested);
  const tensors = structure.getTensors();
  const made = tensors.map(() => Tensor.of('float32', given.replacement as number));
  return { tensors, result: structure.getNestedResult(made) };
}

/** Numbers as scalar tensors. */
function asTensors(value: unknown): unknown {
  if (typeof value === 'number') return Tensor.of('float32', value);
  if (Array.isArray(value)) return value.map(asTensors);
  return mapValues(value as Dict, asTensors);
}

function shardedFiles({ input }: ParityCase) {
  const given = fieldsOf(input, [], ['cases', 'basename', 'files']);
  const cases = (given.cases ?? [[given.basename, given.files]]) as [string, string[]][];
  const counts = cases.map(([base, names]) => orError(() => validateShardedFiles(base, names).length));
  return { nshards: counts, ok: counts.map((count) => typeof count === 'number') };
}

export const handlers: ParityHandlers = {
  static_reshape_n: reshape,
  fused_value_rowids: rowIds,
  normalize_merged_split: mergedSplit,
  tensor_utils: tensorUtils,
  nested_tensors: nested,
  sharded_files: shardedFiles,
};
