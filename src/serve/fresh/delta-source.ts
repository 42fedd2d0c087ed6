/**
 * @file What a training changed since it was asked last: the rows that steps touched, the ids that are gone, and the
 * variables. What is done with it is up to those it is pushed to.
 */
import { randomBytes } from 'node:crypto';
import type { Features } from '../../data/schema.js';
import { modelJson, type WrittenModel } from '../../portable/model-json.js';
import type { Session } from '../../runtime/session/session.js';
import { coreOf } from '../../runtime/session/session-handle.js';
import type { HashTable } from '../../sparse/table/hash-table.js';
import { sessionTouched } from '../../sparse/table/session-touched.js';
import { buildIn, type EstimatorModel } from '../../train/estimator/estimator-model.js';
import { tablesIn } from '../../train/savers/session-tables.js';
import type { ExportableModel, TrainedTable } from '../trained-model.js';
import type { Delta, TableDelta } from './delta-files.js';
import type { Whole } from './sync-target.js';

/** Ids that are looked for between two steps of a search for those that are gone. */
const PORTION = 1 << 14;

export class DeltaSource {
  readonly #session: Session;
  readonly #written: WrittenModel;
  readonly #tables: ReadonlyMap<string, HashTable>;
  readonly #run = randomBytes(8).toString('hex');
  /** Ids that readers have, by table. */
  readonly #told: ReadonlyMap<string, Set<bigint>>;
  #sequence = 0;

  constructor(session: Session, model: EstimatorModel) {
    const { features = {} } = model.schema as { readonly features?: Features };
    this.#session = session;
    this.#written = modelJson(buildIn(model, 'predict'), features);
    this.#tables = new Map(tablesIn(session).map(({ name, table }) => [name, table]));
    this.#told = new Map(this.#written.json.tables.map(({ name }) => [name, new Set()]));
  }

  /** The newest delta. */
  get sequence(): number {
    return this.#sequence;
  }

  /** What changed since the last call; null where the record was full in between, and that is not known. */
  async next(): Promise<Delta | null> {
    const taken = await this.#session.hold(async () => {
      const touched = sessionTouched(coreOf(this.#session))?.take() ?? null;
      if (touched === null) return null;
      const tables = this.#written.json.tables.map((table) => this.#tableDelta(table, touched));
      const variables = new Map(
        this.#written.variables.map(({ name }) => [name, Float32Array.from(this.#array(name))] as const),
      );
      return { tables, variables, step: this.#session.globalStep };
    });
    return taken === null ? null : { ...taken, run: this.#run, sequence: ++this.#sequence };
  }

  /** Drops what changed: whoever is told next gets everything. */
  async forget(): Promise<void> {
    await this.#session.hold(async () => {
      sessionTouched(coreOf(this.#session))?.take();
    });
  }

  /** Runs `body` over everything there is, while no step runs. What was touched before comes in the next delta too. */
  whole<T>(body: (all: Whole) => Promise<T>): Promise<T> {
    return this.#session.hold(() => {
      for (const [name, told] of this.#told) for (const { id } of this.#tables.get(name)!.rows()) told.add(id);
      return body({ run: this.#run, sequence: this.#sequence, model: this.#model() });
    });
  }

  #tableDelta(table: WrittenModel['json']['tables'][number], touched: ReadonlyMap<string, BigInt64Array>): TableDelta {
    const { name } = table;
    const [rows, told] = [this.#tables.get(name)!, this.#told.get(name)!];
    const changed = touched.get(name) ?? new BigInt64Array(0);
    const there = rows.contains(changed);
    const ids = changed.filter((_, at) => there[at] === 1);
    for (const id of ids) told.add(id);
    const removed = told.size > rows.size ? gone(rows, told) : new BigInt64Array(0);
    return { table, ids, rows: rows.lookup(ids), removed };
  }

  #array(name: string): Float32Array {
    const constant = this.#written.constants.find((op) => op.name === name);
    return constant?.attrs.values ?? (this.#session.readVariable(name) as Float32Array);
  }

  #model(): ExportableModel {
    const tables = this.#written.json.tables.map((json): TrainedTable => {
      const table = this.#tables.get(json.name)!;
      const rows = () => table.rows();
      return { ...json, count: table.size, rows, shownRows: rows };
    });
    const step = this.#session.globalStep;
    return { written: this.#written, step, tables, array: (name) => this.#array(name) };
  }
}

/** Ids that readers have and the table has not: expired, or removed. They are told once. */
function gone(rows: HashTable, told: Set<bigint>): BigInt64Array {
  const all = BigInt64Array.from(told);
  const missing: bigint[] = [];
  for (let from = 0; from < all.length; from += PORTION) {
    const some = all.subarray(from, from + PORTION);
    const there = rows.contains(some);
    for (const [at, id] of some.entries()) if (there[at] === 0) missing.push(id);
  }
  for (const id of missing) told.delete(id);
  return BigInt64Array.from(missing);
}
