/**
 * @file What a SavedModel is fed: serialized tf.Examples, or the tensors they are parsed to.
 *
 * Dense feeds have a default, so that an example may leave them out: an id that stands for none, a number that is
 * missing.
 */
import { MISSING_ID } from '../../data/cells.js';
import { MISSING_NUMBER } from '../../data/field.js';
import type { Feed } from '../standard/standard-graph.js';
import { type Dtype, intAttr, type NodeList, shapeOf, typeAttr, typesAttr } from './node-list.js';

/** Nodes of a ragged feed: places `[values, 2]`, and values. */
export interface RaggedNodes {
  readonly indices: string;
  readonly values: string;
}

export class TfFeeds {
  readonly instances: string;
  /** Number of examples: an int32. */
  readonly batch: string;
  readonly #dense: readonly Feed[];
  readonly #ragged: readonly Feed[];
  readonly #parse: string;

  constructor(nodes: NodeList, feeds: readonly Feed[]) {
    this.#dense = feeds.filter(({ kind }) => kind !== 'ragged');
    this.#ragged = feeds.filter(({ kind }) => kind === 'ragged');
    this.instances = nodes.add('instances', 'Placeholder', [], {
      dtype: typeAttr('STRING'),
      shape: { shape: shapeOf([-1]) },
    });
    const keys = (name: string, list: readonly Feed[]) =>
      nodes.texts(
        `parse/${name}`,
        list.map((feed) => feed.name),
      );
    const inputs = [
      this.instances,
      nodes.texts('parse/names', []),
      keys('sparse_keys', this.#ragged),
      keys('dense_keys', this.#dense),
      nodes.texts('parse/ragged_keys', []),
      ...this.#dense.map((feed) => defaultOf(nodes, feed)),
    ];
    this.#parse = nodes.add('parse', 'ParseExampleV2', inputs, {
      Tdense: typesAttr(this.#dense.map(dtypeOf)),
      num_sparse: intAttr(this.#ragged.length),
      sparse_types: typesAttr(this.#ragged.map(() => 'INT64')),
      ragged_value_types: typesAttr([]),
      ragged_split_types: typesAttr([]),
      dense_shapes: { list: { shape: this.#dense.map(({ width }) => shapeOf([width])) } },
    });
    const shape = nodes.add('batch/shape', 'Shape', [this.instances], {
      T: typeAttr('STRING'),
      out_type: typeAttr('INT32'),
    });
    this.batch = nodes.add('batch', 'GatherV2', [shape, nodes.int(0), nodes.int(0)], {
      Tparams: typeAttr('INT32'),
      Tindices: typeAttr('INT32'),
      Taxis: typeAttr('INT32'),
    });
  }

  dense(feed: Feed): { readonly node: string; readonly dtype: Dtype } {
    const index = this.#dense.findIndex(({ name }) => name === feed.name);
    return { node: `${this.#parse}:${3 * this.#ragged.length + index}`, dtype: dtypeOf(feed) };
  }

  ragged(feed: Feed): RaggedNodes {
    const index = this.#ragged.findIndex(({ name }) => name === feed.name);
    return { indices: `${this.#parse}:${index}`, values: `${this.#parse}:${this.#ragged.length + index}` };
  }

  /** Inputs of the signature `raw`: what is parsed, given by itself. */
  get raw(): readonly {
    readonly key: string;
    readonly name: string;
    readonly dtype: Dtype;
    readonly sizes: number[];
  }[] {
    return [
      ...this.#ragged.flatMap((feed) => {
        const { indices, values } = this.ragged(feed);
        return [
          { key: `${feed.name}_indices`, name: indices, dtype: 'INT64' as const, sizes: [-1, 2] },
          { key: `${feed.name}_values`, name: values, dtype: 'INT64' as const, sizes: [-1] },
        ];
      }),
      ...this.#dense.map((feed) => {
        const { node, dtype } = this.dense(feed);
        return { key: feed.name, name: node, dtype, sizes: [-1, feed.width] };
      }),
      { key: 'batch_size', name: this.batch, dtype: 'INT32' as const, sizes: [] },
    ];
  }
}

const dtypeOf = ({ kind }: Feed): Dtype => (kind === 'dense' ? 'FLOAT' : 'INT64');

function defaultOf(nodes: NodeList, { name, kind, width }: Feed): string {
  if (kind === 'dense') return nodes.floats(`parse/${name}`, new Float32Array(width).fill(MISSING_NUMBER), [width]);
  return nodes.int64s(`parse/${name}`, new BigInt64Array(width).fill(MISSING_ID));
}
