/** @file Cases of one row: what it holds, shows and dumps (entry accessors), and how entries look in files. */
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { EntryDumpCodec } from '../../../src/io/entry-dump.js';
import { encodeMessage } from '../../../src/io/message.js';
import { RecordReader } from '../../../src/io/record-reader.js';
import { MultiHashTableMetadataMessage } from '../../../src/sparse/config/config-messages.js';
import { KernelHarness } from '../../kernels/harness.js';
import { makeCompressor } from '../../support/float-compressor.js';
import { type Fields, fieldsOf, listOf, type ParityCase, type ParityHandlers, UnknownForm } from '../case.js';
import { Series } from '../derived.js';
import { parseForm } from '../expression.js';
import { inDirectory, recordOf, saveBoth } from '../table-files.js';
import { CaseTables, compressorOf, configOf, rowsOf } from '../tables.js';
import { f32, ids } from '../values.js';

const h = await KernelHarness.create(1 << 20);
const ID = BigInt64Array.of(7n);

async function entryAccessor({ input, expected }: ParityCase) {
  const optional = ['segments', 'entry_type', 'comp', 'dim', 'init', 'opt', 'grad', 'grads', 'steps', 'learning_rates'];
  const given = fieldsOf(input, [], [...optional, 'global_step', 'assign', 'dump', 'save_timestamp']);
  const { grad, grads, steps, learning_rates, global_step, assign, dump, save_timestamp, ...table } = given;
  const tables = await CaseTables.create();
  const config = configOf(table);
  const one = tables.table(config);
  const fill = () => rowsOf(one.lookup(ID), one.dim)[0];
  if (assign !== undefined) {
    one.assign(ID, f32(assign).data);
    return { fill: fill(), ...('bits' in (expected as Fields) ? { bits: halfBits(given, assign) } : {}) };
  }
  if (dump !== undefined) {
    const { num, last_update_ts_sec } = fieldsOf(dump, ['num'], ['last_update_ts_sec']);
    one.restore([row(f32(num).data, new Float32Array(0), (last_update_ts_sec ?? 0) as number)]);
    return { fill: fill() };
  }
  const each = grads ?? (grad === undefined ? undefined : new Array<unknown>((steps ?? 1) as number).fill(grad));
  if (each === undefined) throw new UnknownForm('a row that nothing happens to');
  const step = (to: typeof one, gradient: unknown) =>
    to.optimize(ID, f32(gradient).data.slice(), {
      ...(learning_rates === undefined ? {} : { learningRates: listOf<number>(learning_rates) }),
      timeSec: (save_timestamp ?? 0) as number,
      globalStep: (global_step ?? 0) as number,
    });
  const rows = (Array.isArray((each as unknown[])[0]) ? (each as unknown[]) : [each]).map((gradient) => {
    step(one, gradient);
    return fill();
  });
  if (save_timestamp === undefined) return { fill: new Series(rows) };
  const first = fill();
  const restored = tables.table(config, { name: 'restored' });
  const [dumped] = [...one.rows()];
  restored.restore([dumped!]);
  const [again] = [...restored.rows()];
  const timestamp = again!.lastUpdateSec;
  step(restored, grad);
  return {
    after_step_1: first,
    restored_timestamp: timestamp,
    after_restore_and_step_2: rowsOf(restored.lookup(ID), restored.dim)[0],
  };
}

function row(weights: Float32Array, state: Float32Array, lastUpdateSec: number) {
  return { id: ID[0]!, weights, state, lastUpdateSec };
}

/** What the compressor keeps of the values, two bytes each. */
function halfBits({ comp }: Fields, values: unknown): string[] {
  const floats = f32(values).data;
  const compressor = makeCompressor(compressorOf(comp), floats.length, { kernels: h.wasm, bytes: h.views.u8 });
  if (compressor.sizeBytes !== floats.length * 2) throw new UnknownForm(`bits of ${compressor.name}`);
  return h.scope(() => {
    const [src, dst] = [h.putF32(floats), h.alloc(compressor.sizeBytes)];
    compressor.encode(src, dst);
    return Array.from(floats, (_, i) => {
      const bits = h.views.u8[dst + 2 * i]! + 256 * h.views.u8[dst + 2 * i + 1]!;
      return bits.toString(16).padStart(4, '0');
    });
  });
}

/**
 * Segments with a range show what their quantizer makes of the weights; one that is not enabled shows them as they are.
 */
