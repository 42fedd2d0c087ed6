/** @file Cells as text of a CSV file, in quotes where they need them. */

/** A cell as text; lists have bars between their parts. */
export function csvText(cell: unknown): string {
  if (cell === undefined || cell === null) return '';
  if (typeof cell === 'object') {
    if (cell instanceof Date) return cell.toISOString();
    if (Array.isArray(cell) || ArrayBuffer.isView(cell)) {
      return Array.from(cell as ArrayLike<unknown>, (part) => csvText(part)).join('|');
    }
    return JSON.stringify(cell);
  }
  return String(cell);
}

export function csvLine(cells: readonly string[], delimiter: string): string {
  return `${cells.map((cell) => quoted(cell, delimiter)).join(delimiter)}\n`;
}

const quoted = (text: string, delimiter: string): string =>
  text.includes(delimiter) || /["\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
