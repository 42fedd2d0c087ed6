/** @file Cases of compressors, quantizers, retrievers, initializers and the small parts below a table. */
import { Arena } from '../../../src/memory/arena.js';
import type { FloatCompressorMessage } from '../../../src/sparse/config/config-messages.js';
import { planInitializer, StreamInitializer } from '../../../src/sparse/config/initializers.js';
import { hashNetRetriever } from '../../../src/sparse/config/retriever.js';
import { almostEqual, l2NormSquare } from '../../../src/sparse/table/linalg.js';
import { KernelHarness } from '../../kernels/harness.js';
import { BlockAllocator } from '../../support/block-allocator.js';
import { InlineEntry, packEntryAddress } from '../../support/entry-defs.js';
import { combineCompressors, makeCompressor } from '../../support/float-compressor.js';
import {
  type Fields,
  fieldsOf,
  isRecord,
  listOf,
  ORDINALS,
  type ParityCase,
  type ParityHandlers,
  recordsOf,
  UnknownForm,
} from '../case.js';
import { Series } from '../derived.js';
import { STEP_FIELDS, stepsOf } from '../steps.js';
import { f32 } from '../values.js';

const h = await KernelHarness.create(4 << 20);
const memory = { kernels: h.wasm, bytes: h.views.u8 };

function compressorConfig(type: string, given: Fields): FloatCompressorMessage {
  switch (type) {
    case 'fp32':
      return { fp32: {} };
    case 'fp16':
      return { fp16: {} };
    case 'fixed_r8':
      return { fixedR8: given.r === undefined ? {} : { r: given.r as number } };
    case 'one_bit':
      return {
        oneBit: {
          ...(given.step_size === undefined ? {} : { stepSize: given.step_size as number }),
          ...(given.amplitude === undefined ? {} : { amplitude: given.amplitude as number }),
          ...(given.init_scale === undefined ? {} : { initScale: given.init_scale as number }),
          ...(given.max_scale === undefined ? {} : { maxScale: given.max_scale as number }),
        },
      };
    default:
      throw new UnknownForm(`compressor ${type}`);
  }
}

/** `type` is a name beside the fields, or `{ name: { fields } }`. */
function oneCompressor(given: Fields): FloatCompressorMessage {
  if (!isRecord(given.type)) return compressorConfig(given.type as string, given);
  const [type, fields] = Object.entries(given.type)[0] ?? [];
  if (type === undefined) throw new UnknownForm('no compressor');
  const known = ['r', 'step_size', 'amplitude', 'init_scale', 'max_scale'];
  return compressorConfig(type, isRecord(fields) ? fieldsOf(fields, [], known) : { r: fields });
}

function floatCompressor({ input }: ParityCase) {
  const optional = ['type', 'types', 'r', 'step_size', 'amplitude', 'init_scale', 'max_scale'];
  const given = fieldsOf(input, ['values'], optional);
  const values = f32(given.values).data;
  const parts =
    given.types === undefined
      ? [makeCompressor(oneCompressor(given), values.length, memory)]
      : (given.types as Record<string, number>[]).map((one) => {
          const [type, dim] = Object.entries(one)[0]!;
          return makeCompressor(compressorConfig(type, {}), dim, memory);
        });
  const whole = combineCompressors(parts);
  const [src, bytes, out] = [h.putF32(values), h.alloc(whole.sizeBytes), h.alloc(whole.dim * 4)];
  whole.encode(src, bytes);
  whole.decode(bytes, out);
  return { decoded: h.f32(out, whole.dim), size_bytes: whole.sizeBytes };
}

function fakeQuantizer({ input }: ParityCase) {
  const { r, inputs } = fieldsOf(input, ['r', 'inputs']);
  const values = f32(listOf(inputs)).data;
  const at = h.putF32(values);
  h.wasm.quantizeFixedR8F32(at, at, values.length, r as number);
  return { quantized: h.f32(at, values.length) };
}

interface Backward {
  readonly num: number;
  readonly grad: number;
  readonly global_step: number;
}

