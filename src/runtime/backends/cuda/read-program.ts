/** @file Reads a compiled program of one slice and thread out of shared memory: instructions, feeds, fetches. */
import { DEVICE_TABLE } from '../../../memory/device-table-layout.js';
import { PLACEMENT, RESIDENT, RESIDENT_WORDS } from '../../../memory/placement-layout.js';
import {
  BINDING_KIND,
  BINDING_WORDS,
  BINDINGS,
  CAPTURE,
  CAPTURE_WORDS,
  CAPTURES,
  CONTEXT,
  INSTRUCTION,
  instructionWords,
  STAGE,
  STAGE_KIND,
  STAGE_WORDS,
} from '../../../memory/program-layout.js';
import type { Views } from '../../../memory/views.js';
import { KERNEL_OF_OPCODE, type Kernel, type Operands, type Words } from '../../kernels/kernels.js';

/** Registers are named by the word of the memory they are at. */
export interface Instruction {
  readonly kernel: Kernel;
  /** In the order of the kernel's words. */
  readonly operands: readonly number[];
  /** Register of the result, 0 for none. */
  readonly result: number;
  readonly checked: boolean;
  readonly traceName: number;
  /** Whether its op was asked to run on the CPU. */
  readonly onHost: boolean;
}

/** The registers of an instruction by the names of `kernel`'s words; null when it calls another kernel. */
export function callOf<O extends Operands>(instruction: Instruction, kernel: Kernel<O>): Words<O> | null {
  if (instruction.kernel.opcode !== kernel.opcode) return null;
  return Object.fromEntries(kernel.words.map(({ name }, index) => [name, instruction.operands[index]!])) as Words<O>;
}

/** An array of a batch: the word of the batch header that points to it, and its bytes. */
export interface FeedArray {
  readonly pointerWord: number;
  readonly bytesMax: number;
  /** `rows` rows have `rowBytes * (rows + extraRows)` bytes, or 8 for each of the values counted at a register. */
  readonly rowBytes: number;
  readonly extraRows: number;
  readonly countRegister: number;
}

export interface FeedUse {
  readonly feed: number;
  readonly offset: number;
}

export interface ProgramText {
  readonly instructions: readonly Instruction[];
  readonly feeds: readonly FeedArray[];
  /** Registers that point into feeds. */
  readonly feedRegisters: ReadonlyMap<number, FeedUse>;
  /** Registers whose value a step finds out. */
  readonly changing: ReadonlySet<number>;
  readonly rowsRegister: number;
  /** Begins of blocks, ascending, and the end of the last. */
  readonly blocks: Uint32Array;
  /** Addresses that the host reads after the step. */
  readonly read: readonly number[];
  /** Words of the records of residents. */
  readonly residents: readonly number[];
  /** Records of tables on the device, by the address of the table's control block on the host. */
  readonly tables: ReadonlyMap<number, number>;
}

export function readProgram(views: Views, context: number): ProgramText {
  const { u32 } = views;
  const word = (name: keyof typeof CONTEXT) => u32[context / 4 + CONTEXT[name]]!;
  const slices = word('sliceRegisters') / 4;
  const threads = word('threadRegisters') / 4;
  const instructions: Instruction[] = [];
  const placement = word('placement') / 4;
  const names = u32[placement + PLACEMENT.hostNames]! / 4;
  const onHost = new Set(u32.subarray(names, names + u32[placement + PLACEMENT.hostNameCount]!));
  for (let stage = word('stages') / 4; stage < word('stagesEnd') / 4; stage += STAGE_WORDS) {
    const registers = u32[stage + STAGE.kind] === STAGE_KIND.slices ? slices : threads;
    instructions.push(...readCode(u32, [u32[stage + STAGE.code]!, u32[stage + STAGE.codeEnd]!], registers, onHost));
  }
  const bindings = readBindings(u32, word('bindings') / 4, slices);
  const own = instructions.map(({ result }) => result).filter((result) => result !== 0);
  // Of a cut step another part may have written them, for this batch.
  const written = u32[placement + PLACEMENT.results]! / 4;
  const others = u32.subarray(written, written + u32[placement + PLACEMENT.resultCount]!);
  const results = [...own, ...Array.from(others, (register) => slices + register)];
  const first = u32[placement + PLACEMENT.blocks]! / 4;
  const residents = u32[placement + PLACEMENT.residents]! / 4;
  const fetched = u32[placement + PLACEMENT.fetched]! / 4;
  const tables = u32[placement + PLACEMENT.tables]! / 4;
  const records = u32.subarray(tables, tables + u32[placement + PLACEMENT.tableCount]!);
  return {
    instructions,
    ...bindings,
    changing: new Set([...bindings.changing, ...results]),
    blocks: u32.slice(first, first + u32[placement + PLACEMENT.blockCount]! + 1),
    read: [
      ...readCaptures(u32, word('captures') / 4),
      ...u32.subarray(fetched, fetched + u32[placement + PLACEMENT.fetchedCount]!),
    ],
    residents: Array.from(
      { length: u32[placement + PLACEMENT.residentCount]! },
      (_, index) => residents + index * RESIDENT_WORDS + RESIDENT.address,
    ),
    tables: new Map(Array.from(records, (record) => [u32[record / 4 + DEVICE_TABLE.table]!, record])),
  };
}

