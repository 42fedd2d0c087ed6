/**
 * @file The step function of a pool thread that drives a device: works of the host here, launches and copies on its
 * queues.
 *
 * The thread runs ahead of the device and waits only for values it needs itself. A step ends when the host has what is
 * fetched; updates of variables may still be under way on the device, and the next step's follow them in the queue.
 */
import { MonolithError } from '../../../base/errors.js';
import { COMMAND_CAPACITY, CONTROL } from '../../../memory/control-layout.js';
import { CAPTURE, CAPTURE_WORDS, CAPTURES, CONTEXT, STATUS } from '../../../memory/program-layout.js';
import type { Views } from '../../../memory/views.js';
import { traceNow, traceSpan } from '../../../trace/trace-events.js';
import { bindBatch } from './bind-batch.js';
import type { Device, DeviceMark } from './device.js';
import { DeviceMemory } from './device-memory.js';
import { DeviceProgram, type ReadyFeed, type ReadyLaunch, type ReadyPack } from './device-program.js';
import { DeviceTable } from './device-table.js';
import type { DeviceTimeline } from './device-timeline.js';
import type { PinnedCopy } from './pinned-copy.js';
import type { Instruction } from './read-program.js';

/** A kernel of the host by name. */
export type HostKernels = (name: string) => (...operands: number[]) => number | undefined;

/** Questions before the thread sleeps between them, and for how long. */
const SPINS = 2000;
const SLEEP_MS = 0.2;
const WAIT_MS_MAX = 300_000;

interface HostCall {
  readonly kernel: (...operands: number[]) => number | undefined;
  readonly operands: number[];
}

export class DeviceStep {
  readonly #device: Device;
  readonly #views: Views;
  readonly #kernels: HostKernels;
  readonly #memory: DeviceMemory;
  readonly #programs = new Map<number, DeviceProgram>();
  readonly #tables = new Map<number, DeviceTable>();
  readonly #calls = new Map<Instruction, HostCall>();
  /** Works of the step before: its copies have left the pinned memory, its launches are through. */
  readonly #copied: DeviceMark;
  readonly #computed: DeviceMark;
  readonly #between: DeviceMark;
  readonly #timeline: DeviceTimeline | null;
  #started = false;
  /** Timeline of the step at hand, null when its kernels are not traced; and the ring of this thread, or 0. */
  #traced: DeviceTimeline | null = null;
  #ring = 0;

  constructor(device: Device, views: Views, kernels: HostKernels, timeline: DeviceTimeline | null = null) {
    this.#timeline = timeline;
    this.#device = device;
    this.#views = views;
    this.#kernels = kernels;
    this.#memory = new DeviceMemory(device, views);
    this.#copied = device.mark();
    this.#computed = device.mark();
    this.#between = device.mark();
  }