/** Forward of the inputs, or backward calls in order and the forward of 2 at the end. */
function hashNet({ input }: ParityCase) {
  const optional = ['init_scale', 'max_scale', 'inputs', 'sequence', 'num', ...STEP_FIELDS];
  const given = fieldsOf(input, ['step_size', 'amplitude'], optional);
  const scaleAt = h.alloc(4);
  const options = {
    stepSize: given.step_size as number,
    amplitude: given.amplitude as number,
    initScale: (given.init_scale ?? 1) as number,
    maxScale: (given.max_scale ?? 10000) as number,
  };
  const retriever = hashNetRetriever(options, 1, { kernels: h.wasm, views: h.views, scaleAt });
  const [w, g] = [h.alloc(4), h.alloc(4)];
  const scale = () => h.f32(scaleAt, 1)[0];
  const forward = (x: number) => {
    h.views.f32[w / 4] = x;
    retriever.retrieve(w, g);
    return h.f32(g, 1)[0];
  };
  const backward = ({ num, grad, global_step }: Backward) => {
    h.views.f32[w / 4] = num;
    h.views.f32[g / 4] = grad;
    retriever.backward(w, g, BigInt(global_step));
    return h.f32(g, 1)[0];
  };
  if (given.inputs !== undefined) return { forward: listOf<number>(given.inputs).map(forward), scale: scale() };
  if (given.sequence !== undefined) {
    const calls = recordsOf<Backward>(given.sequence, ['num', 'grad', 'global_step']);
    const steps = calls.map((call) => ({ grad: backward(call), scale: scale() }));
    return {
      grads: steps.map(({ grad }) => grad),
      scales: new Series(steps.map((step) => step.scale)),
      scale_end: scale(),
      forward_2_end: forward(2),
    };
  }
  const steps = stepsOf(given, 1);
  const grads = steps.map(({ grad, globalStep }) =>
    backward({ num: listOf<number>(given.num)[0]!, grad: grad[0]!, global_step: globalStep }),
  );
  return { grad: new Series(grads), scale: scale(), forward: forward(listOf<number>(given.num)[0]!) };
}

function initializer({ input, expected }: ParityCase) {
  const given = fieldsOf(input, ['minval', 'maxval'], ['engine', 'seed', 'count', 'dim', 'type']);
  const { type = 'random_uniform' } = given;
  if (type !== 'random_uniform' && type !== 'uniform') throw new UnknownForm(`initializer ${type}`);
  if (given.engine !== undefined && given.engine !== 'mt19937') throw new UnknownForm(`engine ${given.engine}`);
  const count = (given.count ?? given.dim) as number;
  const [minval, maxval] = [given.minval as number, given.maxval as number];
  const values = new Float32Array(count);
  const stream = new StreamInitializer((given.seed ?? 5489) as number);
  stream.fill(planInitializer({ randomUniform: { minval, maxval } }), values);
  if ('values' in (expected as Fields)) return { values };
  const bounds = fieldsOf(expected, ['max_greater_than', 'min_less_than']);
  if (!(Math.max(...values) > (bounds.max_greater_than as number))) throw new Error('the largest value is too small');
  if (!(Math.min(...values) < (bounds.min_less_than as number))) throw new Error('the smallest value is too large');
  return undefined;
}

function blockAllocator({ input }: ParityCase) {
  const { allocs, start_block = 1024, align = 8 } = fieldsOf(input, ['allocs'], ['start_block', 'align']);
  if (start_block !== 1024 || align !== 8) throw new UnknownForm('other blocks');
  const allocator = new BlockAllocator(new Arena('blocks', 0, 1 << 24));
  const steps = listOf<number>(allocs).map((bytes) => ({
    at: allocator.allocate(bytes),
    total: allocator.allocatedBytes,
  }));
  allocator.deallocateAll();
  return {
    allocated: steps.map(({ total }) => total),
    offsets: steps.map(({ at }) => at - steps[0]!.at),
    second_minus_first: steps.length < 2 ? undefined : steps[1]!.at - steps[0]!.at,
    ...Object.fromEntries(steps.map(({ total }, i) => [`allocated_after_${ORDINALS[i]}`, total])),
    after_deallocate_all: allocator.allocatedBytes,
  };
}

function entryDefs({ input }: ParityCase) {
  const given = fieldsOf(input, [], ['length', 'float0', 'timestamp', 'shard_id', 'block_id', 'entry_id']);
  if (given.shard_id !== undefined) {
    const [shardId, blockId, entryId] = [given.shard_id, given.block_id, given.entry_id] as [number, number, number];
    return { u32: packEntryAddress({ shardId, blockId, entryId }) };
  }
  const entry = new InlineEntry(given.length as number);
  entry.timestampSec = given.timestamp as number;
  entry.floats[0] = given.float0 as number;
  return { capacity: entry.capacity, timestamp: entry.timestampSec, float0: entry.floats[0] };
}

function linalg({ input }: ParityCase) {
  const given = fieldsOf(input, [], ['almost_equal', 'l2_norm_square']);
  const pairs = (given.almost_equal ?? []) as [number, number][];
  const vectors = (given.l2_norm_square ?? []) as number[] | number[][];
  const lists = (Array.isArray(vectors[0]) || vectors.length === 0 ? vectors : [vectors]) as number[][];
  return { almost_equal: pairs.map(([a, b]) => almostEqual(a, b)), l2_norm_square: lists.map(l2NormSquare) };
}

const scoped = (handler: (parity: ParityCase) => unknown) => (parity: ParityCase) => h.scope(() => handler(parity));

export const handlers: ParityHandlers = {
  float_compressor: scoped(floatCompressor),
  fake_quantizer: scoped(fakeQuantizer),
  hash_net_quantizer: scoped(hashNet),
  hash_net_retriever: scoped(hashNet),
  initializer,
  block_allocator: blockAllocator,
  entry_defs: entryDefs,
  linalg,
};
