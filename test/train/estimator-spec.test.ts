import t from 'tap';
import { Graph } from '../../src/graph/graph.js';
import { placeholder } from '../../src/graph/ops/state.js';
import { EstimatorSpec } from '../../src/train/estimator-spec.js';

const graph = new Graph();
const label = placeholder(graph, { name: 'label' });
const pred = placeholder(graph, { name: 'pred' });

t.test('an EstimatorSpec has the defaults of the reference, and is not changed', async (t) => {
  const spec = new EstimatorSpec({ label, pred });
  t.match(spec, { headName: null, loss: null, optimizer: null, classification: true });
  const renamed = spec.replace({ headName: 'ctr', classification: false });
  t.match(renamed, { headName: 'ctr', classification: false });
  t.equal(renamed.pred, pred);
  t.equal(spec.headName, null);
  t.throws(() => {
    (spec as { headName: string }).headName = 'x';
  }, TypeError);
});

t.test('an EstimatorSpec refuses names it does not know, and wants label and pred', async (t) => {
  const spec = new EstimatorSpec({ label: null, pred });
  t.throws(() => spec.replace({ mode: 'eval' } as object), { code: 'ML_OPTION', message: /no option mode/ });
  t.throws(() => spec.replace({ headNmae: 'x' } as object), { code: 'ML_OPTION', hint: 'did you mean headName?' });
  t.throws(() => new EstimatorSpec({ pred } as never), {
    code: 'ML_OPTION',
    message: /label is missing/,
    hint: /null/,
  });
  t.throws(() => new EstimatorSpec({ label } as never), { code: 'ML_OPTION', message: /pred is missing/ });
});
