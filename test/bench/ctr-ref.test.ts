import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { CATEGORIES, generateCtr, REFERENCE, VOCABULARY } from '../../bench/ctr-ref.js';
import { readCtrFile, writeCtrFiles } from '../../bench/ctr-ref-files.js';

t.test('a seed gives the data that published results were measured on', async (t) => {
  const { labels, dense, ids, rows } = generateCtr(1000, REFERENCE.seed);
  const hash = createHash('sha256');
  for (const { buffer } of [labels, dense, ids, rows]) hash.update(new Uint8Array(buffer));
  t.equal(hash.digest('hex'), 'adf5e334e78cc03a023bd8a79ca62656c0022ad50ed6a1a28a67580812bf2930');
  t.equal(ids[0], 341794377902443n);
});

t.test('ids say their slot, and rows are within the table', async (t) => {
  const { ids, rows } = generateCtr(50, 3);
  t.ok(ids.every((id, i) => Number(id >> 48n) === (i % CATEGORIES) + 1));
  t.ok(rows.every((row) => row < VOCABULARY));
  t.same(generateCtr(20, 3).ids, ids.subarray(0, 20 * CATEGORIES), 'shorter data is the beginning of longer data');
});

t.test('files hold what was generated', async (t) => {
  const folder = t.testdir();
  const meta = writeCtrFiles({ folder, train: 300, test: 100, seed: 5, text: true });
  const data = generateCtr(300, 5);
  t.match(readCtrFile(join(folder, 'train.bin')), { labels: data.labels, dense: data.dense, ids: data.ids });
  t.same(JSON.parse(readFileSync(join(folder, 'meta.json'), 'utf8')), meta);
  t.ok(meta.test.bayes_auc! > 0.7 && meta.test.bayes_auc! < 1);
  const lines = readFileSync(join(folder, 'test.vw'), 'utf8').trimEnd().split('\n');
  t.equal(lines.length, 100);
  t.match(lines[0], /^-?1 \|a \d+ .*\|z \d+ \|N( \d+:-?\d(\.\d{1,3})?){13}$/);
});
