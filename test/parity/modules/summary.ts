/** @file Cases of TensorBoard summaries: heads, metadata, values and what event files keep. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Graph } from '../../../src/graph/graph.js';
import { placeholder, variable } from '../../../src/graph/ops/state.js';
import { type Event, SUMMARY, SUMMARY_METADATA, SUMMARY_VALUE } from '../../../src/io/event-messages.js';
import { EventFileWriter } from '../../../src/summary/event-file-writer.js';
import {
  createSummaryMetadata,
  type Groups,
  prepareHead,
  type SegmentSizes,
} from '../../../src/summary/summary-metadata.js';
import { featureInsightData, type GraphSummary, nasData } from '../../../src/summary/summary-ops.js';
import { summaryValue } from '../../../src/summary/summary-values.js';
import { openSession } from '../../runtime/with-session.js';
import { readEvents } from '../../support/read-events.js';
import { fieldsOf, type ParityCase, type ParityHandlers, UnknownForm } from '../case.js';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

function utils({ input, case: name }: ParityCase): unknown {
  if (String(name).includes('metadata')) {
    const { description, meta_content } = fieldsOf(input, ['description', 'meta_content']);
    return { hex: hex(SUMMARY_METADATA.encode(createSummaryMetadata(String(description), String(meta_content)))) };
  }
  const fields = fieldsOf(input, ['segment_names', 'segment_sizes', 'out_type'], ['group_info', 'raw_tag']);
  const [utf8, type] = prepareHead(fields.segment_names as string[], fields.segment_sizes as SegmentSizes, {
    groupInfo: (fields.group_info ?? null) as Groups | null,
    rawTag: (fields.raw_tag ?? null) as never,
    outType: fields.out_type as 'tensor',
  });
  return { type, utf8 };
}

/** The value of a summary in a step of a session. */
async function valueIn(summary: GraphSummary, feeds: Record<string, Float32Array> = {}) {
  const rows = Object.values(feeds).map((values) => values.length);
  const session = await openSession(summary.tensor.graph, { threads: 1, batchSize: Math.max(1, ...rows) });
  try {
    const [value] = await session.run([summary.tensor], feeds);
    return summaryValue(summary, value as Float32Array);
  } finally {
    await session.close();
  }
}

const described = ({ tag, metadata }: GraphSummary) => ({
  tag,
  plugin_name: metadata!.pluginData!.pluginName,
  plugin_content: Buffer.from(metadata!.pluginData!.content).toString(),
});

async function summaryOps({ input, case: name }: ParityCase): Promise<unknown> {
  const isInsight = String(name).startsWith('feature_insight');
  if (!isInsight && !String(name).startsWith('nas_data')) throw new UnknownForm('case');
  return isInsight ? insight(input) : nas(input);
}

async function nas(input: ParityCase['input']): Promise<unknown> {
  const fields = fieldsOf(input, ['weight', 'segment_names', 'segment_sizes', 'group_info']);
  const weight = fields.weight as number[];
  const summary = nasData(
    variable(new Graph(), { name: 'w', shape: [weight.length], initial: () => Float32Array.from(weight) }),
    {
      segmentNames: fields.segment_names as string[],
      segmentSizes: fields.segment_sizes as number[],
      groupInfo: fields.group_info as Groups,
    },
  );
  const value = await valueIn(summary);
  const values = [...new Float32Array(value.tensor!.tensorContent.slice().buffer)];
  return { ...described(summary), values, summary_hex: hex(SUMMARY.encode({ value: [value] })) };
}

async function insight(input: ParityCase['input']): Promise<unknown> {
  const keys = ['input_shape', 'segment_names', 'segment_sizes', 'weight_shape', 'label'] as const;
  const fields = fieldsOf(input, [...keys]);
  const [rows, width] = fields.input_shape as [number, number];
  const shape = fields.weight_shape as [number, number];
  const graph = new Graph();
  const summary = featureInsightData(placeholder(graph, { name: 'x', width }), {
    segmentNames: fields.segment_names as string[],
    segmentSizes: fields.segment_sizes as number[],
    weight: variable(graph, { name: 'w', shape, initial: () => new Float32Array(shape[0] * shape[1]).fill(1) }),
    label: placeholder(graph, { name: 'label' }),
  });
  const feeds = { x: new Float32Array(rows * width).fill(1), label: Float32Array.from(fields.label as number[]) };
  const { tensor } = await valueIn(summary, feeds);
  return { ...described(summary), tensor_shape: tensor!.tensorShape!.dim.map(({ size }) => Number(size)) };
}

async function eventFile({ input }: ParityCase): Promise<unknown> {
  const { tag, steps, weight } = fieldsOf(input, ['tag', 'steps', 'weight']);
  const values = weight as number[];
  const graph = new Graph();
  const summary = nasData(
    variable(graph, { name: 'w', shape: [values.length], initial: () => Float32Array.from(values) }),
    {
      segmentNames: ['f1'],
      segmentSizes: [1],
    },
  );
  if (summary.tag !== tag) throw new UnknownForm('tag');
  const value = await valueIn(summary);
  const dir = mkdtempSync(join(tmpdir(), 'events-'));
  try {
    const writer = await EventFileWriter.open(dir);
    for (const step of steps as number[]) await writer.addSummary([value], step);
    await writer.close();
    const [first, second] = (readEvents(writer.path).slice(1) as Event[]).map(({ summary }) => summary!.value[0]!);
    return {
      event0_has_metadata: first!.metadata !== undefined,
      event1_has_metadata: second!.metadata !== undefined,
      event1_summary_value_hex: hex(SUMMARY_VALUE.encode(second!)),
    };
  } finally {
    rmSync(dir, { recursive: true });
  }
}

export const handlers: ParityHandlers = {
  'summary/utils': utils,
  'summary/summary_ops': summaryOps,
  'summary/event_file': eventFile,
};
