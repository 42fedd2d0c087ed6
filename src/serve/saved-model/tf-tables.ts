/** @file Embedding tables as nodes of TensorFlow: ids to rows by a hash table, rows to vectors, vectors pooled. */
import type { Feed, Pooling, TableRows, Value } from '../standard/standard-graph.js';
import { boolAttr, type NodeList, textAttr, typeAttr } from './node-list.js';
import type { TfFeeds } from './tf-feeds.js';

const INT64 = typeAttr('INT64');
const INT32 = typeAttr('INT32');
const FLOAT = typeAttr('FLOAT');

interface TableNodes {
  readonly map: string;
  readonly none: string;
  readonly rows: string;
}

export class TfTables {
  readonly initializers: string[] = [];
  readonly #nodes: NodeList;
  readonly #feeds: TfFeeds;
  readonly #tables = new Map<string, TableNodes>();

  constructor(nodes: NodeList, feeds: TfFeeds) {
    this.#nodes = nodes;
    this.#feeds = feeds;
  }

  lookup(feed: Feed, table: TableRows, pooling: Pooling, columns?: readonly [number, number]): Value {
    if (feed.kind === 'ragged') return this.#ragged(feed, table, pooling);
    const { node } = this.#feeds.dense(feed);
    const [start, end] = columns ?? [0, feed.width];
    const part = [node, this.#nodes.ints([0, start]), this.#nodes.ints([-1, end - start])];
    const ids = this.#nodes.add(`${feed.name}/ids`, 'Slice', part, { T: INT64, Index: INT32 });
    const rows = this.#rows(feed.name, table, ids);
    const sum = [rows, this.#nodes.ints([1])];
    const name = this.#nodes.add(`${feed.name}/sum`, 'Sum', sum, { T: FLOAT, Tidx: INT32, keep_dims: boolAttr(false) });
    return { name, perExample: true, sizes: [table.dim] };
  }

  sequenceMask(feed: Feed, n: number): Value {
    const { indices } = this.#feeds.ragged(feed);
    const ones = this.#ones(`${feed.name}/mask`, this.#column(indices, 0, feed.name));
    return { name: this.#firstOf(`${feed.name}/mask`, indices, ones, [n]), perExample: true, sizes: [n] };
  }

  #table(table: TableRows): TableNodes {
    const known = this.#tables.get(table.name);
    if (known !== undefined) return known;
    const { name, dim, ids } = table;
    const nodes = this.#nodes;
    const map = nodes.add(`emb/${name}/map`, 'HashTableV2', [], {
      key_dtype: INT64,
      value_dtype: INT64,
      shared_name: textAttr(`monolith_${name}`),
      container: textAttr(''),
      use_node_name_sharing: boolAttr(false),
    });
    const places = BigInt64Array.from({ length: ids.length }, (_, row) => BigInt(row + 1));
    const inputs = [map, nodes.int64s(`emb/${name}/keys`, ids), nodes.int64s(`emb/${name}/rows`, places)];
    const types = { Tin: INT64, Tout: INT64 };
    this.initializers.push(nodes.add(`emb/${name}/map/init`, 'LookupTableImportV2', inputs, types));
    // Row 0 is that of ids that are not there.
    const rows = new Float32Array((ids.length + 1) * dim);
    rows.set(table.rows, dim);
    const made = {
      map,
      none: nodes.int64(`emb/${name}/default`, 0n),
      rows: nodes.floats(`emb/${name}/table`, rows, [ids.length + 1, dim]),
    };
    this.#tables.set(name, made);
    return made;
  }

  /** The rows of ids. */
  #rows(feed: string, table: TableRows, ids: string): string {
    const { map, none, rows } = this.#table(table);
    const found = this.#nodes.add(`${feed}/row`, 'LookupTableFindV2', [map, ids, none], { Tin: INT64, Tout: INT64 });
    const attrs = { Tparams: FLOAT, Tindices: INT64, Taxis: INT32 };
    return this.#nodes.add(`${feed}/gather`, 'GatherV2', [rows, found, this.#nodes.int(0)], attrs);
  }

  #ragged(feed: Feed, table: TableRows, pooling: Pooling): Value {
    const { name } = feed;
    const { indices, values } = this.#feeds.ragged(feed);
    const rows = this.#rows(name, table, values);
    if (typeof pooling === 'object') {
      const sizes = [pooling.firstN, table.dim];
      return { name: this.#firstOf(name, indices, rows, sizes), perExample: true, sizes };
    }
    const segment = this.#column(indices, 0, name);
    const sum = this.#segmentSum(`${name}/pool`, rows, segment);
    const made = { perExample: true, sizes: [table.dim] };
    if (pooling === 'sum') return { ...made, name: sum };
    const counts = this.#segmentSum(`${name}/count`, this.#ones(name, segment), segment);
    const column = this.#nodes.add(`${name}/counts`, 'ExpandDims', [counts, this.#nodes.int(1)], {
      T: FLOAT,
      Tdim: INT32,
    });
    return { ...made, name: this.#nodes.add(`${name}/mean`, 'DivNoNan', [sum, column], { T: FLOAT }) };
  }

