import fc from 'fast-check';
import t from 'tap';
import { editDistance, suggest } from '../../src/base/suggest.js';

t.test('slips are matched to the word that was meant', async (t) => {
  const flags = ['--steps', '--save-every', '--batch-size', '--threads', '--trace', '--model', '--model-dir'];
  t.equal(suggest('--stepz', flags), '--steps');
  t.equal(suggest('--step', flags), '--steps');
  t.equal(suggest('--batchsize', flags), '--batch-size');
  t.equal(suggest('--thraeds', flags), '--threads');
  t.equal(suggest('--batch', flags), '--batch-size');
  t.equal(suggest('--learning-rate', flags), undefined);
  t.equal(suggest('trian', ['train', 'trace', 'doctor']), 'train');
  t.equal(suggest('x', []), undefined);
});

t.test('names of options are found by their first letters, and inside of longer words', async (t) => {
  const options = ['learningRate', 'threads', 'valuesPerRow', 'biasOptimizer', 'defaultVecOptimizer'];
  t.equal(suggest('lr', options), 'learningRate');
  t.equal(suggest('LR', options), 'learningRate');
  t.equal(suggest('xy', options), undefined);
  t.equal(suggest('numThreads', options), 'threads');
  t.equal(suggest('defaultBiasOptimizer', options), 'biasOptimizer');
  t.equal(suggest('values', options), 'valuesPerRow');
  t.equal(suggest('lr', ['learningRate', 'lossReduction']), undefined, 'two have these letters');
});

t.test('edit distance is zero for equal words only, and is symmetric', async (t) => {
  const word = fc.string({ maxLength: 8 });
  const property = fc.property(word, word, (a, b) => {
    const distance = editDistance(a, b);
    return (
      (distance === 0) === (a === b) && distance === editDistance(b, a) && distance <= Math.max(a.length, b.length)
    );
  });
  t.doesNotThrow(() => fc.assert(property));
});
