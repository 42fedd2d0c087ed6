/** @file What the simulated driver catches: wrong kernels, and right ones of which a piece was taken away. */
import t from 'tap';
import type { KernelArgument } from '../../src/runtime/backends/cuda/ptx-module.js';
import { download, failureOf, fixture, randomFloats, randomInts, upload, withSimulated } from './simulated.js';

t.test('every fault is reported with thread, kernel, line and text', (t) =>
  withSimulated<typeof t>(async (t, driver) => {
    const module = driver.loadModule('faults', fixture('faults.ptx'));
    const stream = driver.stream();
    const [freed, out, ints] = [driver.alloc(256), driver.alloc(1024), driver.alloc(400)];
    const floats = upload(driver, new Float32Array(64));
    const address = freed.address;
    freed.free();
    const cases: [string, number, number, KernelArgument[], RegExp, string][] = [
      [
        'offByOne',
        1,
        128,
        [ints, 100],
        new RegExp(
          'illegal address: store of 4 bytes.*byte 400 of an allocation of 400 bytes.*' +
            'block \\(0,0,0\\) thread \\(100,0,0\\).*kernel offByOne, PTX line \\d+: st.global',
        ),
        'ML_CUDA_KERNEL',
      ],
      ['offByOne', 2, 64, [-8, 100], /no allocation is near/, 'ML_CUDA_KERNEL'],
      ['misaligned', 1, 1, [floats, out], /misaligned address: load of 16 bytes/, 'ML_CUDA_KERNEL'],
      ['readsAll', 1, 32, [address, out], /the memory was freed/, 'ML_CUDA_KERNEL'],
      [
        'readsAll',
        1,
        32,
        [driver.alloc(128), out],
        /uninitialised memory: load of 4 bytes of global memory/,
        'ML_CUDA_KERNEL',
      ],
      [
        'readsShared',
        1,
        64,
        [out],
        /uninitialised memory: load of 4 bytes of shared memory.*thread \(32,0,0\)/,
        'ML_CUDA_KERNEL',
      ],
      [
        'sharedRace',
        1,
        64,
        [out],
        /shared-memory race: (read after a write|write after a read) of another warp, of PTX line \d+/,
        'ML_CUDA_KERNEL',
      ],
      ['globalRace', 2, 32, [out], /global-memory race: block \(0,0,0\) has written another value/, 'ML_CUDA_KERNEL'],
      [
        'divergentBarrier',
        1,
        64,
        [out],
        /divergent barrier: lane 16 of the warp is at PTX line \d+ while others wait/,
        'ML_CUDA_KERNEL',
      ],
      ['deadlock', 1, 32, [out], /deadlock: .*shfl.sync.* waits; and .* waits/, 'ML_CUDA_KERNEL'],
      [
        'livelock',
        1,
        32,
        [upload(driver, new Int32Array(1))],
        /live-lock: kernel livelock ran 100000 warp instructions/,
        'ML_CUDA_KERNEL',
      ],
      [
        'traps',
        1,
        8,
        [upload(driver, Int32Array.from([1, 2, 7, 4, 5, 6, 7, 8]))],
        /trap by block \(0,0,0\) thread \(2,0,0\)/,
        'ML_CUDA_KERNEL',
      ],
      ['sameValue', 4, 64, [out], /^$/, ''],
    ];
    // The race below reads shared memory before it is written, which would be reported first.
    driver.simulator.configure({ warpInstructionsMax: 100_000 });
    for (const [name, grid, block, args, expected, code] of cases) {
      driver.simulator.configure({ checkUninitialized: name !== 'sharedRace' });
      const found = failureOf(driver, () => module.kernel(name).launch(stream, { grid, block }, args));
      t.match(found, expected, name);
      t.ok(found.startsWith(code), `${name}: ${found.slice(0, 20)}`);
    }
  })(t),
);

