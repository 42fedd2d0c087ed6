/** @file Rows that were read as objects, until there are enough of them for a block. */
import type { DataRow } from '../files/place.js';
import type { Block, BlockMaker } from './block.js';

const ROWS_TOGETHER = 256;

export class SlowRows {
  readonly #maker: BlockMaker;
  #rows: DataRow[] = [];

  constructor(maker: BlockMaker) {
    this.#maker = maker;
  }

  add(row: DataRow): void {
    this.#rows.push(row);
  }

  /** The block of all there are, once they are many. */
  *enough(): Generator<Block> {
    if (this.#rows.length >= ROWS_TOGETHER) yield* this.rest();
  }

  /** The block of all there are: before rows that come behind them. */
  *rest(): Generator<Block> {
    if (this.#rows.length === 0) return;
    const block = this.#maker.slowBlock(this.#rows);
    this.#rows = [];
    if (block !== undefined) yield block;
  }
}
