/**
 * @file Rooms for pages in the memory of the decoder: each grows to the largest page it has had, and is used again for
 * the next. They stand where the input of other formats is, and are given up with the file.
 */
import type { Decoder } from './decoder.js';

const ALIGN = 64;
const ROOM_BYTES_MIN = 4096;
/** Kernels read and write some bytes behind what is asked for. */
const SLACK_BYTES = 64;

/** Bytes at `at`; how many it has room for is known to `PageMemory`. */
export interface Room {
  at: number;
  bytes: number;
}

export class PageMemory {
  readonly decoder: Decoder;
  #top = 0;

  constructor(decoder: Decoder) {
    this.decoder = decoder;
  }

  room(): Room {
    return { at: 0, bytes: 0 };
  }

  /** The address of room for so many bytes; what was in it is lost where it had less. */
  fit(room: Room, bytes: number): number {
    if (room.bytes >= bytes && room.at > 0) return room.at;
    // Twice as much each time: what rooms left behind is no more than what they have.
    const size = Math.max(ROOM_BYTES_MIN, 2 ** Math.ceil(Math.log2(Math.max(1, bytes))));
    room.at = this.take(size);
    room.bytes = size;
    return room.at;
  }

  /** The same, and what was in it stays. */
  grow(room: Room, bytes: number): number {
    const { at, bytes: had } = room;
    this.fit(room, bytes);
    if (at > 0 && room.at !== at) this.decoder.bytes.copyWithin(room.at, at, at + had);
    return room.at;
  }

  /** The address of so many bytes, which are zeros only at first. */
  take(bytes: number): number {
    const at = Math.ceil((this.decoder.from + this.#top) / ALIGN) * ALIGN;
    this.#top = at + bytes + SLACK_BYTES - this.decoder.from;
    this.decoder.input(this.#top);
    return at;
  }
}
