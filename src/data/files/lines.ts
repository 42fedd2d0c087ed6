/** @file Lines of a text file, many at a time, each with its number and the byte it begins at. */
import { MonolithError } from '../../base/errors.js';
import { checkLimit } from '../../base/limits.js';

/** Lines that came in one piece of the file. */
export interface LineBlock {
  readonly lines: readonly string[];
  /** Of the first line, from 1. */
  readonly firstLine: number;
  /** The byte of the file at which each line begins. */
  readonly starts: readonly number[];
}

const BOM = '\uFEFF';
const BOM_BYTES = 3;
const NEWLINE = 0x0a;

/** Lines without their ends, `\n` or `\r\n`; a last one without an end counts unless it is empty. */
export async function* lineBlocks(file: string, pieces: AsyncIterable<Buffer>): AsyncGenerator<LineBlock> {
  let rest: Buffer[] = [];
  let [restBytes, line, byte] = [0, 1, 0];
  for await (const piece of pieces) {
    const end = piece.lastIndexOf(NEWLINE);
    if (end < 0) {
      rest.push(piece);
      restBytes += piece.length;
      checkLimit('recordBytes', restBytes, (reason) => {
        throw new MonolithError('ML_DATASET', { reason: `line ${line} of ${file} ${reason}` });
      });
      continue;
    }
    const whole = Buffer.concat([...rest, piece.subarray(0, end)]);
    const block = blockOf(whole, line, byte);
    yield block;
    line += block.lines.length;
    byte += whole.length + 1;
    rest = [piece.subarray(end + 1)];
    restBytes = rest[0]!.length;
  }
  const last = Buffer.concat(rest);
  if (last.length > 0) yield blockOf(last, line, byte);
}

function blockOf(bytes: Buffer, firstLine: number, firstByte: number): LineBlock {
  let text = bytes.toString('utf8');
  let at = firstByte;
  if (firstByte === 0 && text.startsWith(BOM)) {
    text = text.slice(1);
    at = BOM_BYTES;
  }
  const isAscii = text.length === bytes.length;
  const lines = text.split('\n');
  const starts = lines.map((line) => {
    const start = at;
    at += (isAscii ? line.length : Buffer.byteLength(line)) + 1;
    return start;
  });
  if (text.includes('\r')) {
    for (const [index, line] of lines.entries()) if (line.endsWith('\r')) lines[index] = line.slice(0, -1);
  }
  return { lines, firstLine, starts };
}
