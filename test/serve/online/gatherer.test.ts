/** @file Requests that come together are computed together, and each gets its own part. */
import t from 'tap';
import type { EncodedChunk } from '../../../src/serve/chunks.js';
import { Gatherer, type Scorer } from '../../../src/serve/online/gatherer.js';

/** Gives each row its `x`, twice for the second head; keeps what it was asked. */
function echo(rows: number, ids = 100) {
  const batches: EncodedChunk[] = [];
  let gate: Promise<void> = Promise.resolve();
  const scorer: Scorer = {
    room: { rows, ids: new Map([['tags', ids]]) },
    heads: [{ width: 1 }, { width: 2 }],
    async score(chunk) {
      batches.push(chunk);
      await gate;
      const x = chunk.feeds.x as unknown as Float32Array;
      if (x.includes(-1)) throw new Error('a bad batch');
      return [x.slice(), Float32Array.from({ length: 2 * x.length }, (_, at) => x[at >> 1]!)];
    },
  };
  return {
    batches,
    scorer,
    hold() {
      let free = () => {};
      gate = new Promise<void>((resolve) => {
        free = resolve;
      });
      return () => free();
    },
  };
}

function chunk(...xs: number[]): EncodedChunk {
  const splits = Int32Array.from({ length: xs.length + 1 }, (_, at) => at);
  const tags = { splits, values: BigInt64Array.from(xs, BigInt) };
  return { feeds: { x: Float32Array.from(xs), tags } as never, count: xs.length };
}

t.test('what comes in one turn, and while another batch is computed, goes along', async (t) => {
  const { batches, scorer, hold } = echo(5);
  const seen: number[] = [];
  const gatherer = new Gatherer(scorer, ({ count }) => seen.push(count));
  const free = hold();
  const first = [gatherer.ask(chunk(1)), gatherer.ask(chunk(2, 3))];
  await new Promise((resolve) => setImmediate(resolve));
  const later = [4, 5, 6, 7, 8, 9].map((x) => gatherer.ask(chunk(x)));
  t.equal(gatherer.waiting, 6);
  free();
  t.same(await Promise.all(first), [
    [Float32Array.of(1), Float32Array.of(1, 1)],
    [Float32Array.of(2, 3), Float32Array.of(2, 2, 3, 3)],
  ]);
  t.same(
    (await Promise.all(later)).map(([x]) => x![0]),
    [4, 5, 6, 7, 8, 9],
  );
  t.same(seen, [3, 5, 1], 'no more rows than there is room for');
  const { splits, values } = batches[0]!.feeds.tags as unknown as { splits: Int32Array; values: BigInt64Array };
  t.same(
    [[...splits], [...values]],
    [
      [0, 1, 2, 3],
      [1n, 2n, 3n],
    ],
  );
});

t.test('a batch ends where the ids of a feature have no more room', async (t) => {
  const { batches, scorer } = echo(100, 4);
  const gatherer = new Gatherer(scorer);
  await Promise.all([gatherer.ask(chunk(1, 2, 3)), gatherer.ask(chunk(4, 5)), gatherer.ask(chunk(6, 7, 8, 9, 10))]);
  t.same(
    batches.map(({ count }) => count),
    [3, 2, 5],
    'what is too much by itself is computed by itself',
  );
});

t.test('a failure is of its batch alone, and who went away is left out', async (t) => {
  const { batches, scorer, hold } = echo(2);
  const gatherer = new Gatherer(scorer);
  const free = hold();
  const bad = gatherer.ask(chunk(-1, 0));
  const gone = new AbortController();
  const away = gatherer.ask(chunk(5), gone.signal);
  const good = gatherer.ask(chunk(7));
  gone.abort(new Error('went away'));
  const failures = Promise.all([t.rejects(bad, /a bad batch/), t.rejects(away, /went away/)]);
  free();
  await failures;
  t.same((await good)[0], Float32Array.of(7));
  t.equal(batches.length, 2);
  await gatherer.close();
  await t.rejects(gatherer.ask(chunk(1)), { code: 'ML_REQUEST' });
});
