/** @file Kernels as nvcc writes them, run by the simulated driver under many schedules, against plain TypeScript. */
import t from 'tap';
import { erf, integers, ulpOf, votes } from './kernel-references.js';
import {
  download,
  fixture,
  randomFloats,
  randomInts,
  type SimulatedDriver,
  upload,
  withSimulated,
} from './simulated.js';

const SCHEDULES = [
  { seed: 0, residentBlocks: 1, quantum: 4096 },
  { seed: 1, residentBlocks: 4, quantum: 64 },
  { seed: 2, residentBlocks: 3, quantum: 16 },
  { seed: 3, residentBlocks: 1, quantum: 64, splitLanes: true },
];

/** Runs `check` under every schedule. */
function underSchedules(driver: SimulatedDriver, check: (schedule: string) => void): void {
  for (const schedule of SCHEDULES) {
    driver.simulator.configure({ splitLanes: false, ...schedule });
    check(JSON.stringify(schedule));
  }
}

t.test('rows summed by segment are as the reference adds them, bit by bit', (t) =>
  withSimulated<typeof t>(async (t, driver) => {
    const kernel = driver.loadModule('kernels', fixture('kernels.ptx')).kernel('segmentSum');
    using stream = driver.stream();
    const [rows, segments, dim4] = [50, 37, 3];
    const table = randomFloats(rows * dim4 * 4);
    const splits = new Int32Array(segments + 1);
    for (let s = 0; s < segments; s++) splits[s + 1] = splits[s]! + (s % 5);
    const ids = randomInts(splits[segments]!, rows);
    const expected = new Float32Array(segments * dim4 * 4);
    const width = dim4 * 4;
    for (let s = 0; s < segments; s++) {
      for (let i = splits[s]!; i < splits[s + 1]!; i++) {
        for (let c = 0; c < width; c++) expected[s * width + c]! += table[ids[i]! * width + c]!;
      }
    }
    const [a, b, c] = [table, ids, splits].map((view) => upload(driver, view)) as [never, never, never];
    underSchedules(driver, (schedule) => {
      const out = driver.alloc(expected.byteLength);
      kernel.launch(stream, { grid: 1, block: 128 }, [a, b, c, out, segments, dim4]);
      stream.synchronize();
      t.same(download(driver, out, new Float32Array(expected.length)), expected, schedule);
    });
  })(t),
);

t.test('optimizers are as Math.fround computes them, bit by bit', (t) =>
  withSimulated<typeof t>(async (t, driver) => {
    const f = Math.fround;
    const module = driver.loadModule('kernels', fixture('kernels.ptx'));
    using stream = driver.stream();
    const [rows, dim, count] = [40, 6, 25];
    const weights = randomFloats(rows * dim, 3);
    const norms = randomFloats(rows * dim, 4).map((x) => Math.abs(x) + 0.1);
    const ids = Int32Array.from({ length: count }, (_, i) => (i * 7) % rows);
    const grads = randomFloats(count * dim, 5);
    const [rate, decay] = [f(0.05), f(0.01)];
    const [w, n] = [upload(driver, weights), upload(driver, norms)];
    const args = [w, n, upload(driver, ids), upload(driver, grads), count, dim, rate, decay];
    module.kernel('adagradRows').launch(stream, { grid: 5, block: 32 }, args);
    for (let i = 0; i < count * dim; i++) {
      const at = ids[Math.floor(i / dim)]! * dim + (i % dim);
      const grad = f(grads[i]! + f(decay * weights[at]!));
      norms[at] = norms[at]! + f(grad * grad);
      weights[at] = weights[at]! - f(f(rate * grad) / f(Math.sqrt(norms[at]!)));
    }
    stream.synchronize();
    t.same(download(driver, w, new Float32Array(rows * dim)), weights, 'weights');
    t.same(download(driver, n, new Float32Array(rows * dim)), norms, 'norms');

    const size = 1000;
    const [x, m, v, g] = [11, 12, 13, 14].map((seed) => randomFloats(size, seed)) as Float32Array[];
    for (let i = 0; i < size; i++) v![i] = Math.abs(v![i]!);
    const [beta1, beta2, epsilon] = [f(0.9), f(0.99), f(1e-6)];
    const buffers = [x!, m!, v!, g!].map((view) => upload(driver, view));
    module.kernel('adam').launch(stream, { grid: 2, block: 256 }, [...buffers, size, rate, beta1, beta2, epsilon]);
    for (let i = 0; i < size; i++) {
      const grad = g![i]!;
      m![i] = f(beta1 * m![i]!) + f(f(1 - beta1) * grad);
      v![i] = f(beta2 * v![i]!) + f(f(f(1 - beta2) * grad) * grad);
      x![i] = x![i]! - f(f(rate * m![i]!) / f(f(Math.sqrt(v![i]!)) + epsilon));
    }
    stream.synchronize();
    for (const [index, expected] of [x!, m!, v!].entries()) {
      t.same(download(driver, buffers[index]!, new Float32Array(size)), expected);
    }
  })(t),
);

