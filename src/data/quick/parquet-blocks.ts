/**
 * @file A Parquet file as blocks of columns: pages go through the kernels that decode them, row group by row group and
 * page by page. A row group whose columns are of another kind, or what is left of one behind a row that has to be
 * looked at, comes by way of hyparquet as rows, so that both ways give the same.
 */
import type { ColumnMetaData } from 'hyparquet';
import { ParquetFile } from '../files/parquet-file.js';
import type { ParquetGroup } from '../files/parquet-groups.js';
import { inBlocks } from '../files/parquet-rows.js';
import type { Block, BlockMaker } from './block.js';
import { noColumn } from './check-columns.js';
import { ColumnPages } from './column-pages.js';
import type { ColumnTools, Scratch } from './column-values.js';
import { ListColumn } from './list-column.js';
import { PageCodec } from './page-codec.js';
import { PageMemory } from './page-memory.js';
import { FlatColumn, type RowColumn } from './parquet-column.js';
import { type ColumnShape, columnShape } from './parquet-shape.js';

interface FileColumn {
  readonly path: string;
  readonly column: RowColumn;
}

export class ParquetBlocks {
  readonly #name: string;
  readonly #maker: BlockMaker;

  constructor(file: string, maker: BlockMaker) {
    this.#name = file;
    this.#maker = maker;
  }

  /** Blocks of all rows; one is good until the next is asked for. */
  async *blocks(): AsyncGenerator<Block> {
    const file = await ParquetFile.open(this.#name);
    try {
      const memory = new PageMemory(this.#maker.decoder);
      const codec = new PageCodec(file, memory);
      const columns = this.#columns(file, codec, memory);
      for (const group of file.groups) {
        const chunks = columns && (await chunksOf(columns, group, codec));
        const done = chunks === undefined ? 0 : yield* this.#quickRows(columns!, chunks, group);
        if (done < group.rows) yield* this.#slowRows(file, group, done);
      }
      file.checkEnd();
    } finally {
      file.close();
    }
  }

  /** The columns of the file for each field; undefined where one is read as rows. ML_COLUMN for one that is missing. */
  #columns(file: ParquetFile, codec: PageCodec, memory: PageMemory): FileColumn[] | undefined {
    const { cells, decoder } = this.#maker;
    const names = file.root.children.map(({ element }) => element.name);
    const missing = cells.find(({ column }) => !names.includes(column));
    if (missing !== undefined) throw noColumn(file.name, missing.column, names, cells);
    const shapes = cells.map((cell) => columnShape(file.root, cell)).filter((shape) => shape !== undefined);
    if (shapes.length < cells.length) return undefined;
    decoder.describe((cell) => cells.indexOf(cell), { decimalComma: 0 });
    const tools: ColumnTools = { maker: this.#maker, memory, scratch: scratchIn(memory, decoder.blockRows) };
    return shapes.map((shape: ColumnShape, index) => {
      const levels = { repeats: shape.isList, presence: shape.full > 0 };
      const pages = new ColumnPages({ file, codec, memory }, cells[index]!.column, levels);
      const Column = shape.isList ? ListColumn : FlatColumn;
      return { path: shape.path, column: new Column(tools, index, shape, pages) };
    });
  }

  /** Blocks of rows until one has to be read as an object; how many rows there were. */
  *#quickRows(
    columns: readonly FileColumn[],
    chunks: readonly ColumnMetaData[],
    group: ParquetGroup,
  ): Generator<Block, number> {
    for (const [index, { column }] of columns.entries()) column.open(group, chunks[index]!);
    const { blockRows } = this.#maker.decoder;
    let done = 0;
    while (done < group.rows) {
      let rows = Math.min(blockRows, group.rows - done);
      for (const { column } of columns) rows = Math.min(rows, column.ready());
      if (rows === 0) return done;
      for (const { column } of columns) if (!column.take(rows)) return done;
      yield this.#maker.block(rows, (index, count) => columns[index]!.column.columns(count));
      done += rows;
    }
    return done;
  }

  async *#slowRows(file: ParquetFile, group: ParquetGroup, from: number): AsyncGenerator<Block> {
    const names = [...new Set(this.#maker.cells.map(({ column }) => column))];
    for (const rows of inBlocks(await file.rows(group, from, names))) {
      const block = this.#maker.slowBlock(rows);
      if (block !== undefined) yield block;
    }
  }
}

/** The part of each column in a group; undefined where one stands elsewhere or is compressed in another way. */
async function chunksOf(
  columns: readonly FileColumn[],
  { parts }: ParquetGroup,
  codec: PageCodec,
): Promise<ColumnMetaData[] | undefined> {
  const found: ColumnMetaData[] = [];
  for (const { path } of columns) {
    const part = parts.find(({ meta_data }) => meta_data?.path_in_schema.join('.') === path);
    const chunk = part?.meta_data;
    if (chunk === undefined || part?.file_path || part?.crypto_metadata !== undefined) return undefined;
    if (!(await codec.knows(chunk.codec))) return undefined;
    found.push(chunk);
  }
  return found;
}

function scratchIn(memory: PageMemory, rows: number): Scratch {
  const words = () => memory.take(4 * rows);
  return { mask: words(), indices: words(), texts: words(), values: memory.take(8 * rows) };
}
