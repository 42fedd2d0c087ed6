/**
 * @file A table in the memory of a device: its index, ids, rows and times there, filled from the host's table, and
 * grown.
 *
 * How many rows there are is known to the device. The host counts the ids that may have been new since it last asked,
 * and asks again, which waits for the device, only when these might not fit.
 */
import { MonolithError } from '../../../base/errors.js';
import {
  DEVICE_COUNTER,
  DEVICE_COUNTERS,
  DEVICE_SLOT_WORDS,
  DEVICE_TABLE,
  writeAddress,
} from '../../../memory/device-table-layout.js';
import { ON_DEVICE } from '../../../memory/placement-layout.js';
import { secretOf } from '../../../memory/secret.js';
import { TABLE } from '../../../memory/table-layout.js';
import type { Views } from '../../../memory/views.js';
import type { Device, DeviceSpan } from './device.js';
import type { DeviceMemory } from './device-memory.js';
import { countHostRows, HostRows } from './host-rows.js';

/** Rows that are uploaded at once. */
const UPLOAD_ROWS = 4096;
const SLOT_BYTES = DEVICE_SLOT_WORDS * 4;
/** What free slots are filled with. */
const EMPTY_BYTE = 0xff;

interface Spans {
  readonly rowsMax: number;
  readonly index: DeviceSpan;
  readonly rows: DeviceSpan;
  readonly ids: DeviceSpan;
  readonly times: DeviceSpan;
}

export class DeviceTable {
  readonly counters: DeviceSpan;
  readonly first: DeviceSpan;
  readonly range: DeviceSpan;
  readonly rowFloats: number;
  /** Word of the control block on the host. */
  readonly control: number;
  readonly #device: Device;
  readonly #memory: DeviceMemory;
  readonly #views: Views;
  readonly #record: number;
  readonly #counts = new Uint32Array(DEVICE_COUNTERS);
  #spans: Spans | null = null;
  /** Rows there are at the most. */
  #bound = 0;
  #version = 0;