async function quantizedAccessor({ input }: ParityCase) {
  const given = fieldsOf(input, ['dim', 'segments'], ['optimize', 'init']);
  const segments = (given.segments as unknown[]).map((segment) => {
    const { dim, r, enable } = fieldsOf(segment, ['dim'], ['r', 'enable']);
    const comp = enable === false ? 'fp32' : { fixed_r8: r === undefined ? {} : { r } };
    return { dim, init: given.init ?? 'zeros', comp };
  });
  const config = configOf({ segments });
  const table = (await CaseTables.create()).table(config);
  if (table.dim !== given.dim) throw new UnknownForm('segments that do not make up the row');
  table.reinitialize(ID);
  const initial = [...table.lookup(ID)];
  if (given.optimize === undefined) return { fill_initial: initial };
  const [sign, amount] = parseForm(given.optimize, /^w ([-+])= ([\d.]+) on every component$/);
  // At rate 1 a step takes the gradient off.
  table.optimize(ID, new Float32Array(table.dim).fill(Number(amount) * (sign === '-' ? 1 : -1)));
  return { fill_initial: initial, fill_after_step: [...table.lookup(ID)] };
}

/** Payloads of entries and metadata, and their records. */
async function format({ input, expected }: ParityCase) {
  const entry = ['id', 'num', 'adagrad_norm', 'last_update_ts_sec', 'optimizer'];
  const given = fieldsOf(input, [], ['payload_hex', 'table_name', 'num_entries', ...entry]);
  const payload =
    given.payload_hex !== undefined
      ? Uint8Array.from(Buffer.from(String(given.payload_hex), 'hex'))
      : given.table_name !== undefined
        ? encodeMessage(MultiHashTableMetadataMessage, {
            tableName: given.table_name as string,
            numEntries: given.num_entries as number,
          })
        : entryPayload(given);
  const record = await recordOf(payload);
  await inDirectory(async (dir) => checkReadBack(dir, record, payload));
  const { file } = expected as { file?: string };
  const found = {
    payload_hex: hex(payload),
    record_hex: hex(record),
    ...(file === undefined ? {} : { file: await savedAs(file, given, record) }),
  };
  return Object.fromEntries(Object.entries(found).filter(([key]) => key in (expected as Fields)));
}

/** Name of the file of a table with this one row, whose only record it must be. */
async function savedAs(file: string, given: Fields, record: Uint8Array): Promise<string> {
  const weights = f32(given.num).data;
  const table = (await CaseTables.create()).table(configOf({ dim: weights.length, opt: given.optimizer ?? 'sgd' }));
  table.assign(ids([given.id]), weights, { timeSec: (given.last_update_ts_sec ?? 0) as number });
  return inDirectory(async (dir) => {
    const [base] = parseForm(file, /^(.+?)-\d{5}-of-\d{5}$/);
    const [written] = await saveBoth(table, undefined, join(dir, base!));
    if (hex(readFileSync(written!)) !== hex(record)) throw new Error(`${written} is not the record`);
    return basename(written!);
  });
}

function entryPayload(given: Fields): Uint8Array {
  const norm = given.adagrad_norm === undefined ? new Float32Array(0) : f32(given.adagrad_norm).data;
  const weights = f32(given.num).data;
  const optimizer = given.adagrad_norm === undefined ? ((given.optimizer ?? 'sgd') as 'sgd') : 'adagrad';
  const stateDim = norm.length > 0 && norm.length !== weights.length ? { stateDim: norm.length } : {};
  const codec = new EntryDumpCodec([{ dim: weights.length, optimizer, ...stateDim }]);
  const bytes = new Uint8Array(codec.maxBytes);
  const entry = {
    id: BigInt.asIntN(64, BigInt(given.id as number | string)),
    weights,
    state: norm,
    lastUpdateSec: (given.last_update_ts_sec ?? 0) as number,
  };
  return bytes.slice(0, codec.encode(entry, bytes, new DataView(bytes.buffer), 0));
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** The record and the message in it read back as they were written. */
async function checkReadBack(dir: string, record: Uint8Array, payload: Uint8Array): Promise<void> {
  const file = join(dir, 'records');
  writeFileSync(file, record);
  const reader = new RecordReader(file);
  const read = [...reader];
  reader.close();
  if (read.length !== 1 || hex(read[0]!) !== hex(payload)) throw new Error('the record does not read back');
}

export const handlers: ParityHandlers = {
  entry_accessor: entryAccessor,
  'hash_table.format': format,
  'hash_table/dump': format,
  quantized_entry_accessor: quantizedAccessor,
};
