/** @file Blocks of the rows of all files of a plan, in order, with what was found out on the way. */
import { MonolithError } from '../../base/errors.js';
import type { WasmModule } from '../../base/wasm-types.js';
import type { FeedData } from '../../memory/batch.js';
import { feedOf } from '../../tensor/feed-values.js';
import { encodeRows } from '../encode-rows.js';
import { textId } from '../farmhash.js';
import { badRowsOf } from '../files/bad-rows.js';
import { csvOptionsOf, type Findings } from '../files/file-rows.js';
import { type DataRow, hasColumn } from '../files/place.js';
import type { Row } from '../row.js';
import { type Features, Schema } from '../schema.js';
import type { Block, BlockMaker } from './block.js';
import { byteSource } from './byte-source.js';
import { type CellPlan, cellPlans } from './cell-plans.js';
import { CsvLines } from './csv-lines.js';
import { Decoder } from './decoder.js';
import { ExampleBlocks } from './example-blocks.js';
import { JsonLines } from './json-lines.js';
import { LineBlocks } from './line-blocks.js';
import { ParquetBlocks } from './parquet-blocks.js';
import { type QuickPlan, quickFormat, schemaOf } from './quick-plan.js';
import { keyColumn, stepsInOrder } from './row-stream.js';

const BLOCK_ROWS = 1024;

type ColumnOf = NonNullable<Parameters<BlockMaker['block']>[1]>;

export class FileBlocks {
  readonly schema: Schema<Features>;
  readonly findings: Findings = { forms: new Map(), badRows: 0, badRowErrors: [] };
  readonly #plan: QuickPlan;
  readonly #decoder: Decoder;
  readonly #cells: readonly CellPlan[];
  readonly #key: string | undefined;
  #onBadRow: (error: MonolithError) => void;

  constructor(plan: QuickPlan, module: WasmModule) {
    this.#plan = plan;
    this.schema = schemaOf(plan);
    this.#key = keyColumn(stepsInOrder(plan.steps)!);
    this.#cells = cellPlans(this.schema, BLOCK_ROWS, this.#key);
    const { nulls = [] } = plan.options;
    const of = (column: string) => [...nulls, ...(plan.nulls[column] ?? [])];
    this.#decoder = new Decoder({ module, cells: this.#cells, blockRows: BLOCK_ROWS, nulls: of });
    this.#onBadRow = badRowsOf(plan.options, this.findings);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Block> {
    // How many may be left out is a limit of each pass.
    this.#onBadRow = badRowsOf(this.#plan.options, this.findings);
    const maker: BlockMaker = {
      decoder: this.#decoder,
      cells: this.#cells,
      block: (rows, columnOf) => this.#block(rows, columnOf),
      encode: (index, cell) => this.#encodeCell(index, cell),
      slowBlock: (rows: readonly DataRow[]) => this.#slowBlock(rows),
      onBadRow: this.#onBadRow,
    };
    for (const file of this.#plan.files) yield* this.#blocksOf(file, maker);
  }

  /** Blocks of one file, by its format. */
  async *#blocksOf(file: string, maker: BlockMaker): AsyncGenerator<Block> {
    const format = quickFormat(file, this.#plan.options);
    if (format === undefined) throw new MonolithError('ML_INTERNAL', { reason: `${file} has no decoder` });
    if (format === 'parquet') {
      yield* new ParquetBlocks(file, maker).blocks();
      return;
    }
    const source = byteSource(file);
    try {
      switch (format) {
        case 'csv': {
          const onForm = this.findings.forms.set.bind(this.findings.forms, file);
          const lines = new CsvLines(file, csvOptionsOf(this.#plan.options), maker, onForm);
          yield* new LineBlocks(file, maker, lines).blocks(source);
          break;
        }
        case 'jsonl':
          yield* new LineBlocks(file, maker, new JsonLines(file, maker)).blocks(source);
          break;
        case 'tfrecord':
          yield* new ExampleBlocks(file, maker).blocks(source);
          break;
        default:
          format satisfies never;
      }
    } finally {
      await source.close();
    }
  }

  #block(rows: number, columnOf: ColumnOf = (index, count) => this.#decoder.columns(index, count)): Block {
    const feeds: FeedData[] = [];
    let keys: BigInt64Array | undefined;
    for (const [index, cell] of this.#cells.entries()) {
      const { feed, weights } = columnOf(index, rows);
      if (cell.name === this.#key && index === this.#cells.length - 1) keys = feed.values as BigInt64Array;
      else feeds.push(feed);
      if (weights !== undefined) feeds.push({ kind: 'dense', values: weights });
    }
    return { rows, feeds, keys };
  }

  /** Rows as objects, encoded as everywhere else. */
  #slowBlock(given: readonly DataRow[]): Block | undefined {
    const rows = this.#cleaned(given);
    let left = rows.map((row, offset) => ({ row, offset }));
    for (;;) {
      if (left.length === 0) return undefined;
      try {
        const feeds = encodedIn(
          this.schema,
          left.map(({ row }) => row),
        );
        const keys = this.#key && BigInt64Array.from(left, ({ row }) => textId(String(row[this.#key!])));
        const numbers = { count: rows.length, offsets: left.map(({ offset }) => offset) };
        return { rows: left.length, feeds, keys: keys === '' ? undefined : keys, numbers };
      } catch (error) {
        if (!(error instanceof MonolithError) || error.code !== 'ML_DATA') throw error;
        this.#onBadRow(error);
        left = left.filter((_, index) => index !== Number(error.fields.row));
      }
    }
  }

  #encodeCell(index: number, cell: unknown): readonly FeedData[] | undefined {
    const { name, column } = this.#cells[index]!;
    if (index === this.#cells.length - 1 && this.#key !== undefined) {
      return [{ kind: 'ids', values: BigInt64Array.of(textId(String(cell))) }];
    }
    try {
      const schema = new Schema({ [name]: this.schema.features[name]! });
      return encodedIn(schema, this.#cleaned([{ [column]: cell }]));
    } catch (error) {
      if (error instanceof MonolithError && error.code === 'ML_DATA') return undefined;
      throw error;
    }
  }

  #cleaned(rows: readonly DataRow[]): readonly DataRow[] {
    for (const [column, texts] of Object.entries(this.#plan.nulls)) {
      for (const row of rows as readonly Record<string, unknown>[]) {
        if (texts.includes(row[column] as string)) row[column] = '';
      }
    }
    // A column that a row lacks is a missing value, even where this row is alone.
    for (const row of rows as readonly Record<string, unknown>[]) {
      for (const { column } of this.#cells) if (!hasColumn(row, column)) row[column] = undefined;
    }
    return rows;
  }
}

function encodedIn(schema: Schema<Features>, rows: readonly DataRow[]): FeedData[] {
  const values = encodeRows(schema, rows as readonly Row<Features>[]).feeds as Readonly<Record<string, unknown>>;
  return schema.specs.map((spec) => feedOf(spec, values[spec.name], () => undefined));
}
