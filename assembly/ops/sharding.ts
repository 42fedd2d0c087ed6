// Distribution of ids over servers.
import { WORD } from "../units";
import { RECORD_BYTES, SHARD_SERVER } from "../generated/layouts";

/**
 * places[i] = (server << 32) | position: server = id mod servers, unsigned, position counts ids of that server so far.
 * counts (u32 per server) is cleared first and holds the totals then.
 */
export function shardCountI64(ids: usize, n: i32, servers: u32, places: usize, counts: usize): void {
  memory.fill(counts, 0, <usize>servers << 2);
  if ((servers & (servers - 1)) == 0) {
    const mask = servers - 1;
    for (let i: i32 = 0; i < n; i++, ids += 8, places += 8) count(load<u32>(ids) & mask, places, counts);
    return;
  }
  for (let i: i32 = 0; i < n; i++, ids += 8, places += 8) {
    const id = load<u64>(ids);
    count(<u32>(id % <u64>servers), places, counts);
  }
}

@inline
function count(server: u32, places: usize, counts: usize): void {
  const at = counts + (<usize>server << 2);
  const position = load<u32>(at);
  store<u32>(places, position);
  store<u32>(places, server, WORD);
  store<u32>(at, position + 1);
}

/**
 * Stores id i at position places[i] of its server's list, and at out[i] (u64, may be `places` itself) the server's high
 * word and low word + position * scale.
 */
export function shardPlaceI64(ids: usize, n: i32, places: usize, servers: usize, scale: u32, out: usize): void {
  for (let i: i32 = 0; i < n; i++, ids += 8, places += 8, out += 8) {
    const position = load<u32>(places);
    const server = servers + <usize>load<u32>(places, WORD) * RECORD_BYTES;
    store<u64>(<usize>load<u32>(server, SHARD_SERVER.list) + (<usize>position << 3), load<u64>(ids));
    const low = load<u32>(server, SHARD_SERVER.low) + position * scale;
    store<u64>(out, (<u64>load<u32>(server, SHARD_SERVER.high) << 32) | <u64>low);
  }
}
