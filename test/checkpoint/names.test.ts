import t from 'tap';
import { checkpointPrefix, stepOfPrefix } from '../../src/checkpoint/names.js';

t.test('the step of a prefix is the number after its last dash, and 0 where none is', async (t) => {
  for (const step of [0, 7, 123_456_789]) {
    for (const padded of [false, true]) t.equal(stepOfPrefix(checkpointPrefix('a-1/model.ckpt', step, padded)), step);
  }
  for (const name of ['model.ckpt', 'model-best', 'run-5/model.ckpt', '']) t.equal(stepOfPrefix(name), 0, name);
});
