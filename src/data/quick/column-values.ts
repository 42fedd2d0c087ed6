/**
 * @file The values of a column of Parquet as those of a field: numbers and texts as they stand in a page, or by index
 * out of a dictionary, whose values were made once. What kernels leave is encoded as cells of rows are.
 */
import { CELL, CELL_KIND, CELL_WORDS, DECODE } from '../../memory/decode-layout.js';
import { RUNS, RUNS_WORDS } from '../../memory/pages-layout.js';
import type { BlockMaker } from './block.js';
import type { CellPlan } from './cell-plans.js';
import { CELL_BYTES_OF } from './cell-plans.js';
import type { Bytes, ColumnPages, Page } from './column-pages.js';
import { isDictionary } from './column-pages.js';
import { ENCODING } from './page-header.js';
import type { PageMemory } from './page-memory.js';
import type { ColumnShape } from './parquet-shape.js';
import { rawValue } from './raw-value.js';

/** Arrays that columns share, of a word or two for each row of a block. */
export interface Scratch {
  readonly mask: number;
  readonly indices: number;
  readonly texts: number;
  readonly values: number;
}

export interface ColumnTools {
  readonly maker: BlockMaker;
  readonly memory: PageMemory;
  readonly scratch: Scratch;
}

const FOREVER = 0xffffffff;

export class ColumnValues {
  /** Whether an id, one of several of a row, is made of a value. */
  readonly #isOfMany: boolean;
  /** Whether texts have to be parted first: what they are is told by their addresses. */
  readonly isParted: boolean;
  /** Address of the field in the plan. */
  readonly field: number;
  readonly #index: number;
  readonly #cell: CellPlan;
  readonly #tools: ColumnTools;
  readonly #shape: ColumnShape;
  readonly #pages: ColumnPages;
  readonly #runs: number;
  readonly #bytesOfValue: 4 | 8;
  readonly #kind: number;
  /** Of a page without indices, where its next value is. */
  #at = 0;
  #end = 0;
  #byIndex = false;
  /** How many values the dictionary has; where they are, and those that no value could be made of. */
  #known = 0;
  readonly #made;
  readonly #texts;
  readonly #left = new Set<number>();

  constructor(tools: ColumnTools, index: number, shape: ColumnShape, pages: ColumnPages) {
    this.#tools = tools;
    this.#index = index;
    this.#shape = shape;
    this.#pages = pages;
    const { decoder, cells } = tools.maker;
    this.#cell = cells[index]!;
    this.#kind = this.#cell.words.kind;
    this.#isOfMany = this.#kind === CELL_KIND.ids;
    this.isParted = this.#isOfMany && !shape.isList && shape.form.kind === 'text';
    this.#bytesOfValue = CELL_BYTES_OF[this.#kind] === 'f32' ? 4 : 8;
    this.field = decoder.word(DECODE.fields) + index * CELL_WORDS * 4;
    this.#runs = tools.memory.take(RUNS_WORDS * 4);
    this.#made = tools.memory.room();
    this.#texts = tools.memory.room();
  }

