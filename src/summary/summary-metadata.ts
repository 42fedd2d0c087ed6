/**
 * @file What the tensors of Monolith's TensorBoard plugin are described by: the type, and a JSON head with the names
 * and sizes of segments. Mirrors summary/utils of native_training.
 */
import { MonolithError } from '../base/errors.js';
import { type PythonValue, pythonJson } from '../base/python-json.js';
import { DATA_CLASS, type SummaryMetadata } from '../io/event-messages.js';

/** The plugin of TensorBoard that reads these tensors. */
export const PLUGIN_NAME = 'monolith';
/** What tags of an architecture search end in. */
export const MONOLITH_NAS_DATA = 'monolith_nas_weight';
/** What tags of feature insight end in. */
export const MONOLITH_FI_DATA = 'monolith_feature_insight';
/** Key of a head: its type. */
export const KTYPE = 'tag_type';
/** Key of a head: what describes it. */
export const KMETA = 'meta';
/** Key of a head: its values. */
export const KDATA = 'data';

/** What a tensor of the plugin shows. */
export const SummaryType = {
  GATING: 'gating',
  SELECTING: 'selecting',
  MIXED: 'mixed',
  SIMPLE: 'simple',
  FI_DIRECT: 'fi_direct',
  FI_TRAIN: 'fi_train',
} as const;
export type SummaryType = (typeof SummaryType)[keyof typeof SummaryType];

/** Metadata of a tag of the plugin: it stands with the first value of the tag in a file. */
export function createSummaryMetadata(
  description: string | null = null,
  metaContent: string | Uint8Array = '',
): SummaryMetadata {
  const content = typeof metaContent === 'string' ? new TextEncoder().encode(metaContent) : metaContent;
  return {
    pluginData: { pluginName: PLUGIN_NAME, content },
    displayName: '',
    summaryDescription: description ?? '',
    dataClass: DATA_CLASS.TENSOR,
  };
}

/** Sizes of segments, or for each the sizes to select among. */
export type SegmentSizes = readonly (number | readonly number[])[];
export type Groups = readonly (readonly string[])[];
export interface Segments {
  readonly segmentNames?: readonly string[] | null;
  readonly segmentSizes?: SegmentSizes | null;
  readonly groupInfo?: Groups | null;
  readonly rawTag?: SummaryType | null;
}
export type Head = { readonly [key: string]: PythonValue };

/** The head as an object, and the type; null where there are no segments. */
export function headOf({ segmentNames, segmentSizes, groupInfo, rawTag }: Segments): [Head | null, SummaryType | null] {
  if ((segmentNames ?? null) === null && (segmentSizes ?? null) === null) return [null, rawTag ?? null];
  const [names, sizes] = [segmentNames ?? [], segmentSizes ?? []];
  const areNumbers = sizes.every((size) => typeof size === 'number');
  const type = rawTag ?? (areNumbers ? SummaryType.GATING : SummaryType.SELECTING);
  const head = { [KTYPE]: type, segment_names: names, segment_sizes: sizes };
  const grouped = type === SummaryType.GATING || type === SummaryType.FI_TRAIN;
  return [grouped ? { ...head, group_index: nameToGroupId(names, groupInfo ?? null) } : head, type];
}

/**
 * The head of a summary in one of three forms, and its type: `tensor` and `bytes` are JSON text as Python writes it.
 */
export function prepareHead(
  segmentNames: readonly string[] | null,
  segmentSizes: SegmentSizes | null,
  options: Omit<Segments, 'segmentNames' | 'segmentSizes'> & { readonly outType?: 'tensor' | 'json' | 'bytes' } = {},
): [head: string | Head, type: SummaryType | null] {
  const { outType = 'tensor', ...rest } = options;
  if (!['tensor', 'json', 'bytes'].includes(outType)) throw refuse(`there is no outType ${String(outType)}`);
  const [head, type] = headOf({ segmentNames, segmentSizes, ...rest });
  if (outType === 'json') return [head ?? {}, type];
  return [head === null ? '' : pythonJson(head), type];
}

/** For each name the number of its group, counted among the groups that occur; without groups its last position. */
function nameToGroupId(names: readonly string[], groups: Groups | null): number[] {
  const groupOf = new Map<string, number>();
  (groups ?? names.map((name) => [name])).forEach((group, index) => {
    for (const name of group) groupOf.set(name, index);
  });
  const found = names.map((name) => {
    const group = groupOf.get(name);
    if (group === undefined) throw refuse(`segment ${name} is in no group`);
    return group;
  });
  if (groups === null) return found;
  const order = [...new Set(found)].sort((a, b) => a - b);
  return found.map((group) => order.indexOf(group));
}

export function refuse(reason: string): MonolithError {
  return new MonolithError('ML_OPTION', { where: 'the summary', option: 'segments', reason });
}
