/**
 * @file The simulator against NVIDIA's own assembler: ptxas computes instructions whose operands are constants, and the
 * result stands as a 32-bit immediate in the machine code. Skipped, loudly, where ptxas is not installed.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { missing } from '../requirement.js';
import { type SimulatedDriver, withSimulated } from './simulated.js';
import { PTX_HEADER } from './vector-kernel.js';

const COUNT = 24;
type Operand = 'f' | 'positive' | 'i' | 'shift' | 'position' | 'length';

/** Instructions that ptxas of CUDA 13 computes for all constants tried; others it leaves to the hardware. */
const FOLDED: Readonly<Record<string, readonly Operand[]>> = {
  'add.f32': ['f', 'f'],
  'sub.f32': ['f', 'f'],
  'mul.f32': ['f', 'f'],
  'min.f32': ['f', 'f'],
  'max.f32': ['f', 'f'],
  'neg.f32': ['f'],
  'abs.f32': ['f'],
  'rcp.rn.f32': ['f'],
  'rcp.approx.ftz.f32': ['f'],
  'rsqrt.approx.f32': ['positive'],
  'ex2.approx.ftz.f32': ['f'],
  'lg2.approx.f32': ['positive'],
  'cvt.sat.f32.f32': ['f'],
  'cvt.rni.f32.f32': ['f'],
  'cvt.rzi.f32.f32': ['f'],
  'cvt.rmi.f32.f32': ['f'],
  'cvt.rni.s32.f32': ['f'],
  'cvt.rzi.s32.f32': ['f'],
  'cvt.rzi.u32.f32': ['f'],
  'cvt.rn.f32.s32': ['i'],
  'cvt.rn.f32.u32': ['i'],
  'add.s32': ['i', 'i'],
  'sub.s32': ['i', 'i'],
  'mul.lo.s32': ['i', 'i'],
  'mul.hi.s32': ['i', 'i'],
  'mul.hi.u32': ['i', 'i'],
  'mad.lo.s32': ['i', 'i', 'i'],
  'and.b32': ['i', 'i'],
  'or.b32': ['i', 'i'],
  'xor.b32': ['i', 'i'],
  'not.b32': ['i'],
  'shl.b32': ['i', 'shift'],
  'shr.u32': ['i', 'shift'],
  'shr.s32': ['i', 'shift'],
  'min.s32': ['i', 'i'],
  'max.u32': ['i', 'i'],
  'popc.b32': ['i'],
  'clz.b32': ['i'],
  'brev.b32': ['i'],
  'bfind.u32': ['i'],
  'bfind.shiftamt.u32': ['i'],
  'neg.s32': ['i'],
  'bfi.b32': ['i', 'i', 'position', 'length'],
};

let state = 77;
const random = () => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return (state ^ (state >>> 13)) >>> 0;
};

/** A constant, as PTX writes it. */
function constant(kind: Operand): string {
  if (kind === 'i') return String(random() % 4 === 0 ? (random() % 65) - 32 : random() | 0);
  if (kind === 'shift') return String(random() % 40);
  if (kind === 'position') return String(random() % 32);
  if (kind === 'length') return String(random() % 20);
  const value = (random() / 2 ** 31 - 1) * 2 ** ((random() % 20) - 10);
  const bits = new Uint32Array(new Float32Array([kind === 'positive' ? Math.abs(value) : value]).buffer)[0]!;
  return `0f${bits.toString(16).padStart(8, '0').toUpperCase()}`;
}