t.test('checks can be turned off, and a fault stays until it is forgotten', (t) =>
  withSimulated<typeof t>(async (t, driver) => {
    const module = driver.loadModule('faults', fixture('faults.ptx'));
    const stream = driver.stream();
    const out = driver.alloc(256);
    driver.simulator.configure({ checkRaces: false, checkUninitialized: false });
    t.equal(
      failureOf(driver, () => module.kernel('globalRace').launch(stream, { grid: 2, block: 32 }, [out])),
      '',
    );
    t.equal(
      failureOf(driver, () => module.kernel('readsShared').launch(stream, { grid: 1, block: 64 }, [out])),
      '',
    );
    t.throws(() => module.kernel('offByOne').launch(stream, { grid: 1, block: 128 }, [out, 100]), {
      code: 'ML_CUDA_KERNEL',
    });
    t.throws(() => driver.alloc(4), { code: 'ML_CUDA_KERNEL', hint: /new one/ });
    driver.simulator.reset();
    driver.alloc(4).free();
  })(t),
);

t.test('lanes that run one by one show a missing __syncwarp', (t) =>
  withSimulated<typeof t>(async (t, driver) => {
    const module = driver.loadModule('faults', fixture('faults.ptx'));
    const stream = driver.stream();
    const reversed = Int32Array.from({ length: 32 }, (_, i) => 31 - i);
    const run = (name: string, splitLanes: boolean) => {
      const out = driver.alloc(128);
      driver.simulator.configure({ splitLanes });
      const failure = failureOf(driver, () => module.kernel(name).launch(stream, { grid: 1, block: 32 }, [out]));
      return failure !== '' ? failure : download(driver, out, new Int32Array(32));
    };
    t.same(run('missingSyncWarp', false), reversed, 'lock-step hides it');
    t.match(run('missingSyncWarp', true), /uninitialised memory/, 'a lane reads before another has written');
    t.same(run('withSyncWarp', true), reversed);
  })(t),
);

/** The PTX with one piece changed; fails when the piece is not there. */
type Replacement = string | ((piece: string) => string);
function mutate(ptx: string, kernel: string, pattern: RegExp, replacement: Replacement): string {
  const start = ptx.indexOf(`.entry ${kernel}(`);
  const end = ptx.indexOf('\n}', start);
  const body = ptx.slice(start, end);
  const changed = body.replace(pattern, replacement as string);
  if (start < 0 || changed === body) throw new Error(`nothing to change in ${kernel}: ${pattern}`);
  return ptx.slice(0, start) + changed + ptx.slice(end);
}

t.test('a right kernel of which a piece was taken away is noticed', (t) =>
  withSimulated<typeof t>(async (t, driver) => {
    const ptx = fixture('kernels.ptx');
    const stream = driver.stream();
    const n = 40;
    const [a, b, bias] = [randomFloats(n * n, 1), randomFloats(n * n, 2), randomFloats(n, 3)].map((v) =>
      upload(driver, v),
    );
    const product = (text: string) => () =>
      driver
        .loadModule('mutant', text)
        .kernel('matMul')
        .launch(stream, { grid: [2, 2], block: 256 }, [a!, b!, bias!, driver.alloc(n * n * 4), n, n, n]);
    t.equal(failureOf(driver, product(ptx)), '', 'as it was');
    const second = /(bar\.sync[^;]*;[\s\S]*?)bar\.sync[^;]*;/;
    for (const seed of [0, 1]) {
      driver.simulator.configure({ seed, residentBlocks: 1 + seed, quantum: seed ? 64 : 4096 });
      t.match(
        failureOf(driver, product(mutate(ptx, 'matMul', /bar\.sync[^;]*;/, ''))),
        /race|uninitialised/,
        'first barrier',
      );
      t.match(failureOf(driver, product(mutate(ptx, 'matMul', second, '$1'))), /shared-memory race/, 'second barrier');
    }
    driver.simulator.configure({ seed: 0, residentBlocks: 1, quantum: 4096 });

    const values = upload(driver, randomFloats(1000));
    const sum = (text: string) => () =>
      driver
        .loadModule('mutant', text)
        .kernel('sumSquares')
        .launch(stream, { grid: 1, block: 256 }, [values, 1000, driver.alloc(8)]);
    t.equal(failureOf(driver, sum(ptx)), '', 'as it was');
    const mask = /(shfl\.sync\.bfly\.b32[^;]*, )[^,]+;/;
    t.match(failureOf(driver, sum(mutate(ptx, 'sumSquares', mask, '$10xffff;'))), /not in its own member mask/);
    const withoutBarrier = mutate(ptx, 'sumSquares', /bar\.sync[^;]*;/, '');
    t.match(failureOf(driver, sum(withoutBarrier)), /uninitialised/, 'a warp reads before another has written');
    driver.simulator.configure({ checkUninitialized: false });
    t.match(failureOf(driver, sum(withoutBarrier)), /shared-memory race: write after a read/);
    driver.simulator.configure({ checkUninitialized: true });

    const rows = upload(driver, randomInts(300, 50));
    const flags = (text: string) => () =>
      driver
        .loadModule('mutant', text)
        .kernel('blockScan')
        .launch(stream, { grid: 2, block: 256, sharedBytes: 32 }, [rows, driver.alloc(1200), 300]);
    t.equal(failureOf(driver, flags(ptx)), '', 'as it was');
    // `i < count` becomes `i <= count`.
    t.match(
      failureOf(
        driver,
        flags(
          mutate(ptx, 'blockScan', /setp\.(ge|lt)\.s32(\s+%p\d+, %r\d+, %r\d+;)/g, (piece: string) =>
            piece.includes('.ge.') ? piece.replace('.ge.', '.gt.') : piece.replace('.lt.', '.le.'),
          ),
        ),
      ),
      /illegal address.*byte 1200 of an allocation of 1200 bytes/,
    );
  })(t),
);

