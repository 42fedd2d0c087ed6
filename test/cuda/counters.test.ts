/** @file Counters of the simulated driver against what can be counted by hand. */
import t from 'tap';
import { withSimulated } from './simulated.js';
import { PTX_HEADER } from './vector-kernel.js';

/**
 * Thread i stores its number to word i * stride, once in shared and once in global memory; odd lanes only when asked.
 */
const STRIDED = `${PTX_HEADER}
.visible .entry strided(.param .u64 out, .param .u32 stride, .param .u32 oddOnly)
{
  .reg .b64 base, at, wide;
  .reg .b32 thread, step, place, odd;
  .reg .pred skips;
  .shared .align 16 .b8 tile[4224];
  mov.u32 thread, %tid.x;
  ld.param.u32 odd, [oddOnly];
  ld.param.u32 step, [stride];
  ld.param.u64 base, [out];
  and.b32 place, thread, odd;
  setp.ne.u32 skips, place, odd;
  @skips bra done;
  mul.lo.u32 place, thread, step;
  mul.wide.u32 wide, place, 4;
  add.s64 at, base, wide;
  st.global.u32 [at], thread;
  shl.b32 place, place, 2;
  mov.u32 step, tile;
  add.s32 place, place, step;
  st.shared.u32 [place], thread;
done:
  ret;
}
`;

t.test('sectors, wavefronts, lanes and divergence are as counted by hand', (t) =>
  withSimulated<typeof t>(async (t, driver) => {
    const kernel = driver.loadModule('strided', STRIDED).kernel('strided');
    const stream = driver.stream();
    const out = driver.alloc(4224);
    const count = (stride: number, oddOnly = 0, counters = true) => {
      driver.simulator.configure({ counters });
      driver.simulator.resetCounters(kernel);
      kernel.launch(stream, { grid: 1, block: 32 }, [out, stride, oddOnly]);
      return driver.simulator.counters(kernel);
    };
    const whole = {
      launches: 1,
      blocks: 1,
      globalRequests: 1,
      sharedRequests: 1,
      globalStoreBytes: 128,
    };
    t.match(count(1), { ...whole, globalSectors: 4, sharedWavefronts: 1, divergentBranches: 0 });
    t.match(count(2), { ...whole, globalSectors: 8, sharedWavefronts: 2 });
    t.match(count(8), { ...whole, globalSectors: 32, sharedWavefronts: 8 });
    t.match(count(32), { ...whole, globalSectors: 32, sharedWavefronts: 32 });
    t.match(count(33), { ...whole, globalSectors: 32, sharedWavefronts: 1 }, 'a padded row has no conflicts');
    const half = count(1, 1);
    t.match(half, { globalStoreBytes: 64, globalSectors: 4, divergentBranches: 1 });
    // A branch that nobody takes counts as an instruction without threads.
    t.equal(count(1).lanesPerInstruction, 30, '15 of 16 instructions');
    t.ok(half.lanesPerInstruction < 30 && half.lanesPerInstruction > 16);
    t.match(count(1, 0, false), { globalRequests: 0, sharedWavefronts: 0 }, 'off');
  })(t),
);
