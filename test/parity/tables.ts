/**
 * @file Tables in the words of parity files, and the values that go in and out of them.
 *
 * Unless a case says otherwise a table is one segment of sgd at rate 1 with zeros and fp32, two floats wide, without a
 * filter.
 */

import type { Rate } from '../../src/base/rates/rate.js';
import { PolynomialDecay } from '../../src/base/rates/schedules.js';
import { resolveRate } from '../../src/base/rates/segment-rates.js';
import { TableMemory } from '../../src/runtime/tables/table-memory.js';
import type { AdmissionFilter } from '../../src/sparse/admission/filter-memory.js';
import { HashFilter } from '../../src/sparse/admission/hash-filter.js';
import type {
  FloatCompressorMessage,
  InitializerMessage,
  OptimizerMessage,
  SlotExpireTimeConfig,
} from '../../src/sparse/config/config-messages.js';
import { ENTRY_TYPE, OPTIMIZER_MESSAGES, STORAGE_TYPE } from '../../src/sparse/config/config-messages.js';
import { planOptimizer } from '../../src/sparse/config/optimizer-plan.js';
import { HashTableConfigInstance } from '../../src/sparse/config/table-config.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { KernelHarness } from '../kernels/harness.js';
import { type Fields, fieldsOf, UnknownForm } from './case.js';
import { f32, ids } from './values.js';

const BUDGET_BYTES = 32 << 20;
/** Filters of the reference's size would take most of a gigabyte; the few ids of a case fill none of this either. */
const FILTER_CAPACITY_MAX = 100_000;

export const camel = (name: string): string =>
  name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** `name`, or `{ name: { fields } }`, as the member of a message; a bare value sets the field `plain` names. */
function member(given: unknown, plain?: string): Record<string, Fields> {
  if (typeof given === 'string') return { [camel(given)]: {} };
  const entries = Object.entries(given as Fields);
  const [name, fields] = entries[0] ?? [];
  if (entries.length !== 1 || name === undefined) throw new UnknownForm(JSON.stringify(given));
  if (typeof fields !== 'object' && plain !== undefined) return { [camel(name)]: { [plain]: fields } };
  const inner = Object.entries(fields as Fields).map(([key, value]) => [camel(key), value]);
  return { [camel(name)]: Object.fromEntries(inner) };
}

export function initializerOf(given: unknown): InitializerMessage {
  const constant = (value: unknown) => ({ constants: { constant: value as number } });
  return typeof given === 'number' ? constant(given) : (member(given, 'constant') as InitializerMessage);
}

/** An optimizer of its name and fields; those that its config does not have are refused. */
export function optimizerOf(given: unknown): OptimizerMessage {
  const [[name, fields]] = Object.entries(member(given, 'learningRate')) as [[keyof typeof OPTIMIZER_MESSAGES, Fields]];
  const message = OPTIMIZER_MESSAGES[name];
  if (message === undefined) throw new UnknownForm(`optimizer ${name}`);
  return { [name]: fieldsOf(fields, [], Object.keys(message.fields), { where: `the config of ${name}` }) };
}

export const compressorOf = (given: unknown): FloatCompressorMessage => member(given, 'r') as FloatCompressorMessage;

/** `{ polynomial_decay: { initial, decay_steps, end, power, cycle } }` */
export function rateOf(given: unknown): Rate {
  if (typeof given === 'number') return given;
  const { polynomial_decay: decay } = fieldsOf(given, ['polynomial_decay']);
  const { initial, decay_steps, end, power, cycle } = fieldsOf(
    decay,
    ['initial', 'decay_steps'],
    ['end', 'power', 'cycle'],
  );
  return new PolynomialDecay({
    initialLearningRate: initial as number,
    decaySteps: decay_steps as number,
    ...(end === undefined ? {} : { endLearningRate: end as number }),
    ...(power === undefined ? {} : { power: power as number }),
    ...(cycle === undefined ? {} : { cycle: cycle as boolean }),
  });
}

/** What cases say beside the table itself. */
export const TABLE_FIELDS = ['lr', 'lr_fn', 'expire_days', 'slot_expire_time'];

/** The config of a table, with what the case says of it elsewhere. Rates of one number hold for all segments. */
export function configOf(table: unknown, around: Fields = {}): HashTableConfigInstance {
  const optional = ['segments', 'dim', 'init', 'opt', 'comp', 'lr', 'entry_type', 'skip_zero_embedding', 'storage'];
  const given = fieldsOf(table ?? {}, [], optional);
  const segments = ((given.segments as unknown[] | undefined) ?? [{}]).map((segment) => {
    const own = fieldsOf(segment, [], ['dim', 'init', 'opt', 'comp', 'lr']);
    const either = (key: string, fallback: unknown) => own[key] ?? given[key] ?? fallback;
    return {
      initConfig: initializerOf(either('init', 'zeros')),
      optConfig: optimizerOf(either('opt', 'sgd')),
      compConfig: compressorOf(either('comp', 'fp32')),
      dimSize: either('dim', 2) as number,
      lr: own.lr,
    };
  });
  const rates = ratesOf(segments, given.lr ?? around.lr, around.lr_fn);
  const entryType = given.entry_type === undefined ? undefined : entryTypeOf(given.entry_type);
  const expiry = expiryOf(around);
  const config = {
    entryConfig: {
      segments: segments.map(({ lr, ...segment }) => segment),
      ...(entryType === undefined ? {} : { entryType }),
    },
    cuckoo: {},
    ...(expiry === undefined ? {} : { slotExpireTimeConfig: expiry }),
    ...(given.storage === undefined ? {} : { entryType: storageOf(given.storage) }),
    ...(given.skip_zero_embedding === undefined ? {} : { skipZeroEmbedding: given.skip_zero_embedding as boolean }),
  };
  return new HashTableConfigInstance(config, rates);
}

