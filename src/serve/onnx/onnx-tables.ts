/**
 * @file Embedding tables as nodes of ONNX: ids to rows by a LabelEncoder, rows to vectors by Gather, vectors pooled.
 *
 * Ids of a feature that has any number of them are `[batch, most]`, with -1 after the last of an example.
 */
import type { Feed, Pooling, TableRows, Value } from '../standard/standard-graph.js';
import { ONNX_DTYPE } from './messages.js';
import type { OnnxNodes } from './onnx-nodes.js';

/** Domain of LabelEncoder. */
export const ML_DOMAIN = 'ai.onnx.ml';
/** Stands after the last id of an example. */
const PADDING = -1n;
const FLOAT = { to: ONNX_DTYPE.FLOAT };

interface TableNodes {
  readonly rows: string;
  readonly keys: BigInt64Array;
  readonly places: BigInt64Array;
}

export class OnnxTables {
  readonly #nodes: OnnxNodes;
  readonly #tables = new Map<string, TableNodes>();

  constructor(nodes: OnnxNodes) {
    this.#nodes = nodes;
  }

  lookup(feed: Feed, table: TableRows, pooling: Pooling, columns?: readonly [number, number]): Value {
    const vectors = this.#vectors(feed, table, this.#ids(feed, columns));
    if (typeof pooling === 'object') {
      const sizes = [pooling.firstN, table.dim];
      const name = this.#firstOf(feed.name, vectors, pooling.firstN, 3);
      return { name, perExample: true, sizes };
    }
    const sum = this.#nodes.add(`${feed.name}/sum`, 'ReduceSum', [vectors, this.#nodes.ints([1])], { keepdims: 0 });
    const made = { perExample: true, sizes: [table.dim] };
    if (pooling === 'sum' || feed.kind !== 'ragged') return { ...made, name: sum };
    const count = [this.#present(feed), this.#nodes.ints([1])];
    const counts = this.#nodes.add(`${feed.name}/count`, 'ReduceSum', count, { keepdims: 1 });
    const least = this.#nodes.add(`${feed.name}/least`, 'Max', [counts, this.#nodes.float(1)]);
    return { ...made, name: this.#nodes.add(`${feed.name}/mean`, 'Div', [sum, least]) };
  }

  sequenceMask(feed: Feed, n: number): Value {
    const name = this.#firstOf(`${feed.name}/mask`, this.#present(feed), n, 2);
    return { name, perExample: true, sizes: [n] };
  }

  /** Ids of the feed, or some of its columns. */
  #ids({ name, width }: Feed, columns?: readonly [number, number]): string {
    if (columns === undefined || (columns[0] === 0 && columns[1] === width)) return name;
    const [starts, ends] = columns;
    const inputs = [name, this.#nodes.ints([starts]), this.#nodes.ints([ends]), this.#nodes.ints([1])];
    return this.#nodes.add(`${name}/ids`, 'Slice', inputs);
  }

  /** `[batch, ids, dim]`; zeros for ids that are not there. */
  #vectors({ name, kind }: Feed, table: TableRows, ids: string): string {
    const { rows, keys, places } = this.#table(table);
    const maps = { keys_int64s: keys, values_int64s: places, default_int64: 0 };
    const found = this.#nodes.add(`${name}/row`, 'LabelEncoder', [ids], maps, ML_DOMAIN);
    // Where the padding is an id of the table too, it must not find its row.
    const place =
      kind === 'ragged' && keys.includes(PADDING)
        ? this.#nodes.add(`${name}/row`, 'Where', [this.#padding(name), this.#nodes.int(0), found])
        : found;
    return this.#nodes.add(`${name}/gather`, 'Gather', [rows, place], { axis: 0 });
  }

  #table({ name, dim, ids, rows }: TableRows): TableNodes {
    const known = this.#tables.get(name);
    if (known !== undefined) return known;
    // Row 0 is that of ids that are not there. An encoder has at least one key.
    const all = new Float32Array((ids.length + 1) * dim);
    all.set(rows, dim);
    const keys = ids.length === 0 ? BigInt64Array.of(0n) : ids;
    const places = BigInt64Array.from(keys, (_, row) => (ids.length === 0 ? 0n : BigInt(row + 1)));
    const made = { rows: this.#nodes.floats(`emb/${name}/table`, all, [ids.length + 1, dim]), keys, places };
    this.#tables.set(name, made);
    return made;
  }

  #padding(name: string): string {
    return this.#nodes.add(`${name}/padding`, 'Equal', [name, this.#nodes.int(Number(PADDING))]);
  }

  /** 1 for each place that has an id. */
  #present({ name }: Feed): string {
    const isThere = this.#nodes.add(`${name}/is_there`, 'Not', [this.#padding(name)]);
    return this.#nodes.add(`${name}/there`, 'Cast', [isThere], FLOAT);
  }

  /** The first `n` of axis 1, with zeros where there are fewer. */
  #firstOf(name: string, x: string, n: number, rank: number): string {
    const pads = new Array<number>(2 * rank).fill(0);
    pads[rank + 1] = n;
    const padded = this.#nodes.add(`${name}/padded`, 'Pad', [x, this.#nodes.ints(pads)]);
    const cut = [padded, this.#nodes.ints([0]), this.#nodes.ints([n]), this.#nodes.ints([1])];
    return this.#nodes.add(`${name}/first_n`, 'Slice', cut);
  }
}
