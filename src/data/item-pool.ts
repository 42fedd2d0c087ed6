/**
 * @file Items that were seen in examples, by channel: what negatives of a training are drawn from. Mirrors the item
 * pool of native_training; its files go with checkpoints.
 *
 * A channel keeps its newest items. Draws follow from a seed and from how many there were, so that a run that is gone
 * on with draws what it would have drawn.
 */
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { checkOptions } from '../base/check-options.js';
import { MonolithError } from '../base/errors.js';
import { hashU32 } from '../base/random.js';
import { CHANNEL_CACHE, type FeatureData, type NamedFeature } from '../io/example-messages.js';
import { RecordReader } from '../io/record-reader.js';
import { frameRecord, RECORD_FOOTER_BYTES, RECORD_HEADER_BYTES } from '../io/record-writer.js';

export interface ItemPoolOptions {
  /** Items that a channel keeps; the oldest go first. Default: 10,000. */
  readonly itemsPerChannel?: number;
  /** Items before anything is drawn from a channel. Default: 1. */
  readonly startCount?: number;
  /** Default: 0. */
  readonly seed?: number;
}

/** An item, and the features it brings along. */
export interface PoolItem {
  readonly gid: bigint;
  readonly fids?: BigInt64Array;
  readonly featureColumns?: readonly NamedFeature[];
}

/** Which files of a pool are meant: those of one worker of so many, in so many parts. */
export interface PoolPlace {
  readonly worker?: number;
  readonly workers?: number;
  /** Default: 1. */
  readonly shards?: number;
}

interface Channel {
  /** By id, the newest last. */
  readonly items: Map<bigint, FeatureData>;
  /** Ids in an order that draws go by. */
  list: bigint[] | undefined;
}

/** The newest items of each channel, to draw negatives of a training from. */
export class ItemPool {
  readonly #options: Required<ItemPoolOptions>;
  readonly #channels = new Map<bigint, Channel>();
  #drawn = 0;

  constructor(options: ItemPoolOptions = {}) {
    const given = checkOptions('ItemPool', options, ['itemsPerChannel', 'startCount', 'seed']);
    const { itemsPerChannel = 10_000, startCount = 1, seed = 0 } = given;
    for (const [option, value] of Object.entries({ itemsPerChannel, startCount })) {
      if (Number.isInteger(value) && value > 0) continue;
      const reason = `${option}: ${value} is no whole number above 0`;
      throw new MonolithError('ML_OPTION', { where: 'ItemPool', option, reason });
    }
    this.#options = { itemsPerChannel, startCount, seed };
  }

  get channels(): readonly bigint[] {
    return [...this.#channels.keys()];
  }

  /** Items of a channel, the oldest first. */
  items(channel: bigint): readonly FeatureData[] {
    return [...(this.#channels.get(channel)?.items.values() ?? [])];
  }

  /** Notes that an item was seen. */
  add(channel: bigint, { gid, fids = new BigInt64Array(0), featureColumns = [] }: PoolItem): void {
    const known = this.#channels.get(channel) ?? { items: new Map<bigint, FeatureData>(), list: undefined };
    this.#channels.set(channel, known);
    const before = known.items.get(gid);
    known.items.delete(gid);
    const counts = { originCnt: (before?.originCnt ?? 0n) + 1n, sampleCnt: before?.sampleCnt ?? 0n };
    known.items.set(gid, { gid, fids, featureColumns: [...featureColumns], ...counts });
    if (known.items.size > this.#options.itemsPerChannel) known.items.delete(known.items.keys().next().value!);
    known.list = undefined;
  }

  /** Different items of a channel at random, but `except`; fewer where it has not so many, none before it has begun. */
  draw(channel: bigint, count: number, except?: bigint): FeatureData[] {
    const known = this.#channels.get(channel);
    if (known === undefined || known.items.size < this.#options.startCount) return [];
    known.list ??= [...known.items.keys()].sort((a, b) => (a < b ? -1 : 1));
    const rest = known.list.filter((gid) => gid !== except);
    const drawn: FeatureData[] = [];
    for (let n = 0; n < count && rest.length > 0; n++) {
      const at = hashU32(this.#options.seed, this.#drawn++) % rest.length;
      const item = known.items.get(rest[at]!)!;
      rest[at] = rest.at(-1)!;
      rest.pop();
      item.sampleCnt += 1n;
      drawn.push(item);
    }
    return drawn;
  }

  /** Writes `<prefix>_item_pool_<worker>_<shard>_<workers>` for each shard, whole or not at all; the files. */
  save(prefix: string, place: PoolPlace = {}): string[] {
    const { worker, workers, shards } = placeOf(place);
    mkdirSync(dirname(prefix), { recursive: true });
    return Array.from({ length: shards }, (_, shard) => {
      const file = `${prefix}_item_pool_${worker}_${shard}_${workers}`;
      const records = [...this.#channels].flatMap(([channelId, { items }]) => {
        const own = BigInt.asUintN(64, channelId) % BigInt(shards) === BigInt(shard);
        return own ? [record(CHANNEL_CACHE.encode({ channelId, featureDatas: [...items.values()] }))] : [];
      });
      const temporary = `${file}_tmp`;
      try {
        writeFileSync(temporary, Buffer.concat(records));
        renameSync(temporary, file);
      } catch (cause) {
        rmSync(temporary, { force: true });
        throw cause;
      }
      return file;
    });
  }

  /** Adds what `save` wrote, in however many shards; false where there are no such files. */
  restore(prefix: string, place: PoolPlace = {}): boolean {
    const { worker, workers } = placeOf(place);
    const name = new RegExp(`^${escaped(basename(prefix))}_item_pool_${worker}_\\d+_${workers}$`);
    const files = namesIn(dirname(prefix)).filter((file) => name.test(file));
    for (const file of files.sort()) {
      const reader = new RecordReader(join(dirname(prefix), file));
      try {
        for (const payload of reader) {
          const { channelId, featureDatas } = CHANNEL_CACHE.decode(payload);
          const items = new Map(featureDatas.map((item) => [item.gid, item]));
          this.#channels.set(channelId, { items, list: undefined });
        }
      } finally {
        reader.close();
      }
    }
    return files.length > 0;
  }
}

function placeOf(place: PoolPlace): Required<PoolPlace> {
  const { worker = 0, workers = 1, shards = 1 } = checkOptions('ItemPool', place, ['worker', 'workers', 'shards']);
  if ([worker, workers, shards].every(Number.isInteger) && worker >= 0 && worker < workers && shards > 0) {
    return { worker, workers, shards };
  }
  const reason = `worker ${worker} of ${workers} with ${shards} shards is none`;
  throw new MonolithError('ML_OPTION', { where: 'ItemPool', option: 'worker', reason });
}

function record(payload: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(RECORD_HEADER_BYTES + payload.length + RECORD_FOOTER_BYTES);
  bytes.set(payload, RECORD_HEADER_BYTES);
  frameRecord(bytes, new DataView(bytes.buffer), 0, payload.length);
  return bytes;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw cause;
  }
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
