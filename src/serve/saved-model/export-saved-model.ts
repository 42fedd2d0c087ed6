/**
 * @file A SavedModel of standard ops: TensorFlow, TensorFlow Serving and what reads their files take it as it is.
 *
 * `serving_default` takes serialized tf.Examples, `raw` the tensors they are parsed to. All weights are constants.
 */
import { join } from 'node:path';
import { writeFileAtomic } from '../../base/files/atomic-file.js';
import { feedsOf } from '../feeds.js';
import { checkSize } from '../standard/check-size.js';
import type { Value } from '../standard/standard-graph.js';
import { writeStandard } from '../standard/write-standard.js';
import type { ExportableModel } from '../trained-model.js';
import { DTYPE, SAVED_MODEL, type SignatureDef, type TensorInfo } from './messages.js';
import { type Dtype, NodeList, type NodeList as Nodes, shapeOf, typeAttr } from './node-list.js';
import { TfFeeds } from './tf-feeds.js';
import { TfGraph } from './tf-graph.js';

const PREDICT = 'tensorflow/serving/predict';
const INIT = '__saved_model_init_op';
/** Of TensorFlow 1.15 and later. */
const PRODUCER = 561;

/** Writes `saved_model.pb` into a folder that is there. */
export async function exportSavedModel(model: ExportableModel, dir: string): Promise<void> {
  checkSize('a SavedModel', model);
  const nodes = new NodeList();
  const feeds = new TfFeeds(nodes, feedsOf(model.written.json.features));
  const graph = new TfGraph(nodes, feeds);
  const values = writeStandard(model, graph);
  const outputs = outputsOf(nodes, values);
  const init = nodes.add(
    'init',
    'NoOp',
    graph.initializers.map((name) => `^${name}`),
  );
  const signatureDef = new Map<string, SignatureDef>([
    ['serving_default', signature([['instances', info(feeds.instances, 'STRING', [-1])]], outputs)],
    [
      'raw',
      signature(
        feeds.raw.map(({ key, name, dtype, sizes }) => [key, info(name, dtype, sizes)]),
        outputs,
      ),
    ],
    [INIT, { outputs: new Map([[INIT, { name: init, dtype: 0, tensorShape: { unknownRank: true } }]]) }],
  ]);
  const bytes = SAVED_MODEL.encode({
    savedModelSchemaVersion: 1n,
    metaGraphs: [
      {
        metaInfoDef: { metaGraphVersion: '', tags: ['serve'], tensorflowVersion: '2.0.0' },
        graphDef: { node: nodes.nodes, versions: { producer: PRODUCER, minConsumer: 0 } },
        collectionDef: new Map([['saved_model_main_op', { nodeList: { value: [init] } }]]),
        signatureDef,
      },
    ],
  });
  await writeFileAtomic(join(dir, 'saved_model.pb'), bytes);
}

const info = (name: string, dtype: Dtype, sizes: readonly number[]): TensorInfo => ({
  name: name.includes(':') ? name : `${name}:0`,
  dtype: DTYPE[dtype],
  tensorShape: shapeOf(sizes),
});

const signature = (inputs: readonly (readonly [string, TensorInfo])[], outputs: Map<string, TensorInfo>) => ({
  inputs: new Map(inputs),
  outputs,
  methodName: PREDICT,
});

/** What heads predict, under their names: of one head `output`. */
function outputsOf(nodes: Nodes, values: ReadonlyMap<string, Value>): Map<string, TensorInfo> {
  const named = [...values].map(([head, value]) => {
    const key = values.size === 1 ? 'output' : head;
    const name = nodes.add(key, 'Identity', [value.name], { T: typeAttr('FLOAT') });
    return [key, info(name, 'FLOAT', [-1, ...value.sizes])] as const;
  });
  return new Map(named);
}
