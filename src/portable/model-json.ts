/** @file `model.json`: a model as a file, written from a built model and read back with every part checked. */
import { parseBoundedJson } from '../base/bounded-json.js';
import { MonolithError, messageOf } from '../base/errors.js';
import { lazySchema } from '../base/lazy-module.js';
import { type Features, weightsOf } from '../data/schema.js';
import type { Tensor } from '../graph/graph.js';
import { Placeholder } from '../graph/ops/state.js';
import type { HeadKind } from '../model/heads.js';
import type { JsonValue } from './attributes.js';
import { MODEL_VERSION, type PortableHead, type PortableOpJson } from './document.js';
import { type PortableFeature, portableFeatures, portableSchema } from './portable-schema.js';
import { type CompressorName, type PortableTable, portableTable, tableJson } from './portable-tables.js';
import { type WrittenGraph, writeGraph } from './write-graph.js';

const FORMAT = 'monolith-model';

/** A model in a file. */
export interface ModelJson {
  readonly format: typeof FORMAT;
  readonly version: number;
  /** Name of the model. */
  readonly name: string;
  readonly features: readonly PortableFeature[];
  readonly heads: readonly PortableHead[];
  readonly tables: readonly PortableTable[];
  readonly ops: readonly PortableOpJson[];
}

const modelSchema = lazySchema((z) => {
  const name = z.string().min(1).max(4096);
  return z.strictObject({
    format: z.literal(FORMAT),
    version: z.literal(MODEL_VERSION),
    name,
    features: portableFeatures(),
    heads: z
      .array(
        z.strictObject({
          name,
          kind: z.enum(['binary', 'regression', 'multiclass', 'own']),
          tensor: z.string().min(1).max(8192),
          classes: z.array(z.string()).optional(),
        }),
      )
      .min(1),
    /** Checked table by table where they are made. */
    tables: z.array(z.json()),
    ops: z.array(
      z.strictObject({
        name: z.string().min(1).max(4096),
        type: z.string().min(1).max(64),
        inputs: z.array(z.string().max(8192)).optional(),
        attributes: z.record(z.string(), z.json()).optional(),
      }),
    ),
  });
});

/** What is written of a model: its parts as they were built to predict. */
export interface PredictingModel {
  readonly name: string;
  readonly pred: Tensor;
  readonly heads?: readonly { readonly name: string; readonly kind: HeadKind; readonly pred: Tensor }[] | undefined;
}

export interface WrittenModel extends WrittenGraph {
  readonly json: ModelJson;
}

/** The model as plain data, with what its arrays come from. ML_EXPORT where it cannot be. */
export function modelJson(
  { name, pred, heads }: PredictingModel,
  features: Features,
  compressor?: CompressorName,
): WrittenModel {
  const list = heads ?? [{ name: 'output', kind: 'own' as const, pred }];
  const written = writeGraph(list.map((head) => head.pred));
  const json: ModelJson = {
    format: FORMAT,
    version: MODEL_VERSION,
    name,
    features: portableSchema(usedFeatures(features, written)),
    heads: list.map((head, index) => {
      const field = Object.hasOwn(features, head.name) ? features[head.name]!.field : undefined;
      const classes = field?.role === 'label' ? field.classes : undefined;
      return { name: head.name, kind: head.kind, tensor: written.outputs[index]!, ...(classes && { classes }) };
    }),
    tables: written.tables.map((table) => portableTable(table, compressor)),
    ops: written.ops,
  };
  return { ...written, json };
}

/** Features that predictions need: labels, and what only training looks at, stay behind. */
function usedFeatures(features: Features, { ops }: WrittenGraph): Features {
  const fed = new Set(ops.flatMap(({ name, type }) => (type === Placeholder.type ? [name] : [])));
  return Object.fromEntries(Object.entries(features).filter(([name]) => fed.has(name) || fed.has(weightsOf(name))));
}

/** An op on a line, so that two models can be compared with `diff`. */
export function modelText({ ops, tables, heads, features, ...rest }: ModelJson): string {
  const lines = (items: readonly JsonValue[]) => `[\n${items.map((item) => JSON.stringify(item)).join(',\n')}\n]`;
  const parts = {
    features: features as unknown as readonly JsonValue[],
    heads: heads as unknown as readonly JsonValue[],
    tables: tables.map(tableJson),
    ops: ops as unknown as readonly JsonValue[],
  };
  const head = JSON.stringify(rest).slice(0, -1);
  const body = Object.entries(parts).map(([name, items]) => `${JSON.stringify(name)}:${lines(items)}`);
  return `${head},\n${body.join(',\n')}}\n`;
}

/** What `modelText` wrote; ML_MODEL says what is wrong with it. */
export function readModelJson(text: string, file: string): ModelJson {
  const refuse = (reason: string, cause?: unknown): never => {
    throw new MonolithError('ML_MODEL', { model: file, reason }, { cause });
  };
  let value: unknown;
  try {
    value = parseBoundedJson(text, 'modelValues', refuse);
  } catch (cause) {
    if (cause instanceof MonolithError) throw cause;
    return refuse(messageOf(cause), cause);
  }
  const version = (value as { readonly version?: unknown } | null)?.version;
  if (typeof version === 'number' && version > MODEL_VERSION) {
    return refuse(`it is of version ${version}, and this package reads up to ${MODEL_VERSION}`);
  }
  const parsed = modelSchema().safeParse(value);
  if (parsed.success) return parsed.data as unknown as ModelJson;
  const { path, message } = parsed.error.issues[0]!;
  return refuse(`${path.join('.') || 'file'}: ${message}`);
}
