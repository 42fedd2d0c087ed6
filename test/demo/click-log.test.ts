import t from 'tap';
import { ClickLog } from '../../src/demo/click-log.js';
import { demoData } from '../../src/demo/demo-data.js';
import { auc } from '../../src/metrics/auc.js';

t.test('a log of clicks has the same rows whenever it is asked, and goes on where it ended', async (t) => {
  const log = new ClickLog({ rows: 2000, seed: 1 });
  const rows = [...log];
  t.same(log.row(1234), rows[1234]);
  const second = new ClickLog({ rows: 1000, seed: 1, first: 1000 });
  t.same([...second], rows.slice(1000));
  t.equal(second.probability(5), log.probability(1005));
  t.not([...new ClickLog({ rows: 10, seed: 2 })][9]!.adId, rows[9]!.adId, 'another seed, another log');
  for (let row = 1; row < rows.length; row++) {
    if (rows[row]!.timestamp <= rows[row - 1]!.timestamp) t.fail('time goes forward');
  }
});

t.test('its ids are many and unequal, and its labels are drawn by the probability it tells', async (t) => {
  const log = new ClickLog({ rows: 40_000, seed: 3 });
  const counts = new Map<string, number>();
  const [labels, likely] = [new Float32Array(40_000), new Float32Array(40_000)];
  let at = 0;
  for (const { userId, click } of log) {
    counts.set(userId, (counts.get(userId) ?? 0) + 1);
    labels[at] = click;
    likely[at] = log.probability(at++);
  }
  t.ok(counts.size > 20_000, `${counts.size} users`);
  t.ok(Math.max(...counts.values()) > 300, 'some are in many rows');
  const mean = (values: Float32Array) => values.reduce((sum, value) => sum + value, 0) / values.length;
  // Four standard deviations of the mean of so many draws are below 0.01.
  t.ok(Math.abs(mean(labels) - mean(likely)) < 0.01);
  const known = auc(labels, likely)!;
  t.ok(known > 0.8 && known < 0.87, `the best that can be is ${known}`);
});

t.test('a demo is named, with as many rows as are asked for', async (t) => {
  t.equal(demoData('demo:clicks').rows.rows, 200_000);
  t.equal(
    demoData('demo:clicks:5000', 2).rows.row(0).timestamp,
    demoData('demo:clicks:10000').rows.row(9999).timestamp + 7,
  );
  t.throws(() => demoData('demo:click'), { code: 'ML_FLAG', hint: 'did you mean demo:clicks?' });
  t.throws(() => demoData('demo:films'), { code: 'ML_FLAG', hint: 'there is demo:clicks' });
  for (const count of ['', '10', 'many', '1e9', '5000:1']) {
    t.throws(() => demoData(`demo:clicks:${count}`), { code: 'ML_FLAG' }, count);
  }
});
