/**
 * @file A program ready to run on a device: its works, prepared launches, copies and packed rows. A step allocates
 * nothing.
 */
import { MonolithError } from '../../../base/errors.js';
import { DEVICE_PIECE, DEVICE_PIECE_WORDS } from '../../../memory/device-record-layout.js';
import { writeAddress } from '../../../memory/device-table-layout.js';
import { ON_DEVICE, ON_HOST } from '../../../memory/placement-layout.js';
import type { Views } from '../../../memory/views.js';
import type { Device, DeviceLaunch, DeviceSpan } from './device.js';
import type { DeviceBlock, DeviceMemory } from './device-memory.js';
import type { DeviceTable } from './device-table.js';
import { GradientSort } from './gradient-sort.js';
import { PinnedCopy } from './pinned-copy.js';
import { type FeedArray, type ProgramText, readProgram } from './read-program.js';
import { type PlanEntry, planStep, type StepPlan } from './step-plan.js';
import type { LaunchArgument, RowPack, StepWork, StepWorks } from './step-work.js';
import { stepWorks } from './step-works.js';
import { TableUse } from './table-use.js';

/** A launch and the operands of it that a step finds out. */
export interface ReadyLaunch {
  readonly launch: DeviceLaunch;
  readonly traceName: number;
  readonly changing: readonly { readonly index: number; readonly register: number; readonly float: boolean }[];
  /** Of a sum by segments: the operand that says how many there are, and who knows. */
  readonly segments?: { readonly index: number; readonly sort: GradientSort };
}

/** A feed that goes to the device, and where a step puts it for that. */
export interface ReadyFeed {
  readonly feed: FeedArray;
  readonly pinned: Uint8Array;
  /** Views of the places it was copied from. */
  readonly seen: Map<number, Uint8Array>;
}

export interface ReadyPack {
  readonly pack: RowPack;
  readonly rows: Float32Array;
}

export class DeviceProgram {
  readonly works: readonly StepWork[];
  readonly entries: readonly PlanEntry[];
  readonly copies: readonly PinnedCopy[];
  /** By the number of the work. */
  readonly launches: readonly (ReadyLaunch | undefined)[];
  readonly feeds: readonly ReadyFeed[];
  readonly packs: readonly ReadyPack[];
  /** Tables on the device. */
  readonly uses: readonly TableUse[];
  readonly sorts: readonly GradientSort[];
  readonly plan: StepPlan;
  readonly #built: Built;
  readonly #memory: DeviceMemory;

  constructor(device: Device, memory: DeviceMemory, views: Views, context: number, tableOf: TableOf) {
    const text = readProgram(views, context);
    let built: Built;
    memory.begin();
    try {
      built = build(device, memory, views, text, true);
    } catch (thrown) {
      // Rows that do not fit the device are pooled on the host.
      if (!(thrown instanceof MonolithError) || thrown.code !== 'ML_CUDA_MEMORY') throw thrown;
      memory.undo();
      built = build(device, memory, views, text, false);
    }
    this.works = built.works.works;
    this.plan = built.plan;
    this.entries = built.plan.entries;
    this.copies = built.copies;
    this.launches = built.launches;
    this.feeds = built.feeds;
    this.packs = built.packs;
    this.uses = built.works.lookups.map(({ record, countWord, capacity, ids, found, gradients }) => {
      const at = (block: number) => built.blocks[block]!.span.address;
      return new TableUse(device, views, tableOf(record), {
        countWord,
        capacity,
        ids: at(ids.block) + ids.offset,
        found: at(found),
        gradients: gradients && { ...gradients, address: at(gradients.block) + gradients.offset },
      });
    });
    this.sorts = built.sorts;
    this.#built = built;
    this.#memory = memory;
  }

  /** A block that has a place on the device, if only for another program. */
  #block(index: number): DeviceBlock | undefined {
    const source = this.#built.works.blocks[index]!;
    return this.#built.blocks[index] ?? (source.kind === 'arena' ? this.#memory.known(source.begin) : undefined);
  }

  /** Brings the newest values of all blocks to where the step first needs them. */
  prepareBlocks(device: Device): void {
    for (const index of this.plan.needs.device) {
      const block = this.#block(index)!;
      if (block.validity & ON_DEVICE) continue;
      if (block.host.length > 0) device.uploadNow(block.span, block.host);
      block.validity |= ON_DEVICE;
    }
    for (const index of this.plan.needs.host) {
      const block = this.#block(index);
      if (block === undefined || block.validity & ON_HOST) continue;
      device.downloadNow(block.host, block.span);
      block.validity |= ON_HOST;
    }
  }

  /** Says where the newest values are after the step. */
  leaveBlocks(): void {
    for (const { block: index, host, device } of this.plan.leaves) {
      const block = this.#block(index);
      if (block !== undefined) block.validity = (host ? ON_HOST : 0) | (device ? ON_DEVICE : 0);
    }
  }
}

/** The table of a record; one object for all programs. */
export type TableOf = (record: number) => DeviceTable;

