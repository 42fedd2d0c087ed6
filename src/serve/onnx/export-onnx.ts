/**
 * @file An ONNX model: onnxruntime and what reads its files take it as it is.
 *
 * Inputs are the features: floats `[batch, width]`, ids int64 `[batch, width]`; of a feature with any number of ids
 * `[batch, most]`, padded with -1 after the last of an example. Ids are of 64 bits, as in the tables.
 */
import { join } from 'node:path';
import { writeFileAtomic } from '../../base/files/atomic-file.js';
import { feedsOf } from '../feeds.js';
import { checkSize } from '../standard/check-size.js';
import type { Feed } from '../standard/standard-graph.js';
import { writeStandard } from '../standard/write-standard.js';
import type { ExportableModel } from '../trained-model.js';
import { ONNX_DTYPE, ONNX_MODEL, type OnnxDtype, type ValueInfo } from './messages.js';
import { OnnxGraph } from './onnx-graph.js';
import { OnnxNodes } from './onnx-nodes.js';
import { ML_DOMAIN } from './onnx-tables.js';

export const ONNX_FILE = 'model.onnx';

/** Writes `model.onnx` into a folder that is there. */
export async function exportOnnx(model: ExportableModel, dir: string): Promise<void> {
  checkSize('an ONNX model', model);
  const { json } = model.written;
  const nodes = new OnnxNodes();
  const feeds = feedsOf(json.features);
  for (const { name } of feeds) nodes.reserve(name);
  const keys = json.heads.map(({ name }) => nodes.reserve(json.heads.length === 1 ? 'output' : name));
  const values = [...writeStandard(model, new OnnxGraph(nodes)).values()];
  for (const [index, key] of keys.entries()) nodes.addNamed(key, 'Identity', [values[index]!.name]);
  const bytes = ONNX_MODEL.encode({
    irVersion: 8n,
    producerName: 'monolith-ts',
    modelVersion: BigInt(model.step ?? 0),
    graph: {
      node: nodes.nodes,
      name: json.name,
      initializer: nodes.initializers,
      input: feeds.map(inputOf),
      output: keys.map((key, index) => info(key, 'FLOAT', ['batch', ...values[index]!.sizes])),
    },
    opsetImport: [
      { domain: '', version: 17n },
      { domain: ML_DOMAIN, version: 3n },
    ],
    metadataProps: [{ key: 'model', value: json.name }],
  });
  await writeFileAtomic(join(dir, ONNX_FILE), bytes);
}

function inputOf({ name, kind, width }: Feed): ValueInfo {
  if (kind === 'dense') return info(name, 'FLOAT', ['batch', width]);
  return info(name, 'INT64', ['batch', kind === 'ids' ? width : `${name}_most`]);
}

const info = (name: string, dtype: OnnxDtype, sizes: readonly (number | string)[]): ValueInfo => ({
  name,
  type: {
    tensorType: {
      elemType: ONNX_DTYPE[dtype],
      shape: { dim: sizes.map((size) => (typeof size === 'number' ? { dimValue: BigInt(size) } : { dimParam: size })) },
    },
  },
});
