import { readRleBitPackedHybrid } from 'hyparquet/src/encoding.js';
import { ByteWriter } from 'hyparquet-writer';
import { writeRleBitPackedHybrid } from 'hyparquet-writer/src/encoding.js';
import t from 'tap';
import { MersenneTwister } from '../../src/base/random.js';
import { snappyUncompress } from '../../src/io/snappy.js';
import { snappyCompress } from '../../src/io/snappy-writer.js';
import { RUNS, RUNS_WORDS } from '../../src/memory/pages-layout.js';
import { GrowingMemory } from '../../src/memory/shared-memory.js';
import { instantiateKernels } from '../../src/runtime/backends/wasm/instantiate-kernels.js';
import { compileKernels } from '../../src/runtime/backends/wasm/load-kernels.js';
import { rounds } from '../support/rounds.js';

const memory = new GrowingMemory();
memory.growTo(1 << 21);
const kernels = instantiateKernels(await compileKernels(), memory.memory);
const u8 = new Uint8Array(memory.buffer);
const u32 = new Uint32Array(memory.buffer);
const [STATE, FROM, TO] = [65536, 1 << 17, 1 << 20];

function begin(bytes: Uint8Array, width: number): void {
  u8.set(bytes, FROM);
  u32.fill(0, STATE / 4, STATE / 4 + RUNS_WORDS);
  Object.entries({ at: FROM, end: FROM + bytes.length, width }).forEach(([name, value]) => {
    u32[STATE / 4 + RUNS[name as keyof typeof RUNS]] = value;
  });
}

t.test('runs are read in parts as hyparquet reads them at once, and no value behind their end', async (t) => {
  for (let seed = 1; seed <= rounds({ quick: 100, deep: 1000 }); seed++) {
    const random = new MersenneTwister(seed);
    const width = 1 + random.nextBounded(19);
    const values: number[] = [];
    const count = 1 + random.nextBounded(3000);
    while (values.length < count) {
      const value = random.nextU32() % 2 ** width;
      for (let n = random.nextBounded(20); n >= 0 && values.length < count; n--) values.push(value);
      for (let n = random.nextBounded(9); n > 0 && values.length < count; n--)
        values.push(random.nextU32() % 2 ** width);
    }
    const writer = new ByteWriter();
    writeRleBitPackedHybrid(writer, values, width);
    const bytes = writer.getBytes().slice();
    const found: number[] = [];
    const view = new DataView(bytes.buffer, 0, bytes.length);
    const twin = new Array<number>(count);
    readRleBitPackedHybrid({ view, offset: 0 }, width, twin, bytes.length);
    begin(bytes, width);
    while (found.length < count) {
      const some = Math.min(count - found.length, 1 + random.nextBounded(700));
      if (kernels.readRuns(STATE, TO, some) !== some) break;
      found.push(...u32.subarray(TO / 4, TO / 4 + some));
    }
    t.same(found, twin, `seed ${seed}`);
    // Cut anywhere, they have fewer, and those are the same.
    const cut = random.nextBounded(bytes.length - 1);
    begin(bytes.subarray(0, cut), width);
    const left = kernels.readRuns(STATE, TO, count);
    t.ok(left <= count);
    t.same([...u32.subarray(TO / 4, TO / 4 + left)], twin.slice(0, left), `seed ${seed} cut at ${cut}`);
  }
});

t.test('snappy is decoded as the twin does it, or refused as it does', async (t) => {
  for (let seed = 1; seed <= rounds({ quick: 300, deep: 2000 }); seed++) {
    const random = new MersenneTwister(seed);
    const alphabet = 1 + random.nextBounded(60);
    const plain = Uint8Array.from({ length: random.nextBounded(5000) }, () => random.nextBounded(alphabet));
    const packed = snappyCompress(plain).slice();
    for (let n = seed % 3; n > 0; n--) packed[random.nextBounded(packed.length - 1)] = random.nextBounded(255);
    let twin: Uint8Array | undefined;
    try {
      twin = snappyUncompress(packed);
    } catch {
      // It is refused.
    }
    u8.set(packed, FROM);
    const room = twin?.length ?? plain.length;
    u8.fill(0xee, TO, TO + room + 64);
    const end = kernels.decodeSnappy(FROM, FROM + packed.length, TO, TO + room);
    t.equal(end, twin === undefined ? 0 : TO + room, `seed ${seed}`);
    if (twin !== undefined) t.same(u8.slice(TO, end), twin, `seed ${seed}`);
    t.ok(
      u8.subarray(TO + room, TO + room + 64).every((byte) => byte === 0xee),
      'nothing is written behind',
    );
  }
});