t.test('a tiled product is right at odd sizes, and its counters say how it went', (t) =>
  withSimulated<typeof t>(async (t, driver) => {
    const kernel = driver.loadModule('kernels', fixture('kernels.ptx')).kernel('matMul');
    using stream = driver.stream();
    const [m, n, k] = [45, 37, 50];
    const [a, b, bias] = [randomFloats(m * k, 1), randomFloats(k * n, 2), randomFloats(n, 3)];
    const inputs = [a, b, bias].map((view) => upload(driver, view));
    underSchedules(driver, (schedule) => {
      const out = driver.alloc(m * n * 4);
      kernel.launch(stream, { grid: [2, 2], block: 256 }, [...inputs, out, m, n, k]);
      stream.synchronize();
      const c = download(driver, out, new Float32Array(m * n));
      let worst = 0;
      for (let i = 0; i < m; i++) {
        for (let j = 0; j < n; j++) {
          let sum = bias[j]!;
          for (let q = 0; q < k; q++) sum += a[i * k + q]! * b[q * n + j]!;
          worst = Math.max(worst, Math.abs(sum - c[i * n + j]!));
        }
      }
      t.ok(worst < 1e-5, `${schedule}: ${worst}`);
    });
    driver.simulator.configure({ seed: 0, residentBlocks: 1, quantum: 4096, splitLanes: false, counters: true });
    driver.simulator.resetCounters(kernel);
    kernel.launch(stream, { grid: [2, 2], block: 256 }, [...inputs, driver.alloc(m * n * 4), m, n, k]);
    const counters = driver.simulator.counters(kernel);
    t.match(counters, { launches: 1, blocks: 4, barriers: 16 });
    t.ok(counters.lanesPerInstruction > 20 && counters.lanesPerInstruction <= 32);
    t.ok(counters.sharedWavefronts >= counters.sharedRequests && counters.sharedRequests > 1000);
    t.equal(counters.globalStoreBytes, m * n * 4);
    t.ok(counters.globalSectors >= (counters.globalLoadBytes + counters.globalStoreBytes) / 128);
  })(t),
);

t.test('transcendental functions are within two units in the last place, sin and pow within four', (t) =>
  withSimulated<typeof t>(async (t, driver) => {
    const kernel = driver.loadModule('kernels', fixture('kernels.ptx')).kernel('functions');
    using stream = driver.stream();
    const inputs = randomFloats(1000).map((x, i) => x * [1, 10, 60, 1e-4, 3e5][i % 5]!);
    const count = inputs.length;
    const out = driver.alloc(9 * count * 4);
    kernel.launch(stream, { grid: 4, block: 256 }, [upload(driver, inputs), out, count]);
    stream.synchronize();
    const found = download(driver, out, new Float32Array(9 * count));
    const references: [string, (x: number) => number, number][] = [
      ['exp', Math.exp, 2],
      ['log', (x) => Math.log(Math.fround(Math.abs(x) + Math.fround(1e-3))), 2],
      ['tanh', Math.tanh, 2],
      ['erf', erf, 4],
      ['sigmoid', (x) => 1 / (1 + Math.exp(-x)), 4],
      ['log1p', (x) => Math.log1p(Math.exp(-Math.abs(x))), 4],
      ['pow', (x) => Math.abs(x) ** Math.fround(1.7), 4],
      ['sin', Math.sin, 4],
      ['rsqrt', (x) => 1 / Math.sqrt(Math.fround(Math.abs(x) + 0.5)), 2],
    ];
    for (const [row, [name, reference, ulps]] of references.entries()) {
      let worst = 0;
      for (let i = 0; i < count; i++) {
        const expected = Math.fround(reference(inputs[i]!));
        if (Math.abs(expected) < 1e-30 || !Number.isFinite(expected)) continue;
        worst = Math.max(worst, Math.abs(found[row * count + i]! - expected) / ulpOf(expected));
      }
      t.ok(worst <= ulps, `${name}: ${worst} units in the last place`);
    }
  })(t),
);