  /** Forgets the dictionary of the row group before. */
  reset(): void {
    this.#known = 0;
    this.#left.clear();
    if (this.#shape.form.kind === 'boolean') this.#makeBooleans();
  }

  /** Takes over the values of a page; false for those that have to be read as rows. */
  begin({ header, values }: Page): boolean {
    const { encoding } = header;
    if (header.kind === 'dictionary') return this.#beginDictionary(header.values, values);
    const isBoolean = this.#shape.form.kind === 'boolean';
    this.#byIndex = isBoolean || isDictionary(encoding);
    if (!isBoolean && isDictionary(encoding)) {
      if (values.at === values.end) startRuns(this.#tools, this.#runs, values, 0);
      else this.#beginIndices(values);
      return true;
    }
    if (isBoolean && encoding === ENCODING.runs) {
      startRuns(this.#tools, this.#runs, { at: Math.min(values.at + 4, values.end), end: values.end }, 1);
      return true;
    }
    if (encoding !== ENCODING.plain) return false;
    this.#at = values.at;
    this.#end = values.end;
    if (isBoolean) startBits(this.#tools, this.#runs, values);
    return true;
  }

  /** Writes the next `count` values to `to`; false where one of them has to be read as a row. */
  read(to: number, count: number): boolean {
    if (this.#byIndex) return this.#pick(this.#made.at, this.#bytesOfValue, to, count);
    const { form } = this.#shape;
    if (form.kind === 'text') {
      const { texts } = this.#tools.scratch;
      this.addresses(texts, count);
      return this.#makeTexts(texts, to, count);
    }
    const bytes = form.kind === 'boolean' ? 0 : form.bytes;
    if (count * bytes > this.#end - this.#at) throw this.#pages.damaged('its values are cut off');
    const from = this.#at;
    this.#at += count * bytes;
    return this.#makeNumbers(from, to, count);
  }

  /** Writes the addresses of the next `count` texts. */
  addresses(to: number, count: number): void {
    if (this.#byIndex) {
      this.#pick(this.#texts.at, 4, to, count);
      return;
    }
    const { kernels } = this.#tools.maker.decoder;
    const end = kernels.findTexts(this.#at, this.#end, to, count) >>> 0;
    if (end === 0) throw this.#pages.damaged('its texts are cut off');
    this.#at = end;
  }

  #beginIndices({ at, end }: Bytes): void {
    const width = this.#tools.maker.decoder.bytes[at]!;
    if (width > 32) throw this.#pages.damaged(`indices of ${width} bits`);
    startRuns(this.#tools, this.#runs, { at: at + 1, end }, width);
  }

  #pick(from: number, bytes: 4 | 8, to: number, count: number): boolean {
    const { indices } = this.#tools.scratch;
    const { kernels, words } = this.#tools.maker.decoder;
    if (kernels.readRuns(this.#runs, indices, count) < count) throw this.#pages.damaged('its indices are cut off');
    const pick = bytes === 4 ? kernels.pick32 : kernels.pick64;
    const picked = pick(from, this.#known, indices, to, count);
    if (picked < count) {
      const index = words[indices / 4 + picked]! >>> 0;
      throw this.#pages.damaged(`index ${index} of a dictionary that has ${this.#known} values`);
    }
    if (this.#left.size === 0 || from === this.#texts.at) return true;
    for (let n = 0; n < count; n++) if (this.#left.has(words[indices / 4 + n]!)) return false;
    return true;
  }

  #beginDictionary(count: number, { at, end }: Bytes): boolean {
    const { form } = this.#shape;
    if (form.kind === 'boolean') return false;
    this.#left.clear();
    const { memory } = this.#tools;
    if (count * (form.kind === 'text' ? 4 : form.bytes) > end - at) {
      throw this.#pages.damaged(`a dictionary of ${count} values in ${end - at} bytes`);
    }
    this.#known = count;
    const texts = form.kind === 'text' ? memory.fit(this.#texts, 4 * count) : 0;
    if (texts > 0) {
      const { kernels } = this.#tools.maker.decoder;
      if (kernels.findTexts(at, end, texts, count) === 0) throw this.#pages.damaged('its texts are cut off');
      if (this.isParted) return true;
    }
    const made = memory.fit(this.#made, this.#bytesOfValue * count);
    if (texts > 0) this.#makeTexts(texts, made, count, this.#left);
    else this.#makeNumbers(at, made, count, this.#left);
    return true;
  }

  #makeBooleans(): void {
    const made = this.#tools.memory.fit(this.#made, 2 * this.#bytesOfValue);
    this.#known = 2;
    for (const [index, value] of [false, true].entries()) if (!this.#put(made, index, value)) this.#left.add(index);
  }

  /** Values of numbers from an address on; those that none can be made of are noted, or false is returned. */
  #makeNumbers(from: number, to: number, count: number, left?: Set<number>): boolean {
    const { form } = this.#shape;
    const { plan, kernels } = this.#tools.maker.decoder;
    if (form.kind !== 'number' && form.kind !== 'time') return false;
    for (let done = 0; ; done++) {
      const [source, target] = [from + done * form.bytes, to + done * this.#bytesOfValue];
      const rest = count - done;
      done +=
        form.kind === 'time'
          ? kernels.readTimes(form.perSecond, source, target, rest)
          : kernels.readNumbers(form.type, this.#kind, plan, this.field, source, target, rest);
      if (done === count) return true;
      if (this.#put(to, done, rawValue(this.#tools.maker.decoder.bytes, from + done * form.bytes, form))) continue;
      if (left === undefined) return false;
      left.add(done);
    }
  }

  #makeTexts(texts: number, to: number, count: number, left?: Set<number>): boolean {
    const { decoder } = this.#tools.maker;
    const { plan, kernels } = decoder;
    for (let done = 0; ; done++) {
      if (this.#isOfMany) {
        done += kernels.readTextIds(plan, this.field, texts + 4 * done, to + 8 * done, count - done);
      } else {
        decoder.words[this.field / 4 + CELL.to] = to;
        done = kernels.readTexts(plan, this.field, 0, texts + 4 * done, done, count);
      }
      if (done === count) return true;
      const at = decoder.words[texts / 4 + done]!;
      if (this.#put(to, done, rawValue(decoder.bytes, at, this.#shape.form))) continue;
      if (left === undefined) return false;
      left.add(done);
    }
  }

  /** Writes the value of a cell in the place of a number; false where it has none of its own. */
  #put(to: number, place: number, cell: unknown): boolean {
    // A double is kept until a function was applied, which is done here already.
    if (this.#kind === CELL_KIND.double) return this.#putDouble(to, place, cell);
    const given = this.#isOfMany && this.#shape.isList ? [cell] : cell;
    const [feed] = this.#tools.maker.encode(this.#index, given) ?? [];
    if (feed === undefined || feed.values.length !== 1) return false;
    const { buffer } = this.#tools.maker.decoder.bytes;
    if (feed.kind === 'dense') new Float32Array(buffer, to, place + 1)[place] = feed.values[0]!;
    else new BigInt64Array(buffer, to, place + 1)[place] = feed.values[0]!;
    return true;
  }

  #putDouble(to: number, place: number, cell: unknown): boolean {
    if (typeof cell !== 'boolean') return false;
    new Float64Array(this.#tools.maker.decoder.bytes.buffer, to, place + 1)[place] = Number(cell);
    return true;
  }
}

/** Has runs begin: of no bits there is one value, which is 0. */
export function startRuns({ maker }: ColumnTools, runs: number, { at, end }: Bytes, width: number): void {
  const word = runs / 4;
  const { words } = maker.decoder;
  words[word + RUNS.at] = at;
  words[word + RUNS.end] = end;
  words[word + RUNS.width] = width;
  words[word + RUNS.left] = width === 0 ? FOREVER : 0;
  words[word + RUNS.packed] = 0;
  words[word + RUNS.value] = 0;
}

/** The same of bits that are packed without a word about it. */
function startBits(tools: ColumnTools, runs: number, bytes: Bytes): void {
  startRuns(tools, runs, bytes, 1);
  const word = runs / 4;
  const { words } = tools.maker.decoder;
  words[word + RUNS.left] = FOREVER;
  words[word + RUNS.packed] = 1;
  words[word + RUNS.bit] = 0;
  words[word + RUNS.next] = bytes.end;
}
