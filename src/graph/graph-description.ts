/**
 * @file A graph as plain data: what its ops are, how they hang together, and where in the user's code they were made.
 *
 * For looking at a graph, comparing two and keeping one beside a trace. It is no model format: how an op computes, and
 * the initial values of variables, are not in it, so that a description cannot be run.
 */
import type { z } from 'zod';
import { MonolithError, messageOf } from '../base/errors.js';
import { lazySchema } from '../base/lazy-module.js';
import { describeAttributes, describeValue } from './describe-attributes.js';
import { type Graph, shapeText } from './graph.js';

/** Counts up when a reader of the version before would misread the file. */
export const GRAPH_JSON_VERSION = 1;

const graphSchema = lazySchema((z) => {
  const tensorSchema = z.strictObject({
    dtype: z.enum(['float32', 'int64']),
    shape: z.array(z.union([z.number().int().nonnegative(), z.literal('batch')])),
    ragged: z.literal(true).optional(),
    partial: z.literal(true).optional(),
  });

  const opSchema = z.strictObject({
    name: z.string().min(1),
    type: z.string().min(1),
    /** Names of tensors, `op:index`. */
    inputs: z.array(z.string()),
    /** Names of the ops it runs after. */
    controlInputs: z.array(z.string()).optional(),
    outputs: z.array(tensorSchema),
    device: z.string().optional(),
    attributes: z.record(z.string(), z.json()).optional(),
    /** The line of the user's code that made it. */
    place: z.string().optional(),
  });

  return z.strictObject({
    format: z.literal('monolith-graph'),
    version: z.literal(GRAPH_JSON_VERSION),
    /** In the order they were made: inputs come before what uses them. */
    ops: z.array(opSchema),
    /** Members by collection: names of tensors and ops, or what else was put there. */
    collections: z.record(z.string(), z.array(z.json())),
  });
});

export type GraphDescription = z.output<ReturnType<typeof graphSchema>>;
export type OpDescription = GraphDescription['ops'][number];

/** The graph as plain data, in an order that depends on the graph only. */
export function graphDescription(graph: Graph): GraphDescription {
  const ops = graph.ops.map((op): OpDescription => {
    const attributes = describeAttributes(op.attrs);
    return {
      name: op.name,
      type: op.type,
      inputs: op.inputs.map((input) => input.name),
      ...(op.controlInputs.length > 0 && { controlInputs: op.controlInputs.map(({ name }) => name) }),
      outputs: op.outputs.map(({ spec }) => ({
        dtype: spec.dtype,
        shape: [...spec.shape],
        ...(spec.ragged && { ragged: true as const }),
        ...(spec.partial && { partial: true as const }),
      })),
      ...(op.device !== '' && { device: op.device }),
      ...(attributes !== undefined && { attributes }),
      ...(op.place !== undefined && { place: op.place }),
    };
  });
  const collections = Object.fromEntries(
    [...graph.collectionNames].sort().map((name) => {
      return [name, graph.getCollection(name).map((member) => describeValue(member) ?? null)];
    }),
  );
  return { format: 'monolith-graph', version: GRAPH_JSON_VERSION, ops, collections };
}

/**
 * The graph as JSON, one op per line, so that two of them can be compared with `diff`.
 *
 * ```ts
 * await writeFile('graph.json', graphToJson(graph));
 * ```
 */
export function graphToJson(graph: Graph): string {
  const { format, version, ops, collections } = graphDescription(graph);
  const lines = (items: readonly string[]) => (items.length === 0 ? '' : `\n${items.join(',\n')}\n`);
  const members = Object.entries(collections).map(([name, list]) => `${JSON.stringify(name)}:${JSON.stringify(list)}`);
  const head = `"format":${JSON.stringify(format)},"version":${version}`;
  const body = lines(ops.map((op) => JSON.stringify(op)));
  return `{${head},"ops":[${body}],"collections":{${lines(members)}}}\n`;
}

/** What `graphToJson` wrote, checked; ML_GRAPH_JSON says what is wrong with it. `source` names it in the message. */
export function readGraphJson(text: string, source = 'graph'): GraphDescription {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new MonolithError('ML_GRAPH_JSON', { source, reason: messageOf(cause) }, { cause });
  }
  const parsed = graphSchema().safeParse(value);
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0]!;
    throw new MonolithError('ML_GRAPH_JSON', { source, reason: `${path.join('.') || 'file'}: ${message}` });
  }
  checkEdges(parsed.data, source);
  return parsed.data;
}

/** Edges lead to ops made before, and names are unique: so that a reader can walk it without looking out. */
function checkEdges({ ops }: GraphDescription, source: string): void {
  const refuse = (reason: string) => new MonolithError('ML_GRAPH_JSON', { source, reason });
  const seen = new Set<string>();
  const tensors = new Set<string>();
  for (const { name, inputs, controlInputs = [], outputs } of ops) {
    if (seen.has(name)) throw refuse(`there are two ops called ${name}`);
    const tensor = inputs.find((input) => !tensors.has(input));
    if (tensor !== undefined) throw refuse(`${name} reads ${tensor}, which no op before it makes`);
    const op = controlInputs.find((input) => !seen.has(input));
    if (op !== undefined) throw refuse(`${name} runs after ${op}, which is no op before it`);
    seen.add(name);
    for (let index = 0; index < outputs.length; index++) tensors.add(`${name}:${index}`);
  }
}

/** A graph in text, a line per op: `y:0 float32 [batch, 2] = MatMul(x:0, w:0) at ranker.mjs:12:5`. */
export function describeGraph(graph: Graph | GraphDescription): string {
  const { ops, collections } = 'format' in graph ? graph : graphDescription(graph);
  const lines = ops.map(({ name, type, inputs, controlInputs = [], outputs, device, place }) => {
    const made = outputs.map(({ dtype, shape, ragged, partial }, index) => {
      const kind = `${ragged ? ' ragged' : ''}${partial ? ' partial' : ''}`;
      return `${name}:${index} ${dtype} ${shapeText(shape)}${kind}`;
    });
    const after = controlInputs.length === 0 ? '' : ` after ${controlInputs.join(', ')}`;
    const where = `${device === undefined ? '' : ` on ${device}`}${place === undefined ? '' : ` at ${place}`}`;
    return `${made.length === 0 ? name : made.join(', ')} = ${type}(${inputs.join(', ')})${after}${where}`;
  });
  const kept = Object.entries(collections).map(([name, members]) => `${name}: ${members.length}`);
  return [`${ops.length} ops`, ...lines, ...(kept.length === 0 ? [] : [`collections: ${kept.join(', ')}`]), ''].join(
    '\n',
  );
}
