/**
 * @file Decodes raw snappy blocks and TensorFlow's stream of them. Reading only: nothing here writes snappy.
 *
 * By hand because it is tiny and readers of foreign checkpoints should not need a native addon.
 */
import { MonolithError } from '../base/errors.js';
import { LIMITS, overLimit } from '../base/limits.js';

/** A copy of 64 bytes takes three: no block decodes to more than so many times its size. */
const EXPANSION_MAX = 64 / 3;

function refuse(reason: string): never {
  throw new MonolithError('ML_SNAPPY', { reason });
}

/** Decodes one raw block: varint of the decoded size, then literals and copies. */
export function snappyUncompress(input: Uint8Array): Uint8Array<ArrayBuffer> {
  let at = 0;
  const byte = (): number => input[at++] ?? refuse('input ends early');
  let size = 0;
  for (let scale = 1, more = true; more; scale *= 0x80) {
    const group = byte();
    size += (group & 0x7f) * scale;
    more = group >= 0x80;
    if (size > LIMITS.snappyBlockBytes) refuse(`claims ${size} bytes, which ${overLimit('snappyBlockBytes', size)}`);
  }
  if (size > EXPANSION_MAX * input.length) refuse(`claims ${size} bytes, which ${input.length} cannot hold`);
  const output = new Uint8Array(size);
  let length = 0;

  const literal = (tag: number): void => {
    let count = tag >>> 2;
    if (count >= 60) {
      const extra = count - 59;
      count = 0;
      for (let i = 0; i < extra; i++) count += byte() * 2 ** (8 * i);
    }
    count++;
    if (count > input.length - at || count > size - length) refuse('a literal is too long');
    output.set(input.subarray(at, at + count), length);
    at += count;
    length += count;
  };
  const copy = (count: number, back: number): void => {
    if (back === 0 || back > length || count > size - length) refuse('a copy is out of range');
    // Byte by byte: source and target may overlap, which repeats a pattern.
    for (let i = 0; i < count; i++, length++) output[length] = output[length - back]!;
  };

  while (at < input.length) {
    const tag = byte();
    const kind = tag & 3;
    if (kind === 0) literal(tag);
    else if (kind === 1) copy(((tag >>> 2) & 7) + 4, (tag >>> 5) * 256 + byte());
    else {
      let back = byte() + byte() * 256;
      if (kind === 3) back += byte() * 2 ** 16 + byte() * 2 ** 24;
      copy((tag >>> 2) + 1, back);
    }
  }
  if (length !== size) refuse(`decoded ${length} bytes of ${size}`);
  return output;
}

/** Decodes TensorFlow's flavour: blocks, each after its compressed length as a big-endian u32. */
export function tfSnappyDecode(input: Uint8Array): Uint8Array<ArrayBuffer> {
  const view = new DataView(input.buffer, input.byteOffset, input.byteLength);
  const blocks: Uint8Array[] = [];
  let total = 0;
  for (let at = 0; at < input.length; ) {
    if (input.length - at < 4) refuse('a block length is cut off');
    const size = view.getUint32(at);
    at += 4;
    if (size > input.length - at) refuse('a block is cut off');
    const block = snappyUncompress(input.subarray(at, at + size));
    blocks.push(block);
    total += block.length;
    at += size;
  }
  const output = new Uint8Array(total);
  let at = 0;
  for (const block of blocks) {
    output.set(block, at);
    at += block.length;
  }
  return output;
}