interface Built {
  readonly works: StepWorks;
  readonly plan: StepPlan;
  readonly copies: readonly PinnedCopy[];
  readonly launches: readonly (ReadyLaunch | undefined)[];
  readonly feeds: readonly ReadyFeed[];
  readonly packs: readonly ReadyPack[];
  readonly sorts: readonly GradientSort[];
  /** What the device has no part in has no block. */
  readonly blocks: readonly (DeviceBlock | undefined)[];
}

function build(device: Device, memory: DeviceMemory, views: Views, text: ProgramText, packsRows: boolean): Built {
  const works = stepWorks(text, views, { has: (kernel) => device.has(kernel), packsRows });
  const plan = planStep(works.works);
  const onDevice = new Set(
    works.works.flatMap(({ side, accesses }) => (side === 'device' ? accesses.map(({ block }) => block) : [])),
  );
  const records = new Map(text.residents.map((word) => [views.u32[word]!, word]));
  const blocks = works.blocks.map((source, index) => {
    if (!onDevice.has(index)) return undefined;
    return source.kind === 'arena' ? memory.ofArena(source.begin, source.bytes, records) : memory.apart(source.bytes);
  });
  const feeds: ReadyFeed[] = [];
  const packs: ReadyPack[] = [];
  const sorts: GradientSort[] = [];
  const copies = plan.copies.map(({ block: index, to, extent }) => {
    const [block, source] = [blocks[index]!, works.blocks[index]!];
    const pinned = device.allocPinned(source.bytes);
    if (source.kind === 'feed') feeds.push({ feed: text.feeds[source.feed]!, pinned, seen: new Map() });
    if (source.kind === 'pack') {
      const pack = works.packs[source.pack]!;
      packs[source.pack] = { pack, rows: new Float32Array(pinned.buffer, pinned.byteOffset, source.bytes / 4) };
    }
    if (source.kind === 'sorted') {
      const { source: gradients, uniqueMax } = works.sorts[source.sort]!;
      const list = new Uint32Array(pinned.buffer, pinned.byteOffset, source.bytes / 4);
      sorts[source.sort] = new GradientSort(gradients, uniqueMax, list);
    }
    return new PinnedCopy(device, block, to, pinned, extent);
  });
  const rowLists = works.packs.map((pack) => addressList(device, memory, pack, blocks[pack.block]!));
  const launches = works.works.map((work) => {
    if (work.kind !== 'launch') return undefined;
    const { lookups } = works;
    const operands = work.args.map((arg) => operandOf(arg, { device, memory, views, blocks, rowLists, lookups }));
    const changing = work.args.flatMap((arg, index) =>
      arg.kind === 'number' && arg.changing ? [{ index, register: arg.register, float: arg.float }] : [],
    );
    const launch = device.prepare(work.kernel, operands);
    const segments = work.args.flatMap((arg, index) =>
      arg.kind === 'segments' ? [{ index, sort: sorts[arg.sort]! }] : [],
    )[0];
    return { launch, traceName: work.instruction.traceName, changing, ...(segments && { segments }) };
  });
  return { works, plan, copies, launches, feeds, packs, sorts, blocks };
}

interface Places {
  readonly device: Device;
  readonly memory: DeviceMemory;
  readonly views: Views;
  readonly blocks: readonly (DeviceBlock | undefined)[];
  readonly rowLists: readonly DeviceSpan[];
  readonly lookups: StepWorks['lookups'];
}

function operandOf(arg: LaunchArgument, places: Places): number {
  const { device, memory, views, blocks, rowLists, lookups } = places;
  switch (arg.kind) {
    case 'block':
      return blocks[arg.block]!.span.address + arg.offset;
    case 'rows':
      return rowLists[arg.pack]!.address;
    case 'found':
      return blocks[lookups[arg.lookup]!.found]!.span.address;
    case 'none':
    case 'segments':
      return 0;
    case 'constant':
      return arg.value;
    case 'number':
      return arg.float ? views.f32[arg.register]! : views.u32[arg.register]!;
    case 'pieces': {
      const words = Uint32Array.from(arg.list.words);
      arg.list.places.forEach(({ block, offset }, index) => {
        const address = blocks[block]!.span.address + offset;
        writeAddress(words, index * DEVICE_PIECE_WORDS + DEVICE_PIECE.matrix, address);
      });
      const span = memory.allocApart(words.byteLength);
      device.uploadNow(span, new Uint8Array(words.buffer));
      return span.address;
    }
    default:
      return arg satisfies never;
  }
}

/** The addresses of packed rows, which never change. */
function addressList(device: Device, memory: DeviceMemory, pack: RowPack, { span }: DeviceBlock): DeviceSpan {
  const addresses = Array.from({ length: pack.capacity }, (_, index) => span.address + index * pack.width * 4);
  const list = device.addressBytes === 8 ? BigUint64Array.from(addresses, BigInt) : Uint32Array.from(addresses);
  const at = memory.allocApart(list.byteLength);
  device.uploadNow(at, new Uint8Array(list.buffer));
  return at;
}
