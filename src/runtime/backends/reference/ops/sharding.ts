/**
 * @file Plain TypeScript twins of assembly/ops/sharding: ids by the server that has them.
 *
 * Float results are the bits of the WASM version: one f32 rounding per operation, in the same order.
 */
import { RECORD_WORDS, SHARD_SERVER } from '../../../../memory/record-layout.js';
import type { Views } from '../../../../memory/views.js';

/** Server (unsigned id mod servers, high word) and position there (low word) of each id; counts per server. */
export function shardCountI64(m: Views, ids: number, n: number, servers: number, places: number, counts: number): void {
  m.u32.fill(0, counts / 4, counts / 4 + servers);
  for (let i = 0; i < n; i++) {
    const server = Number(m.u64[ids / 8 + i]! % BigInt(servers));
    m.u32[places / 4 + 2 * i] = m.u32[counts / 4 + server]!;
    m.u32[places / 4 + 2 * i + 1] = server;
    m.u32[counts / 4 + server] = m.u32[counts / 4 + server]! + 1;
  }
}

/** Stores ids at their positions of their servers' lists; out = server's high word, low word + position * scale. */
export function shardPlaceI64(
  m: Views,
  ids: number,
  n: number,
  places: number,
  servers: number,
  scale: number,
  out: number,
): void {
  for (let i = 0; i < n; i++) {
    const position = m.u32[places / 4 + 2 * i]!;
    const server = servers / 4 + m.u32[places / 4 + 2 * i + 1]! * RECORD_WORDS;
    m.i64[m.u32[server + SHARD_SERVER.list]! / 8 + position] = m.i64[ids / 8 + i]!;
    m.u32[out / 4 + 2 * i] = m.u32[server + SHARD_SERVER.low]! + position * scale;
    m.u32[out / 4 + 2 * i + 1] = m.u32[server + SHARD_SERVER.high]!;
  }
}
