/** @file Cases of admission filters and their files (src/sparse/admission-filter, filter-files). */
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { MersenneTwister } from '../../../src/base/random.js';
import { decodeMessage } from '../../../src/io/message.js';
import { RecordReader } from '../../../src/io/record-reader.js';
import { cellCount, slidingGeometry } from '../../../src/memory/filter-layout.js';
import { DummyFilter, interceptGradient } from '../../../src/sparse/admission/admission-filter.js';
import { HashFilterSplitMetaMessage, restoreFilter, saveFilter } from '../../../src/sparse/admission/filter-files.js';
import type { AdmissionFilter } from '../../../src/sparse/admission/filter-memory.js';
import { HashFilter } from '../../../src/sparse/admission/hash-filter.js';
import { ProbabilisticFilter } from '../../../src/sparse/admission/probabilistic-filter.js';
import { KernelHarness } from '../../kernels/harness.js';
import {
  type Fields,
  fieldsOf,
  listOf,
  type ParityCase,
  type ParityHandlers,
  recordsOf,
  UnknownForm,
} from '../case.js';
import { inDirectory } from '../table-files.js';
import { ids } from '../values.js';

const h = await KernelHarness.create(64 << 20);
const memory = { views: h.views, kernels: h.wasm, arena: h.arena };

/** The largest list all filters agree on. */
function sameOfAll<T>(values: readonly T[]): T {
  const [first] = values;
  for (const value of values) {
    if (JSON.stringify(value) !== JSON.stringify(first)) throw new Error('the capacities give different counts');
  }
  return first!;
}

function saturate(given: Fields, make: (capacity: number) => HashFilter) {
  return sameOfAll(
    listOf<number>(given.capacities ?? given.capacity).map((capacity) => {
      const filter = make(capacity);
      const fid = ids([given.fid]);
      const rounds = Array.from({ length: given.adds_of_1 as number }, () => {
        return { returned: filter.add(fid)[0]!, after: filter.get(fid)[0]! };
      });
      return { returned: rounds.map((one) => one.returned), get_after: rounds.map((one) => one.after) };
    }),
  );
}

/** Counts of one id, one call after the other. */
function added(filter: HashFilter, given: Fields) {
  const fid = ids([given.fid]);
  const rounds = listOf<number>(given.adds).map((count) => {
    return { returned: filter.add(fid, Uint32Array.of(count))[0]!, after: filter.get(fid)[0]! };
  });
  return {
    elements: filter.elementCount,
    returned: rounds.map((one) => one.returned),
    get_after: rounds.map((one) => one.after),
  };
}

/** Share of ids whose count is not the exact one, and how often no cell was found. */
function errorRate(filter: HashFilter, keys: number) {
  const random = new MersenneTwister(1);
  const exact = new Map<number, number>();
  const added: number[] = [];
  for (let i = 0; i < keys; i++) {
    const key = random.nextU32() >>> 1;
    const count = exact.get(key) ?? 0;
    if (count >= 14) continue;
    exact.set(key, count + 2);
    added.push(key);
  }
  filter.add(BigInt64Array.from(added, BigInt), new Uint32Array(added.length).fill(2));
  const distinct = [...exact.keys()];
  const found = filter.get(BigInt64Array.from(distinct, BigInt));
  const wrong = distinct.reduce((sum, key, i) => sum + (found[i] === exact.get(key) ? 0 : 1), 0);
  return { rate: wrong / distinct.length, distinct: distinct.length, failures: Number(filter.failureCount) };
}

function checkRates({ expected, tolerance }: ParityCase, found: readonly ReturnType<typeof errorRate>[]): void {
  const wanted = fieldsOf(expected, ['error_rate'], ['failure_count', 'failure_count_below']);
  const error_rate = listOf<number>(wanted.error_rate);
  const { ratio_between, rel = 0 } = tolerance ?? {};
  const [low, high] = ratio_between ?? [1 - rel, 1 + rel];
  for (const [i, { rate, distinct, failures }] of found.entries()) {
    const ratio = rate / error_rate[i]!;
    if (!(ratio >= low && ratio <= high)) throw new Error(`error rate ${i} is ${rate}, not ${error_rate[i]}`);
    const limit = 'failure_count' in wanted ? 0.5 : distinct / 10000;
    if (!(failures < limit)) throw new Error(`${failures} ids found no cell`);
  }
}

