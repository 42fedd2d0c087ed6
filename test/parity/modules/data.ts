/** @file Cases of data: patterns of file names, hashes of texts, serialized examples. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fingerprint64 } from '../../../src/data/farmhash.js';
import {
  dataTypeOf,
  type FramedRecord,
  type FramingOptions,
  frame,
  framedRecords,
  javaHashCode,
} from '../../../src/data/files/framing.js';
import { expandPattern, matchFiles } from '../../../src/data/files/patterns.js';
import { TF_EXAMPLE, type TfFeature } from '../../../src/io/tf-example.js';
import { fieldsOf, type ParityCase, type ParityHandlers } from '../case.js';

function patterns({ input }: ParityCase): unknown {
  const { pattern, existing } = fieldsOf(input, ['pattern'], ['existing']);
  if (existing === undefined) {
    const names = expandPattern(String(pattern));
    return { count: names.length, first: names[0], second: names[1], fifth: names[4], last: names.at(-1) };
  }
  const dir = mkdtempSync(join(tmpdir(), 'patterns-'));
  try {
    for (const name of existing as string[]) writeFileSync(join(dir, name), '');
    const { files } = matchFiles(join(dir, String(pattern)));
    const kept = (existing as string[]).filter((name) => files.some((file) => basename(file) === name));
    return { kept };
  } finally {
    rmSync(dir, { recursive: true });
  }
}

function movielens({ input }: ParityCase): unknown {
  const { texts, buckets, ...features } = fieldsOf(input, [], ['texts', 'buckets', 'mov', 'uid', 'label']);
  if (texts !== undefined) {
    const count = BigInt(String(buckets));
    return (texts as string[]).map((text) =>
      String(BigInt.asUintN(64, fingerprint64(new TextEncoder().encode(text))) % count),
    );
  }
  const feature = new Map<string, TfFeature>();
  for (const name of Object.keys(features).sort()) {
    const values = features[name] as string[];
    if (name === 'label') feature.set(name, { floatList: { value: Float32Array.from(values, Number) } });
    else feature.set(name, { int64List: { value: BigInt64Array.from(values, BigInt) } });
  }
  return { hex: Buffer.from(TF_EXAMPLE.encode({ features: { feature } })).toString('hex') };
}

/** Bytes as one piece. */
async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function payloads(bytes: Uint8Array, options: FramingOptions): Promise<readonly FramedRecord[]> {
  const found: FramedRecord[] = [];
  for await (const record of framedRecords(pieces(bytes), options)) found.push(record);
  return found;
}

function framingOf(flags: unknown): FramingOptions {
  const [lagrangexHeader, kafkaDumpPrefix, sortId, kafkaDump] = flags as boolean[];
  return {
    lagrangexHeader: lagrangexHeader!,
    kafkaDumpPrefix: kafkaDumpPrefix!,
    sortId: sortId!,
    kafkaDump: kafkaDump!,
  };
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const FLAGS = [false, true];
const ALL_FRAMINGS = FLAGS.flatMap((a) => FLAGS.flatMap((b) => FLAGS.flatMap((c) => FLAGS.map((d) => [a, b, c, d]))));

async function framing({ input, expected }: ParityCase): Promise<unknown> {
  const names = ['payload', 'rows', 'options', 'hex', 'source', 'data_type'];
  const { payload, options, hex, source, data_type: types } = fieldsOf(input, [], names);
  if (types !== undefined) {
    return (types as string[]).map((name) => dataTypeOf(name).replaceAll('_', '').toUpperCase());
  }
  if (source !== undefined) {
    const record = frame(bytesOf(String(payload)), { lagrangexHeader: true, source: String(source) });
    const [read] = await payloads(record, { lagrangexHeader: true });
    return {
      java_hash: javaHashCode(String(source)),
      header_hex: hexOf(record.subarray(0, 8)),
      pb_type: read!.payloadType,
      data_source_key: read!.dataSourceKey,
      record_hex: hexOf(record),
    };
  }
  if (hex !== undefined) {
    const [record] = await payloads(Buffer.from(String(hex), 'hex'), framingOf(options));
    return { payload: new TextDecoder().decode(record!.payload), data_source_key: record!.dataSourceKey };
  }
  if (options === undefined) {
    return (expected as { options: unknown }[]).map(({ options: flags }) => ({
      options: flags,
      hex: hexOf(frame(bytesOf(String(payload)), framingOf(flags))),
    }));
  }
  const given = Array.from({ length: 16 }, (_, length) => 'a'.repeat(length));
  for (const flags of ALL_FRAMINGS) {
    const file = Buffer.concat(given.map((text) => frame(bytesOf(text), framingOf(flags))));
    const read = await payloads(file, framingOf(flags));
    const texts = read.map((record) => new TextDecoder().decode(record.payload));
    if (texts.join() !== given.join()) return { read_back: `not equal with ${flags.join()}` };
  }
  return { read_back: 'equal' };
}

export const handlers: ParityHandlers = {
  'data/framing': framing,
  'data/patterns': patterns,
  'data/movielens': movielens,
};
