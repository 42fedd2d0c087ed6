// Numbers the distinct ids of each column of a feature block, for products that multiply each of them once.
import { WORD } from "../units";

/**
 * For each column j of inverse, u32[rows][columns]: counts[j] is how many distinct entries it has and numbers[j][r] the
 * number of row r's entry among them, in first-seen order. order[j] has the rows by number, those of one number
 * ascending; they begin at starts[j][number], and starts[j][counts[j]] is `rows`. A column of numbers and of order has
 * `stride` words, one of starts has stride + 2.
 *
 * `map` has a word for each possible entry and need not be cleared: what it says of an entry holds only if the row it
 * leads to has that entry.
 */
export function numberRepeatsU32(
  inverse: usize, columns: u32, rows: u32, map: usize, numbers: usize, order: usize, starts: usize, stride: u32,
  counts: usize,
): void {
  const step = <usize>columns << 2, columnBytes = <usize>stride << 2;
  const end = inverse + step;
  for (let column = inverse; column < end; column += 4) {
    const count = numberColumn(column, step, rows, map, numbers, order);
    sortRows(rows, numbers, order, starts, count);
    store<u32>(counts, count);
    numbers += columnBytes;
    order += columnBytes;
    starts += columnBytes + 8;
    counts += 4;
  }
}

/** Numbers of one column; meanwhile order[number] is the first row that has it. */
function numberColumn(column: usize, step: usize, rows: u32, map: usize, numbers: usize, order: usize): u32 {
  let count: u32 = 0;
  let at = column;
  for (let r: u32 = 0; r < rows; r++, at += step) {
    const entry = load<u32>(at);
    const known = map + (<usize>entry << 2);
    let number = load<u32>(known);
    if (number >= count || load<u32>(column + <usize>load<u32>(order + (<usize>number << 2)) * step) != entry) {
      number = count++;
      store<u32>(known, number);
      store<u32>(order + (<usize>number << 2), r);
    }
    store<u32>(numbers + (<usize>r << 2), number);
  }
  return count;
}

/** Rows by number. While they are placed, starts[number + 1] is where the next row of a number goes. */
function sortRows(rows: u32, numbers: usize, order: usize, starts: usize, count: u32): void {
  memory.fill(starts, 0, (<usize>count + 2) << 2);
  const last = numbers + (<usize>rows << 2);
  for (let at = numbers; at < last; at += 4) {
    const size = starts + (<usize>load<u32>(at) << 2);
    store<u32>(size, load<u32>(size, 2 * WORD) + 1, 2 * WORD);
  }
  let sum: u32 = 0;
  for (let at = starts + 8, to = starts + ((<usize>count + 2) << 2); at < to; at += 4) {
    sum += load<u32>(at);
    store<u32>(at, sum);
  }
  let row: u32 = 0;
  for (let at = numbers; at < last; at += 4, row++) {
    const next = starts + (<usize>load<u32>(at) << 2);
    const place = load<u32>(next, WORD);
    store<u32>(order + (<usize>place << 2), row);
    store<u32>(next, place + 1, WORD);
  }
}