async function hashFilter(parity: ParityCase) {
  const optional = ['capacities', 'fid', 'adds_of_1', 'capacity', 'adds', 'fill_rate', 'calls', 'cases', 'procedure'];
  const given = fieldsOf(parity.input, [], [...optional, 'splits', 'basename']);
  if (given.splits !== undefined) return filterFiles(parity, given);
  const counting = (capacity: number, fillRate = 1.5, thresholds = {}) =>
    HashFilter.counting({ ...memory, capacity, fillRate, thresholds });
  if (given.adds_of_1 !== undefined) return saturate(given, counting);
  if (given.adds !== undefined) {
    const filter = counting(given.capacity as number);
    return added(filter, given);
  }
  if (given.calls !== undefined) return bypass(given, counting);
  if (given.cases === undefined) throw new UnknownForm('hash_filter');
  const names = ['cell_bits', 'keys', 'fill_rate'];
  const cases = recordsOf<{ cell_bits: 8 | 16; keys: number; fill_rate: number }>(given.cases, names);
  checkRates(
    parity,
    cases.map(({ cell_bits: cellBits, keys, fill_rate: fillRate }) =>
      h.scope(() => errorRate(HashFilter.counting({ ...memory, capacity: keys, fillRate, cellBits }), keys)),
    ),
  );
  return undefined;
}

/** Calls with threshold 0 pass and leave no trace. A slot's threshold stands for the one of the call. */
function bypass(given: Fields, counting: (capacity: number, fillRate: number, thresholds: object) => HashFilter) {
  const last = /^i in 0\.\.(\d+): should_filter\(i,1,threshold 0\); should_filter\(2i,1,threshold 1\)$/.exec(
    String(given.calls),
  );
  if (last === null) throw new UnknownForm(String(given.calls));
  const thresholds = { slotOccurrenceThresholds: [{ slot: 1, occurrenceThreshold: 1 }] };
  const filter = counting(given.capacity as number, given.fill_rate as number, thresholds);
  const answers = Array.from({ length: Number(last[1]) + 1 }, (_, i) => ({
    first: filter.shouldFilter({ ids: BigInt64Array.of(BigInt(i)) })[0] === 1,
    second: filter.shouldFilter({ ids: BigInt64Array.of((1n << 48n) + BigInt(2 * i)) })[0] === 1,
  }));
  return { ...sameOfAll(answers), elements: filter.elementCount };
}

async function filterFiles({ expected }: ParityCase, given: Fields) {
  const filter = HashFilter.sliding({
    ...memory,
    capacity: given.capacity as number,
    splitNum: given.splits as number,
  });
  return inDirectory(async (dir) => {
    const files = await saveFilter(filter, join(dir, String(given.basename ?? 'hash_filter')));
    if (Array.isArray((expected as Fields).files)) return { files: files.map((file) => basename(file)) };
    const reader = new RecordReader(files[0]!);
    const meta = decodeMessage(HashFilterSplitMetaMessage, reader.next()!);
    reader.close();
    const { splitNum, head, headIncrement } = meta.slidingHashFilterMeta!;
    return {
      files: files.length,
      total_size: meta.totalSize,
      num_elements: meta.numElements,
      split_num: splitNum,
      head,
      head_increment: headIncrement,
    };
  });
}

function slidingFilter(parity: ParityCase) {
  const optional = [
    'capacities',
    'split_num',
    'fid',
    'adds_of_1',
    'adds',
    'capacity',
    'distinct_fids',
    'count',
    'cases',
    'procedure',
  ];
  const given = fieldsOf(parity.input, [], optional);
  const sliding = (capacity: number, splitNum: number) => HashFilter.sliding({ ...memory, capacity, splitNum });
  if (given.adds_of_1 !== undefined) {
    return saturate(given, (capacity) => sliding(capacity, given.split_num as number));
  }
  if (given.adds !== undefined) return added(sliding(given.capacity as number, given.split_num as number), given);
  if (given.distinct_fids !== undefined) {
    const filter = sliding(given.capacity as number, given.split_num as number);
    const count = given.distinct_fids as number;
    const fids = BigInt64Array.from({ length: count }, (_, i) => BigInt(i + 1) << 17n);
    filter.add(fids, new Uint32Array(count).fill(given.count as number));
    return { elements: filter.elementCount };
  }
  const names = ['capacity', 'split_num'];
  const cases = recordsOf<{ capacity: number; split_num: number; keys?: number }>(given.cases, names, ['keys']);
  if (given.procedure === undefined) {
    return {
      cases: cases.map(({ capacity, split_num }) => {
        const geometry = slidingGeometry(capacity, split_num);
        return {
          split_capacity: geometry.capacity,
          total_size: geometry.totalSize,
          cells: cellCount(geometry),
          full_at: geometry.capacity - 1,
          max_backward: geometry.backward,
        };
      }),
    };
  }
  const rates = cases.map(({ capacity, split_num, keys }) =>
    h.scope(() => errorRate(sliding(capacity, split_num), keys!)),
  );
  checkRates(parity, rates);
  return undefined;
}

