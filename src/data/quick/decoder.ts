/**
 * @file Memory of the kernels that decode data files: the plan, columns of a block of rows, and the bytes that are
 * read. Each thread that reads has one of its own.
 */
import type { WasmModule } from '../../base/wasm-types.js';
import type { FeedData } from '../../memory/batch.js';
import {
  CELL,
  CELL_WORDS,
  CHECKSUM_WORDS,
  DECODE,
  DECODE_LIST_MAX,
  DECODE_SCRATCH_BYTES,
  DECODE_SLACK_BYTES,
  DECODE_WORDS,
  NAME,
  NAME_WORDS,
  TEXT_WORDS,
} from '../../memory/decode-layout.js';
import { GrowingMemory } from '../../memory/shared-memory.js';
import { instantiateKernels } from '../../runtime/backends/wasm/instantiate-kernels.js';
import type { WasmKernels } from '../../runtime/backends/wasm/wasm-kernels.js';
import { CELL_BYTES_OF, type CellPlan } from './cell-plans.js';
import { checksumTables } from './checksum-tables.js';

const NULL_PAGE_BYTES = 64;
const POWERS = 23;
const encoder = new TextEncoder();

/** Where the arrays of a field are. */
export interface Place {
  readonly to: number;
  readonly values: number;
  readonly weights: number;
  /** The name of its column. */
  readonly name: number;
  readonly nameBytes: number;
}

/** The values of a field, with the weights of its ids where it has them. */
export interface DecodedColumn {
  readonly feed: FeedData;
  readonly weights?: Float32Array;
}

export interface DecoderOptions {
  readonly module: WasmModule;
  readonly cells: readonly CellPlan[];
  readonly blockRows: number;
  /** Texts that are missing values in all columns, and in some by name of the column. */
  readonly nulls: (column: string) => readonly string[];
}

export class Decoder {
  readonly kernels: WasmKernels;
  readonly blockRows: number;
  readonly #memory = new GrowingMemory();
  readonly #cells: readonly CellPlan[];
  readonly #places: Place[] = [];
  readonly plan: number;
  readonly #input: number;
  readonly #names: { readonly at: number; readonly slots: number };
  #top = NULL_PAGE_BYTES;
  #u32!: Uint32Array;
  #u8!: Uint8Array;

