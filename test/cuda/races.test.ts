/**
 * @file What the simulator remembers of who touched a word: lines of loads, launches long ago, windows of one access.
 */
import t from 'tap';
import { download, failureOf, upload, withSimulated } from './simulated.js';

const kernel = (name: string, params: string, body: string) => `.version 7.0
.target sm_75
.address_size 64
.visible .entry ${name}(${params}) {
  .reg .pred %p<4>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<8>;
  .shared .align 4 .b8 tile[128];
${body}
}
`;

/** Warp 0 stores its lanes to shared memory; after a barrier it loads them and warp 1 stores others there. */
const READ_THEN_WRITE = kernel(
  'readThenWrite',
  '',
  `  mov.u32 %r0, %tid.x;
  and.b32 %r1, %r0, 31;
  shl.b32 %r1, %r1, 2;
  mov.u32 %r2, tile;
  add.u32 %r2, %r2, %r1;
  setp.ge.u32 %p0, %r0, 32;
  @!%p0 st.shared.u32 [%r2], %r0;
  bar.sync 0;
  @!%p0 ld.shared.u32 %r3, [%r2];
  @%p0 st.shared.u32 [%r2], %r0;
  ret;`,
);

/** Block \`writer\` stores its number to the first word. */
const ONE_WRITES = kernel(
  'oneWrites',
  '.param .u64 out, .param .u32 writer',
  `  ld.param.u64 %rd0, [out];
  ld.param.u32 %r0, [writer];
  mov.u32 %r1, %ctaid.x;
  setp.ne.u32 %p0, %r0, %r1;
  @%p0 ret;
  st.global.u32 [%rd0], %r1;
  ret;`,
);

/** Even lanes load their word of shared memory, odd lanes theirs of \`from\`, by one generic load. */
const MIXED = kernel(
  'mixed',
  '.param .u64 from, .param .u64 out',
  `  ld.param.u64 %rd0, [from];
  ld.param.u64 %rd1, [out];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %rd2, %r0, 4;
  mov.u64 %rd3, tile;
  add.u64 %rd4, %rd3, %rd2;
  st.shared.u32 [%rd4], %r0;
  cvta.shared.u64 %rd4, %rd4;
  add.u64 %rd0, %rd0, %rd2;
  and.b32 %r1, %r0, 1;
  setp.eq.u32 %p0, %r1, 0;
  selp.b64 %rd5, %rd4, %rd0, %p0;
  ld.u32 %r2, [%rd5];
  add.u64 %rd6, %rd1, %rd2;
  st.global.u32 [%rd6], %r2;
  ret;`,
);

t.test(
  'a store to a word that another warp has loaded names the line of the load',
  withSimulated(async (t, driver) => {
    const module = driver.loadModule('races', READ_THEN_WRITE);
    const launch = () => module.kernel('readThenWrite').launch(driver.stream(), { grid: 3, block: 64 }, []);
    const line = READ_THEN_WRITE.split('\n').findIndex((text) => text.includes('ld.shared')) + 1;
    t.match(
      failureOf(driver, launch),
      new RegExp(`write after a read of another warp, of PTX line ${line}, .*byte 0 `),
    );
    t.match(failureOf(driver, launch), /write after a read/, 'again, in a block that was used before');
  }),
);

t.test(
  'blocks of different launches never race, however many launches lie between',
  withSimulated(async (t, driver) => {
    const stream = driver.stream();
    const write = driver.loadModule('races', ONE_WRITES).kernel('oneWrites');
    const out = upload(driver, new Int32Array(1));
    const other = upload(driver, new Int32Array(1));
    const idle = write.prepare({ grid: 2, block: 1 }, [other, 0]);
    write.launch(stream, { grid: 2, block: 1 }, [out, 0]);
    // A shadow with a launch number of 16 bits would take the next for the first.
    for (let launch = 1; launch < 65_536; launch++) idle.launch(stream);
    t.equal(
      failureOf(driver, () => write.launch(stream, { grid: 2, block: 1 }, [out, 1])),
      '',
    );
    t.same(download(driver, out, new Int32Array(1)), Int32Array.of(1));
  }),
);

t.test(
  'one generic access may reach shared memory with some lanes and global memory with others',
  withSimulated(async (t, driver) => {
    const mixed = driver.loadModule('mixed', MIXED).kernel('mixed');
    const lanes = Int32Array.from({ length: 32 }, (_, lane) => lane);
    const [from, out] = [
      upload(
        driver,
        lanes.map((lane) => 100 + lane),
      ),
      driver.alloc(128),
    ];
    // The second launch knows the allocation that the first has hit.
    for (const round of ['first', 'second']) {
      mixed.launch(driver.stream(), { grid: 1, block: 32 }, [from, out]);
      t.same(
        download(driver, out, new Int32Array(32)),
        lanes.map((lane) => (lane % 2 ? 100 + lane : lane)),
        round,
      );
    }
  }),
);