  constructor(device: Device, memory: DeviceMemory, views: Views, record: number) {
    this.#device = device;
    this.#memory = memory;
    this.#views = views;
    this.#record = record / 4;
    this.control = this.#word('table') / 4;
    const rowBytes = views.u32[this.control + TABLE.rowBytes]!;
    this.rowFloats = rowBytes / 4;
    this.counters = memory.alloc(DEVICE_COUNTERS * 4);
    [this.first, this.range] = (['first', 'range'] as const).map((name) => {
      const span = memory.alloc(rowBytes);
      device.uploadNow(span, views.u8.subarray(this.#word(name), this.#word(name) + rowBytes));
      return span;
    }) as [DeviceSpan, DeviceSpan];
    writeAddress(views.u32, this.#record + DEVICE_TABLE.counters, this.counters.address);
  }

  #word(name: keyof typeof DEVICE_TABLE): number {
    return this.#views.u32[this.#record + DEVICE_TABLE[name]]!;
  }

  /** Another number whenever the memory is another. */
  get version(): number {
    return this.#version;
  }

  get spans(): Spans {
    return this.#spans!;
  }

  /** Slots of the index less one, but for that of the id that marks free slots. */
  get mask(): number {
    return slotsFor(this.spans.rowsMax) - 1;
  }

  get name(): string {
    const at = this.#word('name');
    return new TextDecoder().decode(this.#views.u8.slice(at, at + this.#word('nameBytes')));
  }

  /** Makes the device's rows the newest, if they are not. */
  prepare(): void {
    if (this.#word('validity') & ON_DEVICE) return;
    const rows = countHostRows(this.#views, this.control);
    const least = this.#spans?.rowsMax ?? this.#word('rowsAtFirst');
    if (rows > least && this.#word('grows') === 0) throw this.#full(rows, 0);
    const rowsMax = rows > least ? 2 ** Math.ceil(Math.log2(rows * 2)) : least;
    if (this.#spans === null || this.#spans.rowsMax < rowsMax) {
      const old = this.#spans;
      // Nothing of the old one is needed: its place may be where the new one goes.
      this.#spans = null;
      if (old !== null) this.#release(old);
      this.#use(this.#allocate(rowsMax));
    }
    this.#upload();
    this.#counts.set([rows, this.#views.u32[this.control + TABLE.badGradientRows]!, 0]);
    this.#device.uploadNow(this.counters, new Uint8Array(this.#counts.buffer));
    this.#reindex(rows);
    this.#bound = rows;
    this.#views.u32[this.#record + DEVICE_TABLE.validity]! |= ON_DEVICE;
  }

  /**
   * Makes room for `more` new rows at the most. ML_GPU_TABLE_FULL, or ML_CUDA_MEMORY when the device has no more
   * memory.
   */
  reserve(more: number): void {
    const { rowsMax } = this.spans;
    if (this.#bound + more > rowsMax) {
      const rows = this.readCounts()[DEVICE_COUNTER.rows]!;
      const fits = rows + more <= rowsMax;
      if (this.#word('grows') === 0 ? !fits : rows + more > rowsMax * 0.75) this.#grow(rows, more, fits);
    }
    this.#bound += more;
  }

  /** The counters as they are once all work is done. */
  readCounts(): Uint32Array {
    this.#device.downloadNow(new Uint8Array(this.#counts.buffer), this.counters);
    if (this.#counts[DEVICE_COUNTER.noRoom] !== 0) {
      throw new MonolithError('ML_INTERNAL', { reason: `table ${this.name} ran out of the room that was kept for it` });
    }
    this.#bound = this.#counts[DEVICE_COUNTER.rows]!;
    return this.#counts;
  }

  /** By which ids are placed in the index. */
  get secret(): number {
    return Number(BigInt.asUintN(32, secretOf(this.#views) >> 8n));
  }

  /** The device has stepped rows: the host's are old. */
  stepped(): void {
    this.#views.u32[this.#record + DEVICE_TABLE.validity] = ON_DEVICE;
  }

  #grow(rows: number, more: number, fits: boolean): void {
    const old = this.spans;
    if (this.#word('grows') === 0) throw this.#full(rows, more);
    let spans: Spans;
    try {
      spans = this.#allocate(2 ** Math.ceil(Math.log2((rows + more) * 2)));
    } catch (thrown) {
      // As long as it fits, it stays as it is.
      if (fits && thrown instanceof MonolithError && thrown.code === 'ML_CUDA_MEMORY') return;
      throw thrown;
    }
    for (const [from, to, bytes] of [
      [old.rows, spans.rows, rows * this.rowFloats * 4],
      [old.ids, spans.ids, rows * 8],
      [old.times, spans.times, rows * 4],
    ] as const) {
      if (bytes > 0) this.#device.copy(to, from, bytes);
    }
    this.#use(spans);
    this.#reindex(rows);
    this.#release(old);
  }

  #launch(kernel: string, ...operands: number[]): void {
    this.#device.prepare(kernel, operands).start();
  }

  #allocate(rowsMax: number): Spans {
    const made: DeviceSpan[] = [];
    const rowBytes = this.rowFloats * 4;
    const alloc = (bytes: number) => {
      made.push(this.#memory.alloc(Math.ceil(bytes / 16) * 16));
      return made.at(-1)!;
    };
    try {
      const index = alloc((slotsFor(rowsMax) + 1) * SLOT_BYTES);
      const rows = alloc((rowsMax + 1) * rowBytes);
      return { rowsMax, index, rows, ids: alloc(rowsMax * 8), times: alloc(rowsMax * 4) };
    } catch (thrown) {
      for (const span of made) this.#memory.free(span);
      if (!(thrown instanceof MonolithError) || thrown.code !== 'ML_CUDA_MEMORY') throw thrown;
      const size = `${rowsMax} rows of ${rowBytes} bytes and their index take ${bytesFor(rowsMax, rowBytes)} bytes`;
      const reason = `table ${this.name} does not fit: ${size}; ${thrown.fields.reason}`;
      const hint = 'give a number of rows (--gpu-table-rows), or leave tables on the host';
      throw new MonolithError('ML_CUDA_MEMORY', { ...thrown.fields, reason }, { hint, cause: thrown });
    }
  }

  #release({ index, rows, ids, times }: Spans): void {
    for (const span of [index, rows, ids, times]) this.#memory.free(span);
  }

  #use(spans: Spans): void {
    const { u32 } = this.#views;
    this.#spans = spans;
    this.#version++;
    u32[this.#record + DEVICE_TABLE.rowsMax] = spans.rowsMax;
    for (const name of ['rows', 'ids', 'times'] as const) {
      writeAddress(u32, this.#record + DEVICE_TABLE[name], spans[name].address);
    }
  }

  /** The index of the `rows` ids that are there, and the row of zeros. */
  #reindex(rows: number): void {
    const { index, ids, rows: values, rowsMax } = this.spans;
    this.#device.fill(index, EMPTY_BYTE);
    if (rows > 0) {
      const place = [index.address, this.mask, ids.address, rows, this.counters.address, this.secret];
      this.#launch('deviceTablePlace', ...place);
    }
    const floats = this.rowFloats;
    this.#launch('zeroRowsF32', values.address + rowsMax * floats * 4, floats, 1, floats);
  }

  #upload(): void {
    const { rows, ids, times } = this.spans;
    const chunks = new HostRows(this.#views, this.control, UPLOAD_ROWS);
    let done = 0;
    for (let count = chunks.next(); count > 0; count = chunks.next()) {
      this.#device.uploadNow(ids, bytesOf(chunks.ids, count), done * 8);
      this.#device.uploadNow(times, bytesOf(chunks.times, count), done * 4);
      this.#device.uploadNow(rows, bytesOf(chunks.words, count * this.rowFloats), done * this.rowFloats * 4);
      done += count;
    }
  }

  #full(rows: number, more: number): MonolithError {
    const rowsMax = this.#spans?.rowsMax ?? this.#word('rowsAtFirst');
    const rowBytes = this.rowFloats * 4;
    const enough = 2 ** Math.ceil(Math.log2(rows + more));
    const bytes = bytesFor(enough, rowBytes);
    const hint = `give it more rows (--gpu-table-rows): ${enough} take ${bytes} bytes of the device`;
    return new MonolithError('ML_GPU_TABLE_FULL', { table: this.name, rows, more, rowsMax, rowBytes }, { hint });
  }
}

/** At most half of the slots are in use. */
function slotsFor(rowsMax: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(rowsMax, 1) * 2));
}

function bytesFor(rowsMax: number, rowBytes: number): number {
  return (slotsFor(rowsMax) + 1) * SLOT_BYTES + (rowsMax + 1) * rowBytes + rowsMax * 12;
}

function bytesOf(values: Uint32Array | BigInt64Array, count: number): Uint8Array {
  return new Uint8Array(values.buffer, 0, count * values.BYTES_PER_ELEMENT);
}
