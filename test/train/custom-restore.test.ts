/** @file Restores of variables anew, under names of old, and of variables that have parts by now. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { setLogSink } from '../../src/base/log.js';
import { autoAliasMap } from '../../src/checkpoint/alias-map.js';
import { addMappingRules, CustomRestoreListener } from '../../src/compat/index.js';
import { Graph, type Op } from '../../src/graph/graph.js';
import { globalStep, increment, variable } from '../../src/graph/ops/state.js';
import type { CheckpointRestorerListener } from '../../src/train/hooks/checkpoint-restorer.js';
import { modelOf, run } from './saver-run.js';

t.test('CustomRestoreListener: initial values once, names of old, and parts of a variable', async (t) => {
  const dir = t.testdir();
  await run(modelOf([], ['tower/dense_3/w', 'tower/dense_5/w']), { dir }, (session) => {
    session.writeVariable('tower/dense_3/w', Float32Array.of(1, 2));
    session.writeVariable('tower/dense_5/w', Float32Array.of(3, 4));
  });
  const custom = (options: object) => [new CustomRestoreListener({ modelDir: dir, ...options })];
  const clears = { clearNN: true, continueTraining: true };
  const values = (names: readonly string[], restorers: CheckpointRestorerListener[]) => {
    let found: unknown[] = [];
    return run(modelOf([], [...names]), { dir, restorers }, (session) => {
      found = [session.globalStep, ...names.flatMap((name) => [...session.readVariable(name)])];
    }).then(() => found);
  };
  const old = ['tower/dense_3/w', 'tower/dense_5/w'];
  t.same(await values(old, custom(clears)), [1, 0, 0, 0, 0]);
  t.equal(readFileSync(join(dir, 'clear_nn'), 'utf8'), 'clean nn done!');
  for (const name of readdirSync(dir)) if (name.startsWith('model.ckpt-2')) rmSync(join(dir, name));
  const back = () => {
    for (const name of readdirSync(dir)) if (/^model\.ckpt-[2-9]/.test(name)) rmSync(join(dir, name));
    writeFileSync(join(dir, 'checkpoint'), 'model_checkpoint_path: "model.ckpt-1"\n');
  };
  back();
  t.same(await values(old, custom(clears)), [1, 1, 2, 3, 4], 'the marker says that it was done');
  back();
  t.same(await values(['tower/dense/w', 'tower/dense_1/w'], custom({})), [1, 1, 2, 3, 4], 'numbered anew');
  back();
  const aliasMap = { x: 'tower/dense_3/w', y: 'tower/dense_5/w' };
  t.same(await values(['y', 'x'], custom({ aliasMap })), [1, 3, 4, 1, 2]);
  back();
  const said: string[] = [];
  const before = setLogSink((_, text) => void said.push(text));
  await t.rejects(values(['unknown'], custom({})), { message: /not found in checkpoint/ });
  setLogSink(before);
  t.match(said.join(), /cannot alias reload automatical, pls spectify an alias_map/);
  await t.rejects(values(old, custom({ clearNN: true, aliasMap })), { code: 'ML_SAVER', message: /no alias map/ });
  back();
  // Two parts of one row each, of what was one variable.
  const parts = new Graph();
  for (const part of [1, 0]) {
    variable(parts, { name: `z/part_${part}`, shape: [1], initial: () => new Float32Array(1) });
  }
  const model = { graph: parts, step: increment(globalStep(parts)) as Op, tables: [] };
  await run(model, { dir, restorers: custom({ aliasMap: { z: 'tower/dense_5/w' } }) }, (session) => {
    t.same([session.readVariable('z/part_0')[0], session.readVariable('z/part_1')[0]], [3, 4]);
  });
});

t.test('names of variables that changed are found out by rules', (t) => {
  const found = (model: string[], checkpoint: string[]) => autoAliasMap(model, checkpoint);
  t.same(found(['a/w', 'b/part_0'], ['a/w', 'b', 'c']), {}, 'nothing is to be done');
  t.same(found(['m/n/w'], ['m/n/m/w']), { 'm/n/w': 'm/n/m/w' });
  t.same(found(['c_dot/compress_tower_1/w'], ['c_dot/mlp_1/w']), { 'c_dot/compress_tower_1/w': 'c_dot/mlp_1/w' });
  t.same(found(['kernel_2', 'bias_2'], ['dcn/kernel_2', 'dcn/bias_2']), {
    kernel_2: 'dcn/kernel_2',
    bias_2: 'dcn/bias_2',
  });
  t.same(found(['u_trainable_norm'], ['u/trainable_norm']), { u_trainable_norm: 'u/trainable_norm' });
  t.same(found(['t/dense_4/w', 't/dense_5/w'], ['t/dense_8/w', 't/dense_9/w']), {
    't/dense_4/w': 't/dense_8/w',
    't/dense_5/w': 't/dense_9/w',
  });
  t.equal(found(['p'], ['q']), null);
  addMappingRules([{ pattern: /^q$/, replacement: 'p' }]);
  t.same(found(['p'], ['q']), { p: 'q' });
  t.end();
});
