/**
 * @file The rows of a table as encoded blocks: parsed from its files, or as they were kept when that was done before.
 */
import { MonolithError } from '../base/errors.js';
import { BlockCache, type CacheFound } from '../data/cache/block-cache.js';
import type { CachedBlock } from '../data/cache/block-codec.js';
import { idOf } from '../data/cells.js';
import type { Dataset } from '../data/dataset.js';
import type { CsvForm } from '../data/files/csv-options.js';
import type { DataRow } from '../data/files/place.js';
import { type ColumnSource, columnBlocks } from './column-blocks.js';
import { type BadRows, type BlockEncoder, withFlags } from './encode-blocks.js';
import { quickBatches, quickTable } from './quick-table.js';
import type { Recipe } from './recipe.js';

export const BLOCK_ROWS = 4096;

/** Where parsed rows are kept. */
export interface TableCache {
  /** Default: beside the data. */
  readonly dir?: string;
}

export interface TableBlocksGiven {
  readonly dataset: Dataset;
  /** Rows that report, and nothing else. */
  readonly other: Dataset | undefined;
  readonly recipe: Recipe;
  readonly encoder: BlockEncoder;
  readonly bad: BadRows;
  readonly splitBy: string | undefined;
  /** Rows that were looked at, and those behind them. */
  readonly head: DataRow[][];
  readonly blocks: AsyncIterator<DataRow[]>;
  /** The rows of the data as columns, where it has them. */
  readonly columns: ColumnSource | undefined;
  /** Whether the head is of a table that is worth decoding from its bytes. */
  readonly isLong: boolean;
  readonly cache: TableCache | undefined;
  /** What the files were before the head was read. */
  readonly seen: ReadonlyMap<string, string>;
}

/** What is found out beside the rows. */
interface TableEnd {
  readonly ownRows: number;
  readonly bad: { readonly count: number; readonly examples: readonly string[] };
  readonly forms: readonly (readonly [number, string, CsvForm])[];
}

export class TableBlocks {
  /** Rows of the data itself; those behind it are of `other`. */
  ownRows = 0;
  readonly #given: TableBlocksGiven;
  readonly #cache: BlockCache | undefined;
  #rows = 0;

  constructor(given: TableBlocksGiven) {
    this.#given = given;
    const { cache, recipe, splitBy, bad, dataset, other, seen } = given;
    if (cache === undefined) return;
    const { model: _, ...rows } = recipe;
    const files = [dataset.files, other?.files ?? [], recipe.sides.map(({ file }) => file)].flat();
    const { policy, max } = bad;
    const how = { kind: 'table', rows, splitBy, policy, max, own: dataset.files.length };
    this.#cache = new BlockCache({ dir: cache.dir, files, seen, how });
  }

  /** What the cache did; undefined without one, or where it could not be written. */
  get cached(): CacheFound | undefined {
    return this.#cache?.found;
  }

  async *all(): AsyncGenerator<CachedBlock> {
    const cache = this.#cache;
    if (cache === undefined) yield* this.#parsed();
    else {
      yield* cache.through<TableEnd>(
        () => this.#parsed(),
        () => this.#end(),
        (end) => this.#take(end),
      );
    }
    this.#given.head.length = 0;
    await this.#given.blocks.return?.(undefined);
  }

  async *#parsed(): AsyncGenerator<CachedBlock> {
    const { dataset, other, recipe, encoder, head, blocks, columns, isLong, splitBy, bad } = this.#given;
    const quick = isLong && splitBy === undefined ? quickTable(dataset, recipe, encoder.schemas.all) : undefined;
    if (columns !== undefined && splitBy === undefined && bad.policy === 'stop' && isPlain(recipe)) {
      head.length = 0;
      await blocks.return?.(undefined);
      for (const block of columnBlocks(columns, encoder.schemas, BLOCK_ROWS)) {
        this.#rows += block.rows;
        yield { ...block, keys: undefined };
      }
    } else if (quick === undefined) {
      for (const rows of head.splice(0)) yield this.#encoded(rows);
      for (let next = await nextBlock(blocks); next.done !== true; next = await nextBlock(blocks))
        yield this.#encoded(next.value);
    } else {
      head.length = 0;
      await blocks.return?.(undefined);
      const batches = quickBatches(quick);
      for (let next = await nextBlock(batches); next.done !== true; next = await nextBlock(batches)) {
        this.#rows += next.value.rows;
        yield { ...next.value, keys: undefined };
      }
    }
    this.ownRows = this.#rows;
    if (other !== undefined) for await (const rows of other.batches(BLOCK_ROWS)) yield this.#encoded(rows);
    bad.count += dataset.findings.badRows;
    for (const error of dataset.findings.badRowErrors) if (bad.examples.length < 5) bad.examples.push(error.message);
  }

  #encoded(rows: readonly DataRow[]): CachedBlock {
    const { encoder, splitBy } = this.#given;
    const block = encoder.encode(rows);
    this.#rows += block.data.rows;
    const keys = splitBy === undefined ? undefined : BigInt64Array.from(block.rows, (row) => keyOf(row[splitBy]));
    return { ...block.data, keys };
  }

  get #datasets(): readonly Dataset[] {
    const { dataset, other } = this.#given;
    return other === undefined ? [dataset] : [dataset, other];
  }

  #end(): TableEnd {
    const { count, examples } = this.#given.bad;
    const forms = this.#datasets.flatMap(({ findings }, index) =>
      [...findings.forms].map(([file, form]) => [index, file, form] as const),
    );
    return { ownRows: this.ownRows, bad: { count, examples }, forms };
  }

  #take({ ownRows, bad, forms }: TableEnd): void {
    this.ownRows = ownRows;
    this.#given.bad.count = bad.count;
    this.#given.bad.examples.splice(0, Number.POSITIVE_INFINITY, ...bad.examples);
    for (const [index, file, form] of forms) this.#datasets[index]?.findings.forms.set(file, form);
  }
}

/** Whether rows are encoded as they come: nothing is beside them, and no text stands for a missing value. */
const isPlain = ({ sides, columns }: Recipe): boolean =>
  sides.length === 0 && columns.every(({ nulls }) => nulls === undefined);

/** The next rows; errors with what the command line can do about them. */
export async function nextBlock<T>(blocks: AsyncIterator<T>): Promise<IteratorResult<T>> {
  try {
    return await blocks.next();
  } catch (error) {
    throw error instanceof MonolithError ? withFlags(error) : error;
  }
}

const keyOf = (cell: unknown): bigint =>
  BigInt.asUintN(
    32,
    idOf(cell, (reason) => new MonolithError('ML_DATASET', { reason })),
  );
