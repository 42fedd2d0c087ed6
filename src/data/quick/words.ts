/** @file Arrays of values as words of 32 bits, copied without regard to what they mean. */

/** The words of values, in place. */
export function wordsOf(values: Float32Array | BigInt64Array): Int32Array {
  return new Int32Array(values.buffer, values.byteOffset, values.byteLength / 4);
}

/** A copy with zeros behind. */
export function longer(values: Int32Array, length: number): Int32Array<ArrayBuffer> {
  const grown = new Int32Array(length);
  grown.set(values);
  return grown;
}

/** Neighbouring rows that go one behind the other from `to` on: row, where to, how many, of each run. */
export function runsOf(rows: readonly number[], to: number): number[] {
  const runs: number[] = [];
  const { length } = rows;
  for (let n = 0; n < length; ) {
    const row = rows[n]!;
    let run = 1;
    while (n + run < length && rows[n + run] === row + run) run++;
    runs.push(row, to + n, run);
    n += run;
  }
  return runs;
}

/** Copies runs of rows of so many words. */
export function copyRuns(from: Int32Array, to: Int32Array, runs: readonly number[], words: number): void {
  for (let at = 0; at < runs.length; at += 3) {
    const [source, target] = [runs[at]! * words, runs[at + 1]! * words];
    const count = runs[at + 2]! * words;
    if (count > 32) to.set(from.subarray(source, source + count), target);
    else for (let word = 0; word < count; word++) to[target + word] = from[source + word]!;
  }
}
