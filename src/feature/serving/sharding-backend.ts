/**
 * @file How sharding distributes the ids of one feature over servers: in plain TypeScript, or by kernels over a shared
 * memory, where everything it makes then lies ready for the layout kernels.
 */

import { MonolithError } from '../../base/errors.js';
import type { WasmMemory } from '../../base/wasm-types.js';
import type { Arena } from '../../memory/arena.js';
import { RECORD_WORDS, SHARD_SERVER, UNIQUE_CELL_BYTES } from '../../memory/record-layout.js';
import { view } from '../../memory/views.js';
import type { OpsKernels } from '../../runtime/backends/wasm/calls/ops.js';
import type { SparseKernels } from '../../runtime/backends/wasm/calls/sparse.js';

/** Where the ids of a feature go, per server. */
export interface ShardLists {
  /** Words of fid_offset: `high` names the list, `low` is the place of the first id of this feature in it. */
  readonly high: Uint32Array;
  readonly low: Uint32Array;
  /** What one id takes in units of `low`. */
  readonly scale: number;
  /** The feature's part of each list. */
  readonly targets: readonly BigInt64Array[];
  /** The feature's part of fid_offset. */
  readonly offsets: BigUint64Array;
}

export interface AssignedFids {
  /** Ids for each server. */
  readonly counts: Int32Array;
  write(lists: ShardLists): void;
}

export interface ShardingBackend {
  ids(count: number): BigInt64Array;
  offsets(count: number): BigUint64Array;
  words(count: number): Uint32Array;
  samples(count: number): Int32Array;
  /** Decides the server of each id, unsigned id mod `psNum`, and its position there. */
  assign(fids: BigInt64Array, psNum: number, unique: boolean): AssignedFids;
}

export const PLAIN_SHARDING: ShardingBackend = {
  ids: (count) => new BigInt64Array(count),
  offsets: (count) => new BigUint64Array(count),
  words: (count) => new Uint32Array(count),
  samples: (count) => new Int32Array(count),
  assign(fids, psNum, unique) {
    const counts = new Int32Array(psNum);
    const servers = new Int32Array(fids.length);
    const positions = new Int32Array(fids.length);
    const seen = new Map<bigint, number>();
    fids.forEach((fid, i) => {
      const server = Number(BigInt.asUintN(64, fid) % BigInt(psNum));
      const known = unique ? seen.get(fid) : undefined;
      servers[i] = server;
      positions[i] = known ?? counts[server]!;
      if (known !== undefined) return;
      seen.set(fid, counts[server]!);
      counts[server] = counts[server]! + 1;
    });
    return {
      counts,
      write({ high, low, scale, targets, offsets }) {
        const words = new Uint32Array(offsets.buffer, offsets.byteOffset, offsets.length * 2);
        fids.forEach((fid, i) => {
          const server = servers[i]!;
          targets[server]![positions[i]!] = fid;
          words[2 * i] = low[server]! + positions[i]! * scale;
          words[2 * i + 1] = high[server]!;
        });
      },
    };
  },
};

/** Bytes of a cell of the unique table: i64 key, u32 generation, u32 index. */

/**
 * Sharding by kernels. Results are views of `memory` taken from `arena`, good until the caller releases it; so is the
 * scratch. `maxFids` is the most ids one feature may have.
 */
export function createKernelSharding(
  kernels: OpsKernels & Pick<SparseKernels, 'uniqueI64' | 'uniqueTableCells' | 'gatherI64'>,
  memory: WasmMemory,
  arena: Arena,
  maxFids: number,
): ShardingBackend {
  const buffer = memory.buffer;
  const cells = kernels.uniqueTableCells(maxFids);
  const table = arena.alloc(cells * UNIQUE_CELL_BYTES, 'sharding: unique table');
  view(Uint8Array, buffer, table, cells * UNIQUE_CELL_BYTES).fill(0);
  let generation = 0;

  /** The table with everything in it forgotten. */
  const nextGeneration = (): number => {
    if (generation === 0xffffffff) {
      view(Uint8Array, buffer, table, cells * UNIQUE_CELL_BYTES).fill(0);
      generation = 0;
    }
    return ++generation;
  };
  const copyIn = (fids: BigInt64Array): number => {
    if (fids.buffer === buffer) return fids.byteOffset;
    const at = arena.alloc(fids.byteLength, 'sharding: ids');
    view(BigInt64Array, buffer, at, fids.length).set(fids);
    return at;
  };

  return {
    ids: (count) => view(BigInt64Array, buffer, arena.alloc(count * 8, 'sharding: list'), count),
    offsets: (count) => view(BigUint64Array, buffer, arena.alloc(count * 8, 'sharding: fid_offset'), count),
    words: (count) => view(Uint32Array, buffer, arena.alloc(count * 4, 'sharding: nfl_offset'), count),
    samples: (count) => view(Int32Array, buffer, arena.alloc(count * 4, 'sharding: feature_offset'), count),
    assign(fids, psNum, unique) {
      const n = fids.length;
      if (n > maxFids)
        throw new MonolithError('ML_SHARDING', { reason: `a feature has ${n} ids, more than ${maxFids}` });
      const from = copyIn(fids);
      const uids = unique ? arena.alloc(n * 8, 'sharding: unique ids') : from;
      const inverse = unique ? arena.alloc(n * 4, 'sharding: inverse') : 0;
      const count = unique ? kernels.uniqueI64(from, n, table, cells - 1, nextGeneration(), 0, uids, inverse) : n;
      const places = arena.alloc(count * 8, 'sharding: places');
      const perServer = arena.alloc(psNum * RECORD_WORDS * 4, 'sharding: servers');
      kernels.shardCountI64(uids, count, psNum, places, perServer);
      const counts = view(Int32Array, buffer, perServer, psNum).slice();
      return {
        counts,
        write({ high, low, scale, targets, offsets }) {
          const words = view(Uint32Array, buffer, perServer, psNum * RECORD_WORDS);
          for (let server = 0; server < psNum; server++) {
            words[server * RECORD_WORDS + SHARD_SERVER.low] = low[server]!;
            words[server * RECORD_WORDS + SHARD_SERVER.high] = high[server]!;
            words[server * RECORD_WORDS + SHARD_SERVER.list] = targets[server]!.byteOffset;
          }
          kernels.shardPlaceI64(uids, count, places, perServer, scale, unique ? places : offsets.byteOffset);
          if (unique) kernels.gatherI64(places, inverse, n, offsets.byteOffset);
        },
      };
    },
  };
}
