/** @file The cells of a line of CSV: quotes around a cell hold delimiters and newlines, doubled they are one. */

/**
 * A row that goes on in the next line, since a quote is open. What is known of it is not read again: a quote that
 * nobody closes may go on for millions of lines.
 */
export interface OpenRow {
  /** Those before the open one. */
  readonly cells: string[];
  /** The open one, a line each. */
  readonly lines: string[];
  /** Characters of the row so far. */
  chars: number;
}

/** The cells of a line, the first or the next of a row; the row as far as it goes where a quote is open at its end. */
export function cellsOf(line: string, delimiter: string, open?: OpenRow): string[] | OpenRow {
  if (open === undefined && !line.includes('"')) return line.split(delimiter);
  const cells = open?.cells ?? [];
  let quoted = open;
  let at = 0;
  for (;;) {
    if (quoted === undefined && line.charCodeAt(at) !== QUOTE) {
      const end = line.indexOf(delimiter, at);
      cells.push(end < 0 ? line.slice(at) : line.slice(at, end));
      if (end < 0) return cells;
      at = end + 1;
      continue;
    }
    const from = quoted === undefined ? at + 1 : at;
    const close = closingQuote(line, from);
    if (close < 0) {
      const row = quoted ?? { cells, lines: [], chars: open?.chars ?? 0 };
      row.lines.push(line.slice(from));
      row.chars += line.length + 1;
      return row;
    }
    const text = [...(quoted?.lines ?? []), line.slice(from, close)].join('\n');
    const end = line.indexOf(delimiter, close);
    const rest = end < 0 ? line.slice(close + 1) : line.slice(close + 1, end);
    cells.push(text.replaceAll('""', '"') + rest);
    if (end < 0) return cells;
    quoted = undefined;
    at = end + 1;
  }
}

const QUOTE = 0x22;

/** Index of the quote that ends the cell, -1 without one. */
function closingQuote(line: string, from: number): number {
  for (let at = line.indexOf('"', from); at >= 0; at = line.indexOf('"', at + 2)) {
    if (line.charCodeAt(at + 1) !== QUOTE) return at;
  }
  return -1;
}