  /** 1 for each value. */
  #ones(name: string, segment: string): string {
    const ones = this.#nodes.add(`${name}/ones`, 'OnesLike', [segment], { T: INT64 });
    return this.#nodes.add(`${name}/ones/floats`, 'Cast', [ones], { SrcT: INT64, DstT: FLOAT });
  }

  #segmentSum(name: string, data: string, segment: string): string {
    const attrs = { T: FLOAT, Tindices: INT64, Tnumsegments: INT32 };
    return this.#nodes.add(name, 'UnsortedSegmentSum', [data, segment, this.#feeds.batch], attrs);
  }

  /** The number of the example, or the place in it, of each value. */
  #column(indices: string, column: 0 | 1, name: string): string {
    const inputs = [indices, this.#nodes.int(column), this.#nodes.int(1)];
    const attrs = { Tparams: INT64, Tindices: INT32, Taxis: INT32 };
    return this.#nodes.add(`${name}/${column === 0 ? 'segment' : 'place'}`, 'GatherV2', inputs, attrs);
  }

  /** The first of each example's values, zeros where there are fewer: `[batch, ...sizes]`. */
  #firstOf(name: string, indices: string, values: string, sizes: readonly number[]): string {
    const nodes = this.#nodes;
    const [n] = sizes as [number];
    const most = nodes.int64(`${name}/first`, BigInt(n));
    const isFirst = nodes.add(`${name}/is_first`, 'Less', [this.#column(indices, 1, name), most], { T: INT64 });
    const where = nodes.add(`${name}/where`, 'Where', [isFirst], { T: { type: 10 } });
    const squeezed = nodes.add(`${name}/kept`, 'Squeeze', [where], {
      T: INT64,
      squeeze_dims: { list: { i: BigInt64Array.of(1n) } },
    });
    const take = (what: string, from: string, type: typeof INT64) =>
      nodes.add(`${name}/${what}`, 'GatherV2', [from, squeezed, nodes.int(0)], {
        Tparams: type,
        Tindices: INT64,
        Taxis: INT32,
      });
    const batch = nodes.add(`${name}/batch`, 'ExpandDims', [this.#feeds.batch, nodes.int(0)], {
      T: INT32,
      Tdim: INT32,
    });
    const shape32 = nodes.add(`${name}/shape32`, 'ConcatV2', [batch, nodes.ints(sizes), nodes.int(0)], {
      T: INT32,
      N: { i: 2n },
      Tidx: INT32,
    });
    const shape = nodes.add(`${name}/shape`, 'Cast', [shape32], { SrcT: INT32, DstT: INT64 });
    const inputs = [take('indices', indices, INT64), take('values', values, FLOAT), shape];
    return nodes.add(`${name}/first_n`, 'ScatterNd', inputs, { T: FLOAT, Tindices: INT64 });
  }
}