function* readCode(
  u32: Uint32Array,
  [begin, end]: readonly [number, number],
  registers: number,
  onHost: ReadonlySet<number>,
): Generator<Instruction> {
  for (let pc = begin / 4; pc < end / 4; pc += instructionWords(u32[pc]!)) {
    const head = u32[pc]!;
    const kernel = KERNEL_OF_OPCODE.get(head & 0xfff)!;
    const result = u32[pc + INSTRUCTION.result]!;
    yield {
      kernel,
      operands: kernel.words.map((_, index) => registers + u32[pc + INSTRUCTION.operands + index]!),
      result: result === 0 ? 0 : registers + result,
      checked: head >>> 20 !== 0,
      traceName: u32[pc + INSTRUCTION.traceName]!,
      onHost: onHost.has(u32[pc + INSTRUCTION.traceName]!),
    };
  }
}

function readBindings(u32: Uint32Array, at: number, registers: number) {
  const rowsMax = u32[at + BINDINGS.sliceRows]!;
  const rowsRegister = registers + u32[at + BINDINGS.rows]!;
  const feeds: FeedArray[] = [];
  const feedRegisters = new Map<number, FeedUse>();
  const changing = new Set([rowsRegister, registers + u32[at + BINDINGS.inverseBatch]!]);
  const none = { rowBytes: 0, extraRows: 0, countRegister: 0 };
  const feedAt = (feed: FeedArray) => {
    const known = feeds.findIndex(({ pointerWord }) => pointerWord === feed.pointerWord);
    return known >= 0 ? known : feeds.push(feed) - 1;
  };
  for (let i = 0; i < u32[at + BINDINGS.count]!; i++) {
    const entry = at + BINDINGS.entries + i * BINDING_WORDS;
    const [kind, pointerWord, first, second, third, size, offset] = [0, 1, 2, 3, 4, 5, 6].map(
      (w) => u32[entry + w]!,
    ) as [number, number, number, number, number, number, number];
    // The one slice begins where the buffer does, for every batch.
    if (kind === BINDING_KIND.fixed) continue;
    changing.add(registers + first);
    if (kind === BINDING_KIND.batchRows) continue;
    if (kind === BINDING_KIND.dense) {
      const feed = feedAt({ ...none, pointerWord, bytesMax: rowsMax * size, rowBytes: size });
      feedRegisters.set(registers + first, { feed, offset });
      continue;
    }
    changing.add(registers + second).add(registers + third);
    const splits = feedAt({ ...none, pointerWord, bytesMax: (rowsMax + 1) * 4, rowBytes: 4, extraRows: 1 });
    const countRegister = registers + third;
    const values = feedAt({ ...none, pointerWord: pointerWord + 1, bytesMax: size * 8, countRegister });
    feedRegisters.set(registers + first, { feed: splits, offset: 0 });
    feedRegisters.set(registers + second, { feed: values, offset: 0 });
  }
  return { feeds, feedRegisters, changing, rowsRegister };
}

function readCaptures(u32: Uint32Array, at: number): number[] {
  if (at === 0) return [];
  return Array.from(
    { length: u32[at + CAPTURES.count]! },
    (_, index) => u32[at + CAPTURES.pairs + index * CAPTURE_WORDS + CAPTURE.address]!,
  );
}