  constructor({ module, cells, blockRows, nulls }: DecoderOptions) {
    this.kernels = instantiateKernels(module, this.#memory.memory);
    this.blockRows = blockRows;
    this.#cells = cells;
    this.plan = this.#take(DECODE_WORDS * 4);
    const fields = this.#take(cells.length * CELL_WORDS * 4);
    const powers = this.#take(POWERS * 8);
    const scratch = this.#take(DECODE_SCRATCH_BYTES);
    const list = this.#take(DECODE_LIST_MAX * 8);
    const checksums = this.#take(CHECKSUM_WORDS * 4);
    // At most a quarter of the slots is taken.
    const slots = 2 ** Math.ceil(Math.log2(4 * cells.length + 4));
    this.#names = { at: this.#take(slots * NAME_WORDS * 4), slots };
    this.#write(this.plan, DECODE.fields, fields);
    this.#write(this.plan, DECODE.powers, powers);
    this.#write(this.plan, DECODE.scratch, scratch);
    this.#write(this.plan, DECODE.list, list);
    this.#write(this.plan, DECODE.checksums, checksums);
    this.#u32.set(checksumTables(), checksums / 4);
    this.#write(this.plan, DECODE.names, this.#names.at);
    this.#write(this.plan, DECODE.nameMask, slots - 1);
    for (let power = 0; power < POWERS; power++) this.#f64(powers + power * 8, 10 ** power);
    for (const cell of cells) this.#places.push(this.#lay(cell, nulls(cell.column)));
    this.#input = this.#take(0);
  }

  /** Bytes of the input; room for `count`, and what decoders read beyond, is made. What is there stays. */
  input(count: number): Uint8Array {
    this.#grow(this.#input + count + DECODE_SLACK_BYTES);
    return this.#u8.subarray(this.#input, this.#input + count + DECODE_SLACK_BYTES);
  }

  /** All of the memory, as it is now: it is another array once there was more room to make. */
  get bytes(): Uint8Array {
    return this.#u8;
  }

  get words(): Uint32Array {
    return this.#u32;
  }

  /** Where the arrays of the field at `index` are. */
  place(index: number): Place {
    return this.#places[index]!;
  }

  /** Address of the input. */
  get from(): number {
    return this.#input;
  }

  /** A word of the plan. */
  word(index: number): number {
    return this.#u32[this.plan / 4 + index]!;
  }

  /** Has rows decoded whose values have the names of their columns. */
  describeNames(): void {
    const columns = [...new Set(this.#cells.map(({ column }) => column))];
    this.describe(({ column }) => columns.indexOf(column), {
      columnCount: columns.length,
      decimalComma: 0,
      firstField: 0,
    });
    const { at, slots } = this.#names;
    this.#u32.fill(0, at / 4, at / 4 + slots * NAME_WORDS);
    const fields = this.word(DECODE.fields);
    let last = -1;
    for (let index = 0; index < this.#cells.length; index++) {
      const field = fields / 4 + index * CELL_WORDS;
      const column = this.#u32[field + CELL.column]!;
      if (column === last) continue;
      last = column;
      const [name, bytes] = [this.#u32[field + CELL.name]!, this.#u32[field + CELL.nameBytes]!];
      const fingerprint = BigInt.asUintN(64, this.kernels.fingerprint64(name, bytes));
      let slot = Number(fingerprint & BigInt(slots - 1));
      while (this.#u32[at / 4 + slot * NAME_WORDS + NAME.field] !== 0) slot = (slot + 1) % slots;
      new BigUint64Array(this.#memory.buffer, at + slot * NAME_WORDS * 4, 1)[0] = fingerprint;
      this.#write(at + slot * NAME_WORDS * 4, NAME.field, index + 1);
    }
  }

  /** Has the lines of a file of these columns decoded; `columnOf` gives the index of a column. */
  describe(columnOf: (cell: CellPlan) => number, more: Partial<Record<keyof typeof DECODE, number>>): void {
    for (const [name, value] of Object.entries(more))
      this.#write(this.plan, DECODE[name as keyof typeof DECODE], value);
    const order = this.#cells.map((cell, index) => ({ column: columnOf(cell), index }));
    order.sort((a, b) => a.column - b.column);
    this.#write(this.plan, DECODE.fieldCount, order.length);
    const fields = this.word(DECODE.fields);
    order.forEach(({ column, index }, at) => {
      const cell = this.#cells[index]!;
      const field = fields + at * CELL_WORDS * 4;
      const lists = { nulls: cell.nullsAt, texts: cell.textsAt, stamp: 0, next: 0 };
      const words = { ...cell.words, column, ...this.#places[index]!, ...lists };
      for (const [name, value] of Object.entries(words)) this.#write(field, CELL[name as keyof typeof CELL], value);
      new Float32Array(this.#memory.buffer, field + CELL.missing * 4, 1)[0] = cell.missing ?? 0;
      this.#write(field, CELL.hasMissing, cell.missing === undefined ? 0 : 1);
      this.#f64(field + CELL.operand * 4, cell.operand);
    });
  }

  /** The arrays of the field at `index`, of `rows` rows: where they are until the next call. */
  columns(index: number, rows: number): DecodedColumn {
    const { words } = this.#cells[index]!;
    const { to, values, weights } = this.#places[index]!;
    const { buffer } = this.#memory;
    switch (CELL_BYTES_OF[words.kind]) {
      case 'f32':
        return { feed: { kind: 'dense', values: new Float32Array(buffer, to, rows * words.width) } };
      case 'i64':
        return { feed: { kind: 'ids', values: new BigInt64Array(buffer, to, rows * words.width) } };
      case 'f64':
        return {
          feed: {
            kind: 'dense',
            values: Float32Array.from(new Float64Array(buffer, to, rows * words.width), (v) =>
              this.#cells[index]!.mapped(v),
            ),
          },
        };
      default: {
        const splits = new Int32Array(buffer, to, rows + 1);
        const ids = new BigInt64Array(buffer, values, splits[rows]);
        const feed = { kind: 'ragged', splits, values: ids } as const;
        return weights === 0 ? { feed } : { feed, weights: new Float32Array(buffer, weights, rows * words.perRow) };
      }
    }
  }

  #lay(cell: CellPlan, nulls: readonly string[]): Place {
    const rows = this.blockRows;
    const { kind, capacity, perRow, width } = cell.words;
    cell.nullsAt = nulls.length === 0 ? 0 : this.#list(nulls);
    cell.textsAt = cell.texts === undefined ? 0 : this.#list(cell.texts);
    const type = CELL_BYTES_OF[kind];
    const values = type === 'splits' ? this.#take(capacity * 8) : 0;
    const bytes = encoder.encode(cell.column);
    const name = this.#take(bytes.length + DECODE_SLACK_BYTES);
    this.#u8.set(bytes, name);
    return {
      to: this.#take(type === 'splits' ? (rows + 1) * 4 : rows * width * (type === 'f32' ? 4 : 8)),
      values,
      weights: perRow === 0 ? 0 : this.#take(rows * perRow * 4),
      name,
      nameBytes: bytes.length,
    };
  }

  /** A list of texts; its address. */
  #list(texts: readonly string[]): number {
    const bytes = texts.map((text) => encoder.encode(text));
    const at = this.#take(4 + texts.length * TEXT_WORDS * 4);
    this.#write(at, 0, texts.length);
    for (const [index, text] of bytes.entries()) {
      const address = this.#take(text.length);
      this.#u8.set(text, address);
      this.#write(at, 1 + index * TEXT_WORDS, address);
      this.#write(at, 2 + index * TEXT_WORDS, text.length);
    }
    return at;
  }

  #take(bytes: number): number {
    const at = Math.ceil(this.#top / 64) * 64;
    this.#grow(at + bytes);
    this.#top = at + bytes;
    return at;
  }

  #grow(bytes: number): void {
    this.#memory.growTo(bytes);
    if (this.#u8?.buffer === this.#memory.buffer) return;
    this.#u8 = new Uint8Array(this.#memory.buffer);
    this.#u32 = new Uint32Array(this.#memory.buffer);
  }

  #write(at: number, word: number, value: number): void {
    this.#u32[at / 4 + word] = value;
  }

  #f64(at: number, value: number): void {
    new Float64Array(this.#memory.buffer, at, 1)[0] = value;
  }
}
