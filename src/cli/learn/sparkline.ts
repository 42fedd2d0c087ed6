/** @file A row of bars for a terminal: how a number went. */

const BARS = '▁▂▃▄▅▆▇█';

/** `values` in `cells` bars, the mean of each part; from the least to the most of them. */
export function sparkline(values: readonly number[], cells: number): string {
  const finite = values.filter(Number.isFinite);
  if (finite.length === 0) return '';
  const count = Math.min(cells, finite.length);
  const means = Array.from({ length: count }, (_, cell) => {
    const from = Math.floor((cell * finite.length) / count);
    const part = finite.slice(from, Math.max(from + 1, Math.floor(((cell + 1) * finite.length) / count)));
    return part.reduce((sum, value) => sum + value, 0) / part.length;
  });
  const [least, most] = [Math.min(...means), Math.max(...means)];
  const span = most - least;
  return means.map((mean) => BARS[span === 0 ? 0 : Math.round(((mean - least) / span) * (BARS.length - 1))]).join('');
}
