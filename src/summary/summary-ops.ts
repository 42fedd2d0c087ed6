/**
 * @file Summaries of a graph: which tensors a training writes to TensorBoard, under which tags.
 *
 * A summary is an entry of the graph's collection `summaries` and costs nothing until `SummarySaverHook` fetches its
 * tensor. `nasData` and `featureInsightData` mirror summary_ops of native_training.
 */
import { checkOptions } from '../base/check-options.js';
import { pythonJson } from '../base/python-json.js';
import { addToCollections } from '../graph/collections.js';
import type { Graph, Tensor } from '../graph/graph.js';
import { cast } from '../graph/ops/cast.js';
import { assembleColumns, columns, concatColumns } from '../graph/ops/columns.js';
import { matMul } from '../graph/ops/matmul.js';
import { reduceSum } from '../graph/ops/reductions.js';
import { square } from '../graph/ops/unary.js';
import type { SummaryMetadata } from '../io/event-messages.js';
import {
  createSummaryMetadata,
  type Groups,
  headOf,
  MONOLITH_FI_DATA,
  MONOLITH_NAS_DATA,
  refuse,
  type SegmentSizes,
  SummaryType,
} from './summary-metadata.js';

export const SUMMARIES = 'summaries';

/** A tensor that is written to event files. */
export interface GraphSummary {
  readonly kind: 'scalar' | 'histogram' | 'tensor';
  readonly tag: string;
  readonly tensor: Tensor;
  readonly metadata?: SummaryMetadata;
}

declare module '../graph/graph.js' {
  interface Collections {
    readonly summaries: GraphSummary;
  }
}

export interface SummaryOptions {
  /** Collections that get the summary. Default: `summaries`, from which event files are written. */
  readonly collections?: readonly string[] | null;
}

/** A number of each step, such as a loss. */
export function scalar(tag: string, tensor: Tensor, options: SummaryOptions = {}): GraphSummary {
  if (tensor.perExample || tensor.columns !== 1) throw refuse(`${tensor.name} of ${tag} is not one number`);
  return register(tensor.graph, { kind: 'scalar', tag, tensor }, checkedCollections('summary.scalar', options));
}

/** How the values of a tensor are distributed. */
export function histogram(tag: string, tensor: Tensor, options: SummaryOptions = {}): GraphSummary {
  return register(tensor.graph, { kind: 'histogram', tag, tensor }, checkedCollections('summary.histogram', options));
}

function checkedCollections(where: string, options: SummaryOptions): readonly string[] | null | undefined {
  return checkOptions(where, options, ['collections']).collections;
}

export interface NasDataOptions extends SummaryOptions {
  readonly segmentNames?: readonly string[] | null;
  readonly segmentSizes?: SegmentSizes | null;
  readonly groupInfo?: Groups | null;
  readonly rawTag?: SummaryType | null;
  /** Default: the type. */
  readonly description?: string | null;
  /** What the type in the tag is prefixed with. */
  readonly name?: string | null;
}

/** Weights of an architecture search, with what they weigh. */
export function nasData(weight: Tensor, options: NasDataOptions = {}): GraphSummary {
  const { segmentNames, segmentSizes, groupInfo, rawTag, collections, description, name } = checkOptions(
    'nasData',
    options,
    ['segmentNames', 'segmentSizes', 'groupInfo', 'rawTag', 'collections', 'description', 'name'],
  );
  const [head, type] = headOf({
    segmentNames: segmentNames ?? null,
    segmentSizes: segmentSizes ?? null,
    groupInfo: groupInfo ?? null,
    rawTag: rawTag ?? null,
  });
  if (type === null) throw refuse('nasData needs segments or a rawTag');
  const metadata = createSummaryMetadata(description ?? type, head === null ? '' : pythonJson(head));
  const tag = tagOf(weight.graph, name ?? null, type, MONOLITH_NAS_DATA);
  return register(weight.graph, { kind: 'tensor', tag, tensor: weight, metadata }, collections);
}

export interface FeatureInsightDataOptions extends SummaryOptions {
  readonly segmentNames: readonly string[];
  readonly segmentSizes: readonly number[];
  /** A matrix of the first layer: each segment is then shown by its product with its rows. */
  readonly weight?: Tensor | null;
  readonly groupInfo?: Groups | null;
  /** With labels the type is `fi_train`, and they stand to the right of the values. */
  readonly label?: Tensor | null;
  readonly description?: string | null;
  readonly name?: string | null;
}

/** What each feature contributes to the first layer, per example. */
export function featureInsightData(input: Tensor, options: FeatureInsightDataOptions): GraphSummary {
  const { segmentNames, segmentSizes, weight, groupInfo, label, collections, description, name } = checkOptions(
    'featureInsightData',
    options,
    ['segmentNames', 'segmentSizes', 'weight', 'groupInfo', 'label', 'collections', 'description', 'name'],
  );
  if (segmentNames.length !== segmentSizes.length) {
    throw refuse(`${segmentNames.length} segmentNames for ${segmentSizes.length} segmentSizes`);
  }
  const type = (label ?? null) === null ? SummaryType.FI_DIRECT : SummaryType.FI_TRAIN;
  const aggregates = type === SummaryType.FI_DIRECT;
  let [data, sizes] = [input, segmentSizes];
  if ((weight ?? null) !== null) {
    const blocks = productsOf(input, weight!, segmentSizes);
    const parts = aggregates ? blocks.map((block) => reduceSum(square(block), { axis: 'columns' })) : blocks;
    sizes = segmentSizes.map(() => (aggregates ? 1 : Number(weight!.spec.shape.at(-1))));
    data = concatColumns(parts);
  }
  const labels = (label ?? null) === null ? null : cast(label!, 'float32');
  if (labels !== null) data = concatColumns([data, labels]);
  const [head] = headOf({ segmentNames, segmentSizes: sizes, groupInfo: groupInfo ?? null, rawTag: type });
  const content = pythonJson({ ...head, label_size: labels === null ? 0 : labels.columns });
  const metadata = createSummaryMetadata(description ?? type, content);
  const tag = tagOf(input.graph, name ?? null, type, MONOLITH_FI_DATA);
  return register(input.graph, { kind: 'tensor', tag, tensor: data, metadata }, collections);
}

/** Per segment its columns times its rows of the weight; the others are zero in the product. */
function productsOf(input: Tensor, weight: Tensor, sizes: readonly number[]): Tensor[] {
  const width = sizes.reduce((sum, size) => sum + size, 0);
  if (width !== input.columns) throw refuse(`segments [${sizes.join(', ')}] do not make ${input.columns} columns`);
  let start = 0;
  return sizes.map((size) => {
    const segment = assembleColumns(input, [{ start, grad: columns(input, start, start + size) }]);
    start += size;
    return matMul(segment, weight);
  });
}

/** `<scope>/<kind>`; a scope that the graph has already gets `_1`, `_2`. */
function tagOf(graph: Graph, name: string | null, type: SummaryType, kind: string): string {
  const scope = name === null ? type : `${name}_${type}`;
  const taken = graph.getMeta<Set<string>>('summaryScopes', () => new Set());
  let free: string = scope;
  for (let n = 1; taken.has(free); n++) free = `${scope}_${n}`;
  taken.add(free);
  return `${free}/${kind}`;
}

function register(
  graph: Graph,
  summary: GraphSummary,
  collections: readonly string[] | null | undefined,
): GraphSummary {
  addToCollections(graph, collections ?? [SUMMARIES], summary);
  return summary;
}