t.test('duplicate rows of an update that needs unique ones are a race', (t) =>
  withSimulated<typeof t>(async (t, driver) => {
    const kernel = driver.loadModule('kernels', fixture('kernels.ptx')).kernel('adagradRows');
    const stream = driver.stream();
    const run = (ids: number[]) =>
      failureOf(driver, () => {
        const state = [1, 2].map((seed) =>
          upload(
            driver,
            randomFloats(64, seed).map((x) => Math.abs(x) + 1),
          ),
        );
        const args = [...state, upload(driver, Int32Array.from(ids)), upload(driver, randomFloats(16)), 4, 4, 0.1, 0];
        kernel.launch(stream, { grid: 4, block: 4 }, args);
      });
    t.equal(run([1, 5, 2, 9]), '');
    t.match(run([1, 5, 2, 5]), /global-memory race: block \(1,0,0\)/);
  })(t),
);

t.test('what cannot run is refused when the module is loaded, with line and text', (t) =>
  withSimulated<typeof t>(async (t, driver) => {
    const module = (body: string, header = '.version 7.0\n.target sm_75\n.address_size 64\n') =>
      `${header}.visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<4>;\n.reg .f32 %f<4>;\n.reg .pred %p<2>;
${body}\nret;\n}\n`;
    const refusals: [string, RegExp][] = [
      ['tex.1d.v4.f32.s32 {%f0,%f1,%f2,%f3}, [t, {%r1}];', /./],
      ['wgmma.fence.sync.aligned;', /PTX line 9: instruction wgmma is not supported: wgmma.fence.sync.aligned/],
      ['add.sat.s32 %r0, %r1, %r2;', /modifier .sat is not supported here: add.sat.s32/],
      ['add.s32 %r0, %r1, %f9;', /unknown register %f9/],
      ['add.s64 %r0, %r1, %r2;', /where 8 are meant|too narrow/],
      ['bra $L_nowhere;', /there is no label \$L_nowhere/],
      ['mov.u32 %r0, %clock;', /unknown register %clock/],
      ['call (r), printf, (a);', /no function printf/],
      ['st.const.u32 [p], %r1;', /constant memory cannot be written|unknown name/],
    ];
    for (const [body, reason] of refusals) {
      t.throws(() => driver.loadModule('m', module(body)), { code: 'ML_CUDA_PTX', message: reason }, body);
    }
    const newer = module('', '.version 7.0\n.target sm_90\n.address_size 64\n');
    t.throws(() => driver.loadModule('m', newer), { code: 'ML_CUDA_PTX', message: /sm_90.*7\.5/ });
    driver.simulator.configure({ computeCapability: 90 });
    driver.loadModule('m', newer).unload();
    const future = module('', '.version 9.9\n.target sm_75\n.address_size 64\n');
    t.throws(() => driver.loadModule('m', future), {
      code: 'ML_CUDA_PTX',
      message: /UNSUPPORTED_PTX_VERSION/,
      hint: /\.version/,
    });
    t.throws(() => driver.loadModule('m', 'this is no PTX'), { code: 'ML_CUDA_PTX' });
  })(t),
);