  /** As runStep of assembly/program.ts, for the one thread of the session. */
  run(context: number, batch: number, command: number, quiet: boolean): number {
    const { i32, u32 } = this.#views;
    const control = u32[context / 4 + CONTEXT.control]! / 4;
    if (batch !== 0) {
      const status = bindBatch(this.#views, context, batch);
      if (status !== 0) return status;
    }
    let program = this.#programs.get(context);
    if (program === undefined) {
      program = new DeviceProgram(this.#device, this.#memory, this.#views, context, (record) => this.#table(record));
      this.#programs.set(context, program);
    }
    const traced = ((command ^ 3) & u32[context / 4 + CONTEXT.traceKernels]!) === 0;
    this.#traced = traced ? this.#timeline : null;
    this.#ring = traced ? u32[context / 4 + CONTEXT.trace]! : 0;
    const status = this.#steps(program, context, batch, control);
    if (status !== 0) return status;
    if (this.#traced !== null) {
      if (!this.#await(this.#computed, control)) return STATUS.aborted;
      this.#traced.close();
    }
    capture(this.#views, context / 4, command);
    if (Atomics.load(i32, control + CONTROL.abort) !== 0) return STATUS.aborted;
    Atomics.store(i32, control + CONTROL.done, command);
    if (!quiet) Atomics.notify(i32, control + CONTROL.done);
    return 0;
  }

  #table(record: number): DeviceTable {
    let table = this.#tables.get(record);
    if (table === undefined) {
      table = new DeviceTable(this.#device, this.#memory, this.#views, record);
      this.#tables.set(record, table);
    }
    return table;
  }

  #steps(program: DeviceProgram, context: number, batch: number, control: number): number {
    const device = this.#device;
    if (this.#started) {
      // Pinned memory and blocks are free once the step before has read them.
      if (!this.#await(this.#copied, control)) return STATUS.aborted;
      device.wait('copy', this.#computed);
    }
    this.#started = true;
    program.prepareBlocks(device);
    for (const { table } of program.uses) table.prepare();
    if (this.#traced !== null) {
      device.record('compute', this.#computed);
      if (!this.#await(this.#computed, control)) return STATUS.aborted;
      this.#traced.open();
    }
    for (const entry of program.entries) {
      switch (entry.kind) {
        case 'copy':
          this.#copy(program.copies[entry.copy]!, program.plan.copies[entry.copy]!.afterWorks);
          break;
        case 'wait': {
          const copy = program.copies[entry.copy]!;
          if (entry.side === 'device') device.wait('compute', copy.mark);
          else {
            if (!this.#await(copy.mark, control)) return STATUS.aborted;
            copy.deliver();
          }
          break;
        }
        case 'work': {
          const status = this.#work(program, entry.work, context, batch);
          if (status !== 0) return status;
          break;
        }
        default:
          entry satisfies never;
      }
    }
    device.record('copy', this.#copied);
    device.record('compute', this.#computed);
    program.leaveBlocks();
    return 0;
  }

  #copy(copy: PinnedCopy, afterWorks: boolean): void {
    if (copy.to === 'host' || afterWorks) {
      this.#device.record('compute', this.#between);
      this.#device.wait('copy', this.#between);
    }
    const timeline = this.#traced;
    timeline?.begin('copy', copy.to === 'host' ? timeline.names.toHost : timeline.names.toDevice);
    copy.start(this.#views.u32);
    timeline?.end();
  }

  #work(program: DeviceProgram, index: number, context: number, batch: number): number {
    const work = program.works[index]!;
    switch (work.kind) {
      case 'launch':
        this.#launch(program.launches[index]!);
        return 0;
      case 'host':
        return this.#call(work.instruction, context);
      case 'feeds':
        for (const feed of program.feeds) copyFeed(feed, this.#views, batch);
        return 0;
      case 'pack':
        packRows(program.packs[work.pack]!, this.#views);
        return 0;
      case 'find':
      case 'apply': {
        const use = program.uses[work.lookup]!;
        this.#traced?.begin('compute', work.instruction.traceName);
        const answer = work.kind === 'find' ? use.find() : use.apply();
        this.#traced?.end();
        return answer === undefined || answer >= 0 ? 0 : this.#failed(work.instruction, context, answer);
      }
      case 'sort':
        program.sorts[work.sort]!.sort(this.#views.u32);
        return 0;
      case 'end':
        return 0;
      default:
        return work satisfies never;
    }
  }

  #launch({ launch, changing, segments, traceName }: ReadyLaunch): void {
    const { u32, f32 } = this.#views;
    for (const { index, register, float } of changing) launch.set(index, float ? f32[register]! : u32[register]!);
    if (segments !== undefined) launch.set(segments.index, segments.sort.segments);
    this.#traced?.begin('compute', traceName);
    launch.start();
    this.#traced?.end();
  }

  #call(instruction: Instruction, context: number): number {
    let call = this.#calls.get(instruction);
    const { kernel, operands: registers, result, checked, traceName } = instruction;
    if (call === undefined) {
      call = { kernel: this.#kernels(kernel.name), operands: registers.map(() => 0) };
      this.#calls.set(instruction, call);
    }
    const { u32, i32, f32 } = this.#views;
    for (let i = 0; i < registers.length; i++) {
      call.operands[i] = kernel.words[i]!.kind === 'float' ? f32[registers[i]!]! : u32[registers[i]!]!;
    }
    const startMs = traceNow(this.#views, this.#ring);
    const answer = call.kernel.apply(null, call.operands) ?? 0;
    traceSpan(this.#views, this.#ring, traceName, startMs, traceNow(this.#views, this.#ring));
    if (result !== 0) i32[result] = answer;
    return !checked || answer >= 0 ? 0 : this.#failed(instruction, context, answer);
  }

  #failed({ traceName }: Instruction, context: number, answer: number): number {
    this.#views.u32[context / 4 + CONTEXT.failedAt] = traceName;
    this.#views.i32[context / 4 + CONTEXT.failedDetail] = answer;
    return STATUS.kernel;
  }

  /** Waits for the device; false when the session is being aborted. */
  #await(mark: DeviceMark, control: number): boolean {
    for (let spin = 0; spin < SPINS; spin++) if (mark.isDone()) return true;
    const deadline = performance.now() + WAIT_MS_MAX;
    const { i32 } = this.#views;
    while (!mark.isDone()) {
      if (Atomics.load(i32, control + CONTROL.abort) !== 0) return false;
      if (performance.now() > deadline) {
        throw new MonolithError('ML_TIMEOUT', { what: 'the device', timeoutMs: WAIT_MS_MAX });
      }
      Atomics.wait(i32, control + CONTROL.abort, 0, SLEEP_MS);
    }
    return true;
  }

  /** Brings the newest values of variables to the host and frees the device. */
  close(): void {
    this.#memory.bringHome();
    this.#device.close();
  }

  /** Frees what a device that failed still gives back. */
  abandon(): void {
    try {
      this.#device.close();
    } catch {
      // The failure that led here is the one to report; after a fault the driver refuses every call.
    }
  }
}

function copyFeed({ feed, pinned, seen }: ReadyFeed, { u32, u8 }: Views, batch: number): void {
  const { pointerWord, rowBytes, extraRows, countRegister } = feed;
  const rows = u32[batch / 4]!;
  const bytes = countRegister === 0 ? rowBytes * (rows + extraRows) : u32[countRegister]! * 8;
  const from = u32[batch / 4 + pointerWord]!;
  // Batches come round in a few places: a view of each is kept.
  let view = seen.get(from);
  if (view?.length !== bytes) {
    view = u8.subarray(from, from + bytes);
    seen.set(from, view);
  }
  pinned.set(view);
}

/** Gathers rows from where the host has them. */
function packRows({ pack, rows }: ReadyPack, { u32, f32 }: Views): void {
  const { addresses, width, countWord } = pack;
  const count = u32[countWord]!;
  for (let i = 0; i < count; i++) {
    const from = u32[addresses / 4 + i]! / 4;
    const to = i * width;
    for (let c = 0; c < width; c++) rows[to + c] = f32[from + c]!;
  }
}

/** Keeps scalars where the next step does not overwrite them; drawn at capture() of assembly/program.ts. */
function capture({ u32, f32 }: Views, context: number, command: number): void {
  const captures = u32[context + CONTEXT.captures]! / 4;
  if (captures === 0) return;
  const place = (command & (COMMAND_CAPACITY - 1)) * u32[captures + CAPTURES.commandBytes]!;
  const to = (u32[captures + CAPTURES.to]! + place) / 4;
  for (let i = 0; i < u32[captures + CAPTURES.count]!; i++) {
    f32[to + i] = f32[u32[captures + CAPTURES.pairs + i * CAPTURE_WORDS + CAPTURE.address]! / 4]!;
  }
}