function entryOf(opcode: string, kinds: readonly Operand[], index: number): string {
  const types = opcode.split('.').slice(-2);
  const isFloat = (type: string | undefined) => type === 'f32';
  const converts = opcode.startsWith('cvt');
  const from = isFloat(types[1]) ? 'f32' : 'b32';
  const to = isFloat(converts ? types[0] : types[1]) ? 'f32' : 'b32';
  const lines = Array.from({ length: COUNT }, (_, n) => {
    const names = kinds.map((_, k) => `a${n}_${k}`);
    const registers = kinds.map(
      (kind, k) => `.reg .${kind.length > 1 && kind !== 'positive' ? 'b32' : from} ${names[k]};`,
    );
    const moves = kinds.map(
      (kind, k) => `mov.${kind.length > 1 && kind !== 'positive' ? 'b32' : from} ${names[k]}, ${constant(kind)};`,
    );
    return [
      `${registers.join(' ')} .reg .${to} d${n};`,
      ...moves,
      `${opcode} d${n}, ${names.join(', ')};`,
      `st.global.${to} [at+${n * 4}], d${n};`,
    ].join('\n');
  });
  return `.visible .entry k${index}(.param .u64 p)
{
.reg .b64 base, at;
ld.param.u64 base, [p];
cvta.to.global.u64 at, base;
${lines.join('\n')}
ret;
}
`;
}

/** Immediates of each function of a cubin, by name: bits 32 to 63 of the 16-byte instructions of sm_75. */
function immediatesOf(cubin: Buffer): Map<string, Set<number>> {
  const table = Number(cubin.readBigUInt64LE(0x28));
  const [count, namesAt] = [cubin.readUInt16LE(0x3c), cubin.readUInt16LE(0x3e)];
  const section = (index: number) => {
    const at = table + index * 64;
    const [offset, size] = [at + 24, at + 32].map((place) => Number(cubin.readBigUInt64LE(place))) as [number, number];
    return { name: cubin.readUInt32LE(at), offset, size };
  };
  const names = section(namesAt);
  const found = new Map<string, Set<number>>();
  for (let index = 0; index < count; index++) {
    const { name, offset, size } = section(index);
    const start = names.offset + name;
    const text = cubin.toString('latin1', start, cubin.indexOf(0, start));
    if (!text.startsWith('.text.')) continue;
    const values = new Set([0]); // zero is a register of its own
    for (let at = offset; at + 16 <= offset + size; at += 16) values.add(cubin.readUInt32LE(at + 4));
    found.set(text.slice('.text.'.length), values);
  }
  return found;
}

/** What the simulator stores for kernel `name`. */
function simulate(driver: SimulatedDriver, ptx: string, name: string): Uint32Array {
  const out = driver.alloc(COUNT * 4);
  const stream = driver.stream();
  driver.loadModule('oracle', ptx).kernel(name).launch(stream, { grid: 1, block: 1 }, [out]);
  const values = new Uint32Array(COUNT);
  driver.download(values, out);
  stream.destroy();
  return values;
}

t.test('instructions on constants are as ptxas computes them', (t) =>
  withSimulated<typeof t>(async (t, driver) => {
    if (spawnSync('ptxas', ['--version']).status !== 0) {
      t.plan(0, missing('ptxas', 'it is not installed, and the simulator is not held against it here'));
      return;
    }
    const opcodes = Object.entries(FOLDED);
    const entries = opcodes.map(([opcode, kinds], index) => entryOf(opcode, kinds, index));
    const dir = t.testdir();
    const [source, cubin] = [join(dir, 'oracle.ptx'), join(dir, 'oracle.cubin')];
    writeFileSync(source, PTX_HEADER + entries.join(''));
    const { status, stderr } = spawnSync('ptxas', ['-arch=sm_75', '-O3', source, '-o', cubin], { encoding: 'utf8' });
    t.equal(status, 0, stderr);
    const immediates = immediatesOf(readFileSync(cubin));
    for (const [index, [opcode]] of opcodes.entries()) {
      const values = simulate(driver, PTX_HEADER + entries[index]!, `k${index}`);
      const missing = [...values].filter((value) => !immediates.get(`k${index}`)!.has(value));
      t.same(missing, [], `${opcode}: all ${COUNT} results are in the machine code`);
    }
  })(t),
);