function ratesOf(
  segments: readonly { optConfig: OptimizerMessage; dimSize: number; lr: unknown }[],
  lr: unknown,
  lrFn: unknown,
): Rate[] {
  const shared = Array.isArray(lr) ? (lr as unknown[]) : undefined;
  if (shared !== undefined && shared.length !== segments.length && shared.length !== 1) {
    throw new UnknownForm(`${shared.length} rates for ${segments.length} segments`);
  }
  return segments.map(({ optConfig, dimSize, lr: own }, s) => {
    const said = own ?? lrFn ?? (shared === undefined ? lr : (shared[s] ?? shared[0]));
    if (said !== undefined) return rateOf(said);
    const [fields] = Object.values(optConfig) as Fields[];
    // An optimizer that names a rate means it; the test table's is 1.
    return fields?.learningRate === undefined ? 1 : resolveRate(planOptimizer(optConfig, dimSize));
  });
}

function entryTypeOf(given: unknown): number {
  const type = ENTRY_TYPE[String(given).toLowerCase() as keyof typeof ENTRY_TYPE];
  if (type === undefined) throw new UnknownForm(`entry type ${given}`);
  return type;
}

export function storageOf(given: unknown): number {
  const type = STORAGE_TYPE[String(given).toLowerCase() as keyof typeof STORAGE_TYPE];
  if (type === undefined) throw new UnknownForm(`entry type ${given}`);
  return type;
}

function expiryOf({ expire_days, slot_expire_time }: Fields): SlotExpireTimeConfig | undefined {
  if (slot_expire_time === undefined) {
    return expire_days === undefined ? undefined : { defaultExpireTime: expire_days as number };
  }
  const given = fieldsOf(slot_expire_time, [], ['default', 'slots']);
  const slots = Object.entries((given.slots ?? {}) as Record<string, number>);
  return {
    slotExpireTimes: slots.map(([slot, expireTime]) => ({ slot: Number(slot), expireTime })),
    ...(given.default === undefined ? {} : { defaultExpireTime: given.default as number }),
  };
}

/** A fresh memory for the tables and filters of one case. */
export class CaseTables {
  readonly memory: TableMemory;
  readonly #harness: KernelHarness | undefined;
  #count = 0;

  private constructor(memory: TableMemory, harness: KernelHarness | undefined) {
    this.memory = memory;
    this.#harness = harness;
  }

  static async create({ filters = false, budgetBytes = BUDGET_BYTES } = {}): Promise<CaseTables> {
    const harness = filters ? await KernelHarness.create(8 << 20) : undefined;
    return new CaseTables(await TableMemory.create({ budgetBytes }), harness);
  }

  table(
    instance: HashTableConfigInstance,
    { name = `table ${this.#count++}`, filter }: { name?: string; filter?: AdmissionFilter } = {},
  ) {
    return HashTable.create(this.memory, { name, instance }, filter === undefined ? {} : { filter });
  }

  /** The filter of a case, or none. */
  filter(given: unknown): HashFilter | undefined {
    if (given === undefined) return undefined;
    const { sliding, capacity, split_num, default_threshold, slots } = fieldsOf(
      given,
      ['default_threshold'],
      ['sliding', 'capacity', 'split_num', 'slots'],
    );
    if (sliding !== true) throw new UnknownForm('a filter that does not slide');
    const harness = this.#harness;
    if (harness === undefined) throw new UnknownForm('a filter');
    const thresholds = Object.entries((slots ?? {}) as Record<string, number>);
    return HashFilter.sliding({
      views: harness.views,
      kernels: harness.wasm,
      arena: harness.arena,
      capacity: Math.min((capacity ?? FILTER_CAPACITY_MAX) as number, FILTER_CAPACITY_MAX),
      ...(split_num === undefined ? {} : { splitNum: split_num as number }),
      thresholds: {
        defaultOccurrenceThreshold: default_threshold as number,
        slotOccurrenceThresholds: thresholds.map(([slot, threshold]) => ({
          slot: Number(slot),
          occurrenceThreshold: threshold,
        })),
      },
    });
  }
}

/** Flat floats cut into rows. */
export function rowsOf(flat: Float32Array, dim: number): number[][] {
  return Array.from({ length: flat.length / dim }, (_, r) => [...flat.subarray(r * dim, (r + 1) * dim)]);
}

/** `{ id: row }`, or `{ id: number }` for rows of one float, in the order of the file. */
export function entriesOf(given: unknown, dim: number): { ids: BigInt64Array; values: Float32Array } {
  const entries = Object.entries(given as Record<string, number | number[]>);
  return {
    ids: ids(entries.map(([id]) => id)),
    values: Float32Array.from(entries.flatMap(([, row]) => floatsOf(row, dim))),
  };
}

/** Rows of `dim` floats; a number alone stands for a row of it. */
export function floatsOf(given: unknown, dim: number): number[] {
  if (typeof given === 'number') return new Array<number>(dim).fill(given);
  return [...f32(given).data];
}