t.test('reductions, scans and hashing agree with the reference under every schedule', (t) =>
  withSimulated<typeof t>(async (t, driver) => {
    const module = driver.loadModule('kernels', fixture('kernels.ptx'));
    using stream = driver.stream();
    const values = randomFloats(3000);
    const flags = randomInts(512, 9);
    const keys = BigUint64Array.from(randomInts(700, 200, 9), (id) => BigInt(id + 1) * 0x9e3779b97f4a7c15n);
    const [input, flagsIn, keysIn] = [values, flags, keys].map((view) => upload(driver, view)) as [never, never, never];
    const square = values.reduce((sum, x) => sum + x * x, 0);
    const counts = new Map<bigint, number>();
    for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
    underSchedules(driver, (schedule) => {
      const partial = driver.alloc(4 * 8);
      module.kernel('sumSquares').launch(stream, { grid: 4, block: 256 }, [input, values.length, partial]);
      const scanned = driver.alloc(512 * 4);
      module.kernel('blockScan').launch(stream, { grid: 2, block: 256, sharedBytes: 32 }, [flagsIn, scanned, 512]);
      const [table, hits] = [driver.alloc(1024 * 8), driver.alloc(1024 * 4)];
      stream.fill(table, 0);
      stream.fill(hits, 0);
      module.kernel('hashInsert').launch(stream, { grid: 3, block: 256 }, [table, hits, keysIn, keys.length, 1023]);
      stream.synchronize();
      const total = download(driver, partial, new Float64Array(4)).reduce((sum, x) => sum + x, 0);
      t.ok(Math.abs(total - square) < 1e-9 * square, schedule);
      let sum = 0;
      const prefix = flags.map((flag, i) => {
        if (i % 256 === 0) sum = 0;
        sum += flag;
        return sum - flag;
      });
      t.same(download(driver, scanned, new Int32Array(512)), prefix, schedule);
      const found = download(driver, table, new BigUint64Array(1024));
      const hit = download(driver, hits, new Int32Array(1024));
      const pairs = new Map([...found].flatMap((key, slot) => (key === 0n ? [] : [[key, hit[slot]!] as const])));
      t.equal(pairs.size, counts.size);
      t.ok(
        [...counts].every(([key, count]) => pairs.get(key) === count),
        `${schedule}: every key was counted`,
      );
    });
  })(t),
);

