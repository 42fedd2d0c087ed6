/**
 * @file Writes what a training changed: a whole version first, then deltas with the rows that steps touched, the ids
 * that are gone, and the variables.
 */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomic } from '../../base/files/atomic-file.js';
import type { Features } from '../../data/schema.js';
import { modelJson, type WrittenModel } from '../../portable/model-json.js';
import type { Session } from '../../runtime/session/session.js';
import { coreOf } from '../../runtime/session/session-handle.js';
import type { HashTable } from '../../sparse/table/hash-table.js';
import { sessionTouched } from '../../sparse/table/session-touched.js';
import { buildIn, type EstimatorModel } from '../../train/estimator/estimator-model.js';
import { tablesIn } from '../../train/savers/session-tables.js';
import { exportNative } from '../native/export-native.js';
import type { ExportableModel, TrainedTable } from '../trained-model.js';
import { publishVersion, versionsIn } from '../versions.js';
import { DELTA_DIR, deltasIn, FRESH_FILE, RESEND_FILE, type TableDelta, writeDelta } from './delta-files.js';

/** Versions that are kept: one may be being loaded while the next is written. */
const VERSIONS_KEPT = 2;
/** Ids that are looked for between two steps of a search for those that are gone. */
const PORTION = 1 << 14;

export class DeltaWriter {
  readonly dir: string;
  readonly #session: Session;
  readonly #written: WrittenModel;
  readonly #tables: ReadonlyMap<string, HashTable>;
  readonly #run = randomBytes(8).toString('hex');
  /** Ids that readers have, by table. */
  readonly #told = new Map<string, Set<bigint>>();
  #sequence = 0;

  constructor(session: Session, model: EstimatorModel, dir: string) {
    const { features = {} } = model.schema as { readonly features?: Features };
    this.dir = dir;
    this.#session = session;
    this.#written = modelJson(buildIn(model, 'predict'), features);
    this.#tables = new Map(tablesIn(session).map(({ name, table }) => [name, table]));
  }

  /** The newest delta that was written. */
  get sequence(): number {
    return this.#sequence;
  }

  /** Whether a reader has asked for a whole version. */
  get asked(): boolean {
    return existsSync(join(this.dir, RESEND_FILE));
  }

  /** Writes all there is as a version; deltas before it are not needed any more. Returns its folder. */
  async whole(): Promise<string> {
    const folder = await this.#session.hold(async () => {
      sessionTouched(coreOf(this.#session))?.take();
      for (const { name } of this.#written.json.tables) this.#told.set(name, this.#idsOf(name));
      const state = { run: this.#run, sequence: this.#sequence };
      return publishVersion(this.dir, async (temporary) => {
        await exportNative(this.#model(), temporary);
        await writeFileAtomic(join(temporary, FRESH_FILE), `${JSON.stringify(state)}\n`);
      });
    });
    await rm(join(this.dir, RESEND_FILE), { force: true });
    for (const { sequence, file } of deltasIn(this.dir))
      if (sequence <= this.#sequence) await rm(file, { force: true });
    for (const version of (await versionsIn(this.dir)).slice(0, -VERSIONS_KEPT)) {
      await rm(join(this.dir, version), { recursive: true, force: true });
    }
    return folder;
  }

  /** Writes what changed since; a whole version where that is not known any more. Returns the bytes of a delta. */
  async delta(): Promise<number> {
    const delta = await this.#session.hold(async () => {
      const touched = sessionTouched(coreOf(this.#session))?.take() ?? null;
      if (touched === null) return null;
      const tables = this.#written.json.tables.map((table) => this.#tableDelta(table, touched));
      const variables = new Map(
        this.#written.variables.map(({ name }) => [name, Float32Array.from(this.#array(name))] as const),
      );
      return { tables, variables, step: this.#session.globalStep };
    });
    if (delta === null) {
      await this.whole();
      return 0;
    }
    this.#sequence++;
    return writeDelta(this.dir, { ...delta, run: this.#run, sequence: this.#sequence });
  }

  /** Removes deltas that a training before this one left: they are of other rows. */
  async begin(): Promise<void> {
    await rm(join(this.dir, DELTA_DIR), { recursive: true, force: true });
    for (const name of await readdir(this.dir).catch(() => [])) {
      if (name.startsWith('temp-')) await rm(join(this.dir, name), { recursive: true, force: true });
    }
    await this.whole();
  }

  #tableDelta(table: WrittenModel['json']['tables'][number], touched: ReadonlyMap<string, BigInt64Array>): TableDelta {
    const { name } = table;
    const [rows, told] = [this.#tables.get(name)!, this.#told.get(name)!];
    const changed = touched.get(name) ?? new BigInt64Array(0);
    const there = rows.contains(changed);
    const ids = changed.filter((_, at) => there[at] === 1);
    for (const id of ids) told.add(id);
    const removed = told.size > rows.size ? this.#gone(rows, told) : new BigInt64Array(0);
    return { table, ids, rows: rows.lookup(ids), removed };
  }

  /** Ids that readers have and the table has not: expired, or removed. They are told once. */
  #gone(rows: HashTable, told: Set<bigint>): BigInt64Array {
    const all = BigInt64Array.from(told);
    const gone: bigint[] = [];
    for (let from = 0; from < all.length; from += PORTION) {
      const some = all.subarray(from, from + PORTION);
      const there = rows.contains(some);
      for (const [at, id] of some.entries()) if (there[at] === 0) gone.push(id);
    }
    for (const id of gone) told.delete(id);
    return BigInt64Array.from(gone);
  }

  #idsOf(name: string): Set<bigint> {
    const ids = new Set<bigint>();
    for (const { id } of this.#tables.get(name)!.rows()) ids.add(id);
    return ids;
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