/** One pass of ones through the interception op: 1 for each row that came through. */
function passedRows(filter: AdmissionFilter, fids: BigInt64Array): number[] {
  const gradient = new Float32Array(fids.length * 2).fill(1);
  interceptGradient(filter, fids, gradient, 2);
  return Array.from(fids, (_, row) => gradient[row * 2]!);
}

async function filterOps({ input, expected }: ParityCase) {
  const optional = ['capacity', 'split_num', 'threshold', 'upstream_gradient', 'runs', 'sequence'];
  const given = fieldsOf(input, ['ids'], optional);
  const fids = ids(given.ids);
  const make = (): AdmissionFilter =>
    given.capacity === undefined
      ? new DummyFilter()
      : HashFilter.sliding({
          ...memory,
          capacity: given.capacity as number,
          splitNum: given.split_num as number,
          thresholds: { defaultOccurrenceThreshold: given.threshold as number },
        });
  let filter = make();
  const sequence =
    (given.sequence as string[] | undefined) ?? new Array<string>((given.runs as number | undefined) ?? 1).fill('run');
  return inDirectory(async (dir) => {
    const rows: number[][] = [];
    for (const step of sequence) {
      const [verb, name = ''] = step.split(' ');
      const base = join(dir, name, 'hash_filter');
      if (verb === 'run') rows.push(passedRows(filter, fids));
      else if (verb === 'save') await saveFilter(filter, base);
      else if (verb === 'restore') {
        filter = make();
        await restoreFilter(filter, base);
      } else throw new UnknownForm(step);
    }
    if (!('files_per_save' in (expected as Fields))) return { passed_rows: rows };
    const files = await saveFilter(filter, join(dir, 'last', 'hash_filter'));
    if (files.length > 0 && readdirSync(join(dir, 'last')).length !== files.length) throw new Error('stray files');
    return { passed_rows: rows, files_per_save: files.length };
  });
}

function probabilistic({ case: name, input }: ParityCase) {
  const given = fieldsOf(input, ['trials', 'threshold'], ['counts', 'count', 'table', 'equal_probability']);
  const trials = given.trials as number;
  const filter = new ProbabilisticFilter({
    ...memory,
    thresholds: { defaultOccurrenceThreshold: given.threshold as number },
    equalProbability: (given.equal_probability ?? /^equal/.test(name)) as boolean,
    seed: 42n,
  });
  const fids = BigInt64Array.from({ length: trials }, (_, i) => BigInt(i));
  const inserted = (count: number, present?: Uint8Array) => {
    const counts = new Uint32Array(trials).fill(count);
    const question = present === undefined ? { ids: fids, counts } : { ids: fids, counts, present };
    return filter.shouldFilter(question).reduce((sum, kept) => sum + 1 - kept, 0);
  };
  if (given.counts === undefined) {
    if (given.table !== null && given.table !== undefined) throw new UnknownForm('a table');
    return { inserted: inserted(given.count as number) };
  }
  return { inserted: (given.counts as number[]).map((count) => inserted(count, new Uint8Array(trials))) };
}

/** Frees what a case allocated, also when it answers later. */
const scoped = (handler: (parity: ParityCase) => unknown) => async (parity: ParityCase) => {
  const mark = h.arena.mark();
  try {
    return await handler(parity);
  } finally {
    h.arena.release(mark);
  }
};

export const handlers: ParityHandlers = {
  hash_filter: scoped(hashFilter),
  hash_filter_ops: scoped(filterOps),
  probabilistic_filter: scoped(probabilistic),
  sliding_hash_filter: scoped(slidingFilter),
};