t.test('atomic operations, votes, locks and the last block come out the same under every schedule', (t) =>
  withSimulated<typeof t>(async (t, driver) => {
    const module = driver.loadModule('kernels', fixture('kernels.ptx'));
    using stream = driver.stream();
    const input = Int32Array.from({ length: 64 }, (_, i) => (i * 5) % 13);
    const values = upload(driver, input);
    underSchedules(driver, (schedule) => {
      const [ints, longs, floats, doubles] = [40, 16, 4, 8].map((bytes) => driver.alloc(bytes)) as [
        never,
        never,
        never,
        never,
      ];
      driver.upload(ints, new Int32Array([0, 999, 0, -1, 0, 0, 0, 0, 0, 0]));
      driver.upload(longs, new BigUint64Array(2));
      for (const buffer of [floats, doubles]) stream.fill(buffer, 0);
      module.kernel('atomics').launch(stream, { grid: 3, block: 96 }, [ints, longs, floats, doubles]);
      const voted = driver.alloc(384 * 4);
      module.kernel('votes').launch(stream, { grid: 1, block: 64 }, [values, voted]);
      const [lock, counter] = [upload(driver, new Int32Array(1)), upload(driver, new Int32Array(1))];
      module.kernel('spinLock').launch(stream, { grid: 3, block: 64 }, [lock, counter]);
      const [parts, done, total] = [driver.alloc(40), upload(driver, new Int32Array(1)), driver.alloc(4)];
      module.kernel('lastBlock').launch(stream, { grid: 10, block: 64 }, [parts, done, total]);
      stream.synchronize();
      const n = 288;
      const xor = Array.from({ length: n }, (_, i) => i).reduce((a, b) => a ^ b);
      const expected = [(n * (n - 1)) / 2, 500 - n + 1, n - 1, 0, -1, xor, n % 100, 0, -1, 1234];
      expected[7] = (100 - (n % 100)) % 100;
      t.same([...download(driver, ints, new Int32Array(10))], expected, schedule);
      t.same(
        [...download(driver, longs, new BigUint64Array(2))],
        [BigInt((n * (n - 1)) / 2) << 20n, BigInt((n - 1) ** 3)],
      );
      t.equal(download(driver, floats, new Float32Array(1))[0], 1.5 * n);
      t.equal(download(driver, doubles, new Float64Array(1))[0], 0.25 * n);
      t.equal(download(driver, counter, new Int32Array(1))[0], 192, 'each thread had the lock once');
      t.equal(download(driver, total, new Float32Array(1))[0], 55, 'the last block saw all parts');
      t.same([...download(driver, voted, new Int32Array(384))], votes(input), schedule);
    });
  })(t),
);

t.test('halves, tables in constant memory, local arrays and integers of all widths', (t) =>
  withSimulated<typeof t>(async (t, driver) => {
    const module = driver.loadModule('kernels', fixture('kernels.ptx'));
    using stream = driver.stream();
    const count = 64;
    const input = Uint32Array.from(randomInts(count, 2 ** 31, 5), (x, i) => x * (i % 3) + i);
    const out = driver.alloc(count * 4);
    module.kernel('integers').launch(stream, { grid: 1, block: 64 }, [upload(driver, input), out, count]);
    stream.synchronize();
    t.same([...download(driver, out, new Uint32Array(count))], [...input].map(integers));
    // A variable of the module can be changed from the host.
    t.match(module.variable('scratchTotal'), { size: 4 });

    const floats = new Float32Array([
      0,
      1,
      -2.5,
      65504,
      65520,
      1e-7,
      5.96e-8,
      2.98e-8,
      0.1,
      1 / 3,
      3.4e38,
      -0,
      1.00048828125,
    ]);
    const [half, bfloat, back, fused] = [2, 2, 4, 4].map((bytes) => driver.alloc(bytes * floats.length));
    const args = [upload(driver, floats), half!, bfloat!, back!, fused!, floats.length];
    module.kernel('halves').launch(stream, { grid: 1, block: 32 }, args);
    stream.synchronize();
    t.same(
      [...download(driver, half!, new Uint16Array(floats.length))],
      [0, 0x3c00, 0xc100, 0x7bff, 0x7c00, 2, 1, 0, 0x2e66, 0x3555, 0x7c00, 0x8000, 0x3c00],
    );
    t.same(
      [...download(driver, bfloat!, new Uint16Array(floats.length))],
      [0, 0x3f80, 0xc020, 0x4780, 0x4780, 0x33d7, 0x3380, 0x3300, 0x3dcd, 0x3eab, 0x7f80, 0x8000, 0x3f80],
    );
    t.equal(download(driver, back!, new Float32Array(floats.length))[2], -5);
    // -2.5 * -2.5 + (-2.5 + -2.5) = 1.25 in the low half, 0.5 * 0.5 + 1 = 1.25 in the high one.
    t.equal(download(driver, fused!, new Uint32Array(floats.length))[2], 0x3d003d00);
  })(t),
);
