import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { hoistLaunches } from '../../src/runtime/backends/cuda/hoist-launches.js';
import { type Access, planStep, type Side, type Work } from '../../src/runtime/backends/cuda/step-plan.js';

const on = (side: Side, reads: readonly number[], writes: readonly number[] = []): Work => ({
  side,
  accesses: [
    ...reads.map((block): Access => ({ block, writes: false })),
    ...writes.map((block): Access => ({ block, writes: true })),
  ],
});
const text = (works: readonly Work[]) =>
  planStep(works).entries.map((op) => {
    if (op.kind === 'work') return `work ${op.work}`;
    if (op.kind === 'wait') return `${op.side} waits ${op.copy}`;
    return `copy ${op.copy}`;
  });

t.test('a step of one side copies nothing', async (t) => {
  const plan = planStep([on('device', [0, 1], [2]), on('device', [2], [3])]);
  t.same(plan.copies, []);
  t.same(plan.needs, { host: [], device: [0, 1, 2, 3] });
  t.same(plan.leaves, [
    { block: 2, host: false, device: true },
    { block: 3, host: false, device: true },
  ]);
});

t.test('a copy starts after the work that wrote, and is waited for by the work that reads', async (t) => {
  const works = [on('host', [], [0]), on('device', [7], [8]), on('device', [0], [1]), on('host', [1])];
  t.same(text(works), ['work 0', 'copy 0', 'work 1', 'device waits 0', 'work 2', 'copy 1', 'host waits 1', 'work 3']);
  t.same(
    planStep(works).copies.map(({ block, to }) => [block, to]),
    [
      [0, 'device'],
      [1, 'host'],
    ],
  );
});

t.test('what both sides only read is wanted on both at the start, and never copied', async (t) => {
  const plan = planStep([on('device', [0]), on('host', [0])]);
  t.same(plan.needs, { host: [0], device: [0] });
  t.same([plan.copies, plan.leaves], [[], []]);
});

t.test('the device writes over what is being copied from it only afterwards', async (t) => {
  const works = [on('device', [], [0]), on('device', [], [0]), on('host', [0]), on('device', [], [0])];
  t.same(text(works), ['work 0', 'work 1', 'copy 0', 'host waits 0', 'work 2', 'device waits 0', 'work 3']);
});

t.test('a copy over what the device used before in the step follows its works', async (t) => {
  const plan = planStep([on('device', [0]), on('host', [], [0]), on('device', [0])]);
  t.same(plan.copies, [{ block: 0, to: 'device', afterWorks: true }]);
});

t.test('an extent holds until something else is written', async (t) => {
  const extent = { scale: 4, words: [9] };
  const host = (extent?: Access['extent']): Work => ({
    side: 'host',
    accesses: [{ block: 0, writes: true, ...(extent && { extent }) }],
  });
  const copied = (works: Work[]) => planStep([...works, on('device', [0])]).copies[0]!.extent;
  t.same(copied([host(extent)]), extent);
  t.same(copied([host(extent), host('within')]), extent);
  t.same(copied([host(extent), host()]), undefined);
  t.same(copied([host(), host(extent)]), undefined, 'the first one wrote all of it');
});

/** Runs a plan over two memories of one number per block; works add up what they read. */
function simulate(works: readonly Work[], blocks: number, steps: number): number[] {
  const plan = planStep(works);
  const memory: Record<Side, number[]> = {
    host: Array.from({ length: blocks }, (_, block) => block + 1),
    device: Array.from({ length: blocks }, () => Number.NaN),
  };
  const valid = Array.from({ length: blocks }, () => ({ host: true, device: false }));
  for (let step = 0; step < steps; step++) {
    for (const side of ['host', 'device'] as const) {
      for (const block of plan.needs[side]) {
        const from = side === 'host' ? 'device' : 'host';
        if (!valid[block]![side]) memory[side][block] = memory[from][block]!;
        valid[block]![side] = true;
      }
    }
    const flying = new Map<number, number>();
    for (const op of plan.entries) {
      if (op.kind === 'copy') {
        const { block, to } = plan.copies[op.copy]!;
        flying.set(op.copy, memory[to === 'host' ? 'device' : 'host'][block]!);
      } else if (op.kind === 'wait') {
        const { block, to } = plan.copies[op.copy]!;
        // The device also waits for copies to the host: those change nothing for it.
        if (to === op.side) memory[to][block] = flying.get(op.copy)!;
      } else run(works[op.work]!, memory[works[op.work]!.side], op.work);
    }
    for (const { block, host, device } of plan.leaves) valid[block] = { host, device };
  }
  return valid.map(({ host }, block) => memory[host ? 'host' : 'device'][block]!);
}

function run({ accesses }: Work, memory: number[], salt: number): void {
  const sum = accesses.reduce((total, { block }) => total + memory[block]!, salt);
  for (const { block, writes } of accesses) if (writes) memory[block] = (sum * 31 + block) % 65521;
}

const work = fc.record({
  side: fc.constantFrom('host' as const, 'device' as const),
  accesses: fc.uniqueArray(fc.record({ block: fc.nat(4), writes: fc.boolean() }), {
    selector: ({ block }) => block,
    maxLength: 3,
  }),
});

t.test('any works give over two memories what they give over one', async () => {
  fc.assert(
    fc.property(fc.array(work, { maxLength: 12 }), (works) => {
      const one = Array.from({ length: 5 }, (_, block) => block + 1);
      for (let step = 0; step < 3; step++) for (const [index, each] of works.entries()) run(each, one, index);
      assert.deepEqual(simulate(works, 5, 3), one);
    }),
  );
});

t.test('works of the device go ahead of works of the host that they do not depend on', async (t) => {
  const hoisted = (works: readonly Work[]) => hoistLaunches(works, () => false).map((each) => works.indexOf(each));
  const [find, gather, dense, apply] = [
    on('host', [], [0]),
    on('device', [0], [1]),
    on('device', [2], [3]),
    on('host', [1], [0]),
  ];
  t.same(hoisted([find, dense, gather, apply, on('device', [3], [4])]), [1, 0, 2, 4, 3]);
  t.same(
    hoistLaunches([find, dense], () => true),
    [find, dense],
    'unless they are tied',
  );
});

t.test('any works give the same in the order of launches first', async () => {
  fc.assert(
    fc.property(fc.array(work, { maxLength: 12 }), (works) => {
      const numbered = works.map((each, index) => ({ ...each, index }));
      const [plain, hoisted] = [0, 1].map(() => Array.from({ length: 5 }, (_, block) => block + 1)) as [
        number[],
        number[],
      ];
      for (const each of numbered) run(each, plain, each.index);
      for (const each of hoistLaunches(numbered, () => false)) run(each, hoisted, each.index);
      assert.deepEqual(hoisted, plain);
    }),
  );
});
