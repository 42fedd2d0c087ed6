/**
 * @file Tables of a session that live on the device: what the main thread does about them.
 *
 * As with variables, the host keeps a table of its own, which may be old. Whoever reads it brings the rows home first,
 * and whoever writes it says so: the next step then uploads all of it. memory/device-table-layout.ts draws the records.
 */
import { MonolithError } from '../../../base/errors.js';
import type { Arena } from '../../../memory/arena.js';
import {
  DEVICE_COUNTER,
  DEVICE_COUNTERS,
  DEVICE_ROWS_MAX,
  DEVICE_TABLE,
  DEVICE_TABLE_WORDS,
  readAddress,
} from '../../../memory/device-table-layout.js';
import { ON_HOST } from '../../../memory/placement-layout.js';
import { TABLE } from '../../../memory/table-layout.js';
import type { Views } from '../../../memory/views.js';
import type { AwayRow, FirstValues, TableHome, TableHomes, TableTraits } from '../backend.js';
import type { DeviceTableOptions } from './cuda-options.js';
import type { CudaDriver } from './driver.js';
import { refuseTable, tableRefusal } from './refuse-table.js';

const ROWS_AT_FIRST = 1 << 16;
/** Rows that are downloaded at once. */
const CHUNK_BYTES = 1 << 22;

/** The error of a session that is to have them without a device. */
export function noDeviceTables(backend: string): MonolithError {
  const reason = `useGpuEmbTable is for the cuda backend, this is ${backend}`;
  return tableRefusal('of the session', reason, 'use --backend cuda, or leave tables on the host');
}

export class ResidentTables implements TableHomes {
  readonly #views: Views;
  readonly #arena: Arena;
  readonly #driver: CudaDriver;
  readonly #options: DeviceTableOptions;
  readonly #tables: ResidentTable[] = [];

  constructor(views: Views, arena: Arena, driver: CudaDriver, options: DeviceTableOptions) {
    const { rows = ROWS_AT_FIRST } = options;
    if (!Number.isInteger(rows) || rows < 1 || rows > DEVICE_ROWS_MAX) {
      const reason = `${rows} is not a number of rows from 1 to ${DEVICE_ROWS_MAX}`;
      throw new MonolithError('ML_FLAG', { flag: 'useGpuEmbTable', reason });
    }
    this.#views = views;
    this.#arena = arena;
    this.#driver = driver;
    this.#options = options;
  }

  check(table: TableTraits): void {
    refuseTable(table);
  }

  /** Addresses of the records of all tables. */
  get records(): readonly number[] {
    return this.#tables.map(({ record }) => record);
  }

  /** The table of the control block at `table`, which is on the host until a step needs it. */
  add(name: string, table: number, { first, range }: FirstValues): ResidentTable {
    const { u32, f32, u8 } = this.#views;
    const { rows, grows = rows === undefined } = this.#options;
    const record = this.#arena.alloc(DEVICE_TABLE_WORDS * 4, `${name} on the device`);
    const values = this.#arena.alloc(first.byteLength * 2, `${name}/first values`);
    const text = new TextEncoder().encode(name);
    const nameAt = this.#arena.alloc(text.length, `${name}/name`);
    u8.set(text, nameAt);
    f32.set(first, values / 4);
    f32.set(range, values / 4 + first.length);
    const word = record / 4;
    u32[word + DEVICE_TABLE.table] = table;
    u32[word + DEVICE_TABLE.validity] = ON_HOST;
    u32[word + DEVICE_TABLE.rowsAtFirst] = rows ?? ROWS_AT_FIRST;
    u32[word + DEVICE_TABLE.grows] = grows ? 1 : 0;
    u32[word + DEVICE_TABLE.first] = values;
    u32[word + DEVICE_TABLE.range] = values + first.byteLength;
    u32[word + DEVICE_TABLE.name] = nameAt;
    u32[word + DEVICE_TABLE.nameBytes] = text.length;
    const resident = new ResidentTable(this.#views, this.#driver, record, name);
    this.#tables.push(resident);
    return resident;
  }

  /** The device's memory is about to be given back. */
  close(): void {
    for (const table of this.#tables) table.close();
  }
}

export class ResidentTable implements TableHome {
  readonly record: number;
  readonly #name: string;
  readonly #views: Views;
  readonly #driver: CudaDriver;
  #closed = false;

  constructor(views: Views, driver: CudaDriver, record: number, name: string) {
    this.record = record;
    this.#views = views;
    this.#driver = driver;
    this.#name = name;
  }

  /** Whether the host's table holds the newest rows. */
  get isHome(): boolean {
    return (this.#word(DEVICE_TABLE.validity) & ON_HOST) !== 0;
  }

  /**
   * Rows on the device, which has the newest. Blocks until its work is done. The table on the host gets its other
   * counts.
   */
  count(): number {
    this.#refuseClosed();
    const counters = new Uint32Array(DEVICE_COUNTERS);
    this.#driver.synchronize();
    this.#download(counters, DEVICE_TABLE.counters, 0);
    const bad = this.#word(DEVICE_TABLE.table) / 4 + TABLE.badGradientRows;
    Atomics.store(this.#views.u32, bad, counters[DEVICE_COUNTER.badGradients]!);
    return counters[DEVICE_COUNTER.rows]!;
  }

  /** All rows of the device. A row is good until the next one is taken. */
  *rows(): Generator<AwayRow> {
    const count = this.count();
    const rowFloats = this.#views.u32[this.#word(DEVICE_TABLE.table) / 4 + TABLE.rowBytes]! / 4;
    const chunk = Math.max(1, Math.floor(CHUNK_BYTES / (rowFloats * 4)));
    for (let from = 0; from < count; from += chunk) {
      const rows = Math.min(chunk, count - from);
      const [ids, times] = [new BigInt64Array(rows), new Uint32Array(rows)];
      const floats = new Float32Array(rows * rowFloats);
      this.#download(ids, DEVICE_TABLE.ids, from * 8);
      this.#download(times, DEVICE_TABLE.times, from * 4);
      this.#download(floats, DEVICE_TABLE.rows, from * rowFloats * 4);
      for (let i = 0; i < rows; i++) {
        const row = floats.subarray(i * rowFloats, (i + 1) * rowFloats);
        yield { id: ids[i]!, lastUpdateSec: times[i]!, floats: row };
      }
    }
  }

  /** The host's table has all rows now. */
  cameHome(): void {
    this.#views.u32[this.record / 4 + DEVICE_TABLE.validity]! |= ON_HOST;
  }

  /** The host's table was written, or is about to be: what the device has is old. */
  changed(): void {
    this.#views.u32[this.record / 4 + DEVICE_TABLE.validity] = ON_HOST;
  }

  close(): void {
    this.#closed = true;
  }

  refuseHandle(): never {
    throw tableRefusal(this.#name, 'another thread is to work on it', 'leave the table on the host');
  }

  #word(word: number): number {
    return this.#views.u32[this.record / 4 + word]!;
  }

  #download(to: BigInt64Array | Uint32Array | Float32Array, word: number, offset: number): void {
    const at = readAddress(this.#views.u32, this.record / 4 + word) + offset;
    this.#driver.download(to, { at: () => at });
  }

  #refuseClosed(): void {
    if (!this.#closed) return;
    const hint = 'its rows were on the device: save or read them before the session is closed';
    throw new MonolithError('ML_CLOSED', { what: `the session of table ${this.#name}` }, { hint });
  }
}
