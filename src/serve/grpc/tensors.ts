/**
 * @file Tensors of requests as values with a shape, and values of answers as tensors. What a tensor says about its own
 * size is held to a limit before memory is taken.
 */
import { refusal } from '../online/refusal.js';
import { DTYPE, type TensorProto } from '../saved-model/messages.js';

type Values = ArrayLike<number | bigint | string | boolean | Uint8Array>;

export interface GivenTensor {
  readonly sizes: readonly number[];
  readonly values: Values;
}

interface DtypeRule {
  /** The list that values of this type come in. */
  listOf(tensor: TensorProto): Values | undefined;
  /** The values of bytes that hold them one after the other; they may stand at any byte. */
  readonly ofBytes?: (bytes: ArrayBuffer) => Values;
  readonly bytes?: number;
}

const RULES: Readonly<Record<number, DtypeRule>> = {
  [DTYPE.FLOAT]: { listOf: ({ floatVal }) => floatVal, ofBytes: (bytes) => new Float32Array(bytes), bytes: 4 },
  [DTYPE.DOUBLE]: { listOf: ({ doubleVal }) => doubleVal, ofBytes: (bytes) => new Float64Array(bytes), bytes: 8 },
  [DTYPE.INT32]: { listOf: ({ intVal }) => intVal, ofBytes: (bytes) => new Int32Array(bytes), bytes: 4 },
  [DTYPE.INT64]: { listOf: ({ int64Val }) => int64Val, ofBytes: (bytes) => new BigInt64Array(bytes), bytes: 8 },
  [DTYPE.BOOL]: { listOf: ({ boolVal }) => boolVal, ofBytes: (bytes) => new Uint8Array(bytes), bytes: 1 },
  [DTYPE.STRING]: { listOf: ({ stringVal }) => stringVal },
};
const NAMES = Object.keys(DTYPE)
  .map((name) => `DT_${name}`)
  .join(', ');

/** The values of a tensor; 400 with its name for one that is none, or that has more than `most`. */
export function readTensor(name: string, tensor: TensorProto, most: number): GivenTensor {
  const rule = RULES[tensor.dtype];
  if (rule === undefined)
    throw refusal(400, `${name}: dtype ${tensor.dtype} is not taken`, { hint: `there are ${NAMES}` });
  const { tensorShape, tensorContent } = tensor;
  const sizes = (tensorShape?.dim ?? []).map(({ size }) => Number(size));
  if (tensorShape?.unknownRank === true || sizes.some((size) => size < 0)) {
    throw refusal(400, `${name}: the shape is not known`);
  }
  const count = sizes.reduce((product, size) => product * size, 1);
  // Of many large sizes and a zero the product is no number.
  if (!(count <= most))
    throw refusal(400, `${name}: ${count} values are more than ${most}`, { hint: 'ask several times' });
  const { ofBytes, bytes = 0 } = rule;
  if (tensorContent !== undefined && tensorContent.length > 0 && ofBytes !== undefined) {
    if (tensorContent.length !== count * bytes) {
      throw refusal(400, `${name}: ${tensorContent.length} bytes are not ${count} values of ${bytes}`);
    }
    return { sizes, values: ofBytes(new Uint8Array(tensorContent).buffer) };
  }
  return { sizes, values: filled(name, rule.listOf(tensor) ?? [], count) };
}

/** As many values as the shape says: where there are fewer, the last stands for the rest, as TensorFlow has it. */
function filled(name: string, values: Values, count: number): Values {
  if (values.length === count) return values;
  if (values.length === 0 || values.length > count) {
    throw refusal(400, `${name}: ${values.length} values do not fill a shape of ${count}`);
  }
  const last = values[values.length - 1]!;
  return Array.from({ length: count }, (_, at) => values[at] ?? last);
}

/** The values of a head: as many rows as were asked about, and its width where that is not one. */
export const floatTensor = (values: Float32Array, rows: number, width: number): TensorProto => ({
  dtype: DTYPE.FLOAT,
  tensorShape: { dim: (width === 1 ? [rows] : [rows, width]).map((size) => ({ size: BigInt(size) })) },
  floatVal: values,
});
