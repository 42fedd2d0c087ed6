/** @file Cases of the wire messages of src/io: bytes of examples, configs, line ids and instances. */
import {
  EXAMPLE_BATCH,
  FEATURE_CONFIG,
  FEATURE_LIST_TYPE,
  OUT_CONFIG,
  OUT_TYPE,
  POOLING_TYPE,
} from '../../../src/io/example-messages.js';
import { INSTANCE, LINE_ID } from '../../../src/io/instance-messages.js';
import type { MessageInput, MessageType } from '../../../src/io/message.js';
import { slotOfFidV1, slotOfFidV2 } from '../../../src/sparse/config/fid.js';
import { generateExampleBatch } from '../../feature/serving-fixture.js';
import { fieldsOf, type ParityCase, type ParityHandlers, UnknownForm } from '../case.js';
import { f32, ids } from '../values.js';

type Dict = Record<string, unknown>;

/** Hex of the message; decoding and encoding again must give the same bytes. */
function hexOf<T extends object>(type: MessageType<T>, message: MessageInput<T>): string {
  const bytes = type.encode(message);
  const again = type.encode(type.decode(bytes) as MessageInput<T>);
  if (Buffer.compare(bytes, again) !== 0) throw new Error(`${type.name} does not survive decoding`);
  return Buffer.from(bytes).toString('hex');
}

function number<T extends Record<string, number>>(names: T, name: unknown): number {
  const found = names[String(name)];
  if (found === undefined) throw new UnknownForm(`name ${name}`);
  return found;
}

/** `snake_case` keys as camelCase. */
const camel = (name: string) => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

interface ListCase {
  name: string;
  id: number;
  type: string;
  fid_v1?: string[][];
  fid_v2?: string[][];
}

function batchBytes(lists: readonly ListCase[], batchSize: number): string {
  return hexOf(EXAMPLE_BATCH, {
    namedFeatureList: lists.map((list) => ({
      name: list.name,
      id: list.id,
      type: number(FEATURE_LIST_TYPE, list.type),
      feature:
        list.fid_v1 === undefined
          ? list.fid_v2!.map((fids) => ({ fidV2List: { value: ids(fids) } }))
          : list.fid_v1.map((fids) => ({ fidV1List: { value: ids(fids) } })),
    })),
    batchSize,
  });
}

function configBytes(value: Dict): string {
  if ('table' in value) {
    const given = fieldsOf(value, ['table', 'pooling', 'slice_dims'], ['max_sequence_length']);
    return hexOf(FEATURE_CONFIG, {
      table: given.table as string,
      poolingType: number(POOLING_TYPE, given.pooling),
      sliceDims: given.slice_dims as number[],
      maxSequenceLength: (given.max_sequence_length ?? 0) as number,
    });
  }
  const given = fieldsOf(value, ['out_type', 'shape', 'slices']);
  return hexOf(OUT_CONFIG, {
    outType: number(OUT_TYPE, given.out_type),
    shape: (given.shape as number[][]).map((dims) => ({ dims })),
    sliceConfigs: (given.slices as [string, number, number][]).map(([featureName, start, end]) => ({
      featureName,
      start,
      end,
    })),
  });
}

/** The counts and ids of a generated batch; that every id is of its slot is checked here. */
function batchStructure(input: Dict) {
  const given = fieldsOf(input, ['batch_size', 'features'], ['columns']);
  const features = Object.fromEntries(
    Object.entries(given.features as Record<string, [number, number, 'v1' | 'v2', 'SHARED' | 'INDIVIDUAL']>).map(
      ([name, [slot, maxSeq, version, type]]) => [name, { slot, maxSeq, version, type }],
    ),
  );
  const batch = EXAMPLE_BATCH.decode(
    EXAMPLE_BATCH.encode(generateExampleBatch(features, { batchSize: given.batch_size as number })),
  );
  for (const { name, feature } of batch.namedFeatureList) {
    const { slot, version } = features[name]!;
    const fids = feature.flatMap((one) => [...(one.fidV1List ?? one.fidV2List)!.value]);
    if (!fids.every((fid) => (version === 'v1' ? slotOfFidV1(fid) : slotOfFidV2(fid)) === slot)) {
      throw new Error(`an id of ${name} is not of slot ${slot}`);
    }
  }
  return {
    feature_counts: Object.fromEntries(batch.namedFeatureList.map(({ name, feature }) => [name, feature.length])),
    ids: Object.fromEntries(batch.namedFeatureList.map(({ name, id }) => [name, id])),
    fid_rule: { v1: '(slot << 54) | low 54 bits', v2: '(slot << 48) | low 48 bits' },
  };
}

function example({ input }: ParityCase) {
  const given = input as Dict;
  if ('lists' in given) return { hex: batchBytes(given.lists as ListCase[], given.batch_size as number) };
  if ('features' in given) return batchStructure(given);
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, configBytes(value as Dict)]));
}

const BIG = new Set(['uid', 'item_id', 'req_time', 'chnid']);

function lineIdOf(value: Dict): Dict {
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [camel(key), BIG.has(key) ? BigInt(item as string) : item]),
  );
}

function instance({ input }: ParityCase) {
  const given = fieldsOf(input, [], ['fid', 'label', 'line_id', 'feature', 'instance_weight', 'value', 'dense']);
  const floats = (value: unknown) => f32(value ?? []).data;
  const message: Dict = {
    fid: ids(given.fid ?? []),
    label: floats(given.label),
    value: floats(given.value),
    dense: floats(given.dense),
    feature: ((given.feature ?? []) as Dict[]).map((one) => {
      const known = fieldsOf(one, ['name'], ['float_value', 'fid']);
      return { name: known.name, floatValue: floats(known.float_value), fid: ids(known.fid ?? []) };
    }),
  };
  if (given.line_id !== undefined) message.lineId = lineIdOf(given.line_id as Dict);
  if (given.instance_weight !== undefined) message.instanceWeight = given.instance_weight;
  return { hex: hexOf(INSTANCE, message) };
}

export const handlers: ParityHandlers = {
  'idl/example': example,
  'idl/line_id': ({ input }) => ({ hex: hexOf(LINE_ID, lineIdOf(input as Dict)) }),
  'idl/proto_parser': instance,
};
