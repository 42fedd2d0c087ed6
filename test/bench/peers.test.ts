import t from 'tap';
import { peersOf, type Run, runPeer, summarize } from '../../bench/peers.js';

const line = { system: 'x-1', model: 'lr', batch: 512, examples_per_s: 10, peak_rss_mb: 5, auc: 0.7 };
const node = (code: string) => runPeer({ command: process.execPath, args: ['-e', code] });

t.test('a peer gives its last line; one that is missing or fails is skipped with the reason', async (t) => {
  t.same(node(`console.log('hello'); console.log(${JSON.stringify(JSON.stringify(line))})`), { result: line });
  t.match(runPeer({ command: 'no-such-program', args: [] }), { skipped: /no-such-program: .*ENOENT/ });
  t.match(node('console.error("broken"); process.exit(3)'), { skipped: /ended with 3: broken/ });
  const said = JSON.stringify({ system: 'x', model: 'lr', skipped: 'not installed' });
  t.same(node(`console.log(${JSON.stringify(said)})`), { skipped: 'x lr: not installed' });
});

t.test('summaries are medians, and ratios are taken within rounds', async (t) => {
  const run = (system: string, round: number, speed: number, other: Partial<Run> = {}): Run => ({
    ...line,
    ...other,
    system,
    round,
    examples_per_s: speed,
    isOurs: system === 'ours',
  });
  const found = summarize([
    ...[0, 1, 2].map((round) => run('ours', round, 100 + round)),
    ...[0, 1, 2].map((round) => run('a', round, 50)),
    run('vw', 1, 10, { batch: 1 }),
    run('a', 0, 7, { batch: 4096 }),
  ]);
  t.match(found, [
    { system: 'ours', runs: 3, examples_per_s: 101, oursOver: {} },
    { system: 'a', runs: 3, examples_per_s: 50, oursOver: { 512: 2.02 } },
    { system: 'vw', oursOver: { 512: 10.1 } },
    { system: 'a', batch: 4096, oursOver: {} },
  ]);
});

t.test('every model and batch meets the same peers', async (t) => {
  const options = { folder: 'f', models: ['lr', 'deepfm'], batches: ['512'], threads: '2', seconds: '1', others: true };
  const peers = peersOf({ ...options, tfjs: '.', ours: 'node ours.js' });
  t.equal(peers.length, 2 * (1 + 4 + 1) + 1 + 3);
  t.same(peers[0]!.args, ['ours.js', 'f', '--model', 'lr', '--batch', '512', '--threads', '2']);
  t.equal(peers.filter(({ isOurs }) => isOurs).length, 2);
});
