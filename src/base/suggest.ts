/** @file Finds the word a mistyped one was meant to be. Hand-written because it is tiny. */

/** Words shorter than this stand in others by chance. */
const CONTAINED_LENGTH_MIN = 5;

/** The candidate nearest to `word`, or undefined when none is near enough to be worth naming. */
export function suggest(word: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const distance = distanceTo(word.toLowerCase(), candidate.toLowerCase());
    const near = distance <= Math.max(1, Math.floor(candidate.length * 0.4));
    if (near && distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best ?? ofInitials(word, candidates) ?? uniquePrefix(word, candidates);
}

/** `learningRate` for `lr`: the only candidate with these first letters. */
function ofInitials(word: string, candidates: readonly string[]): string | undefined {
  const initials = (name: string) => (name[0] ?? '') + name.slice(1).replace(/[^A-Z]/g, '');
  const matches = candidates.filter((candidate) => initials(candidate).toLowerCase() === word.toLowerCase());
  return word.length >= 2 && matches.length === 1 ? matches[0] : undefined;
}

/** The edit distance, but never far from a candidate that stands in the word as a whole: `threads` in `numThreads`. */
function distanceTo(word: string, candidate: string): number {
  const distance = editDistance(word, candidate);
  return candidate.length >= CONTAINED_LENGTH_MIN && word.includes(candidate) ? Math.min(distance, 1) : distance;
}

/** A hint for `word`, when one of the candidates is near. */
export function didYouMean(word: string, candidates: readonly string[]): string | undefined {
  const near = suggest(word, candidates);
  return near === undefined ? undefined : `did you mean ${near}?`;
}

function uniquePrefix(word: string, candidates: readonly string[]): string | undefined {
  const matches = candidates.filter((candidate) => candidate.toLowerCase().startsWith(word.toLowerCase()));
  return word.replace(/^-+/, '').length >= 2 && matches.length === 1 ? matches[0] : undefined;
}

/** Inserts, deletions, replacements and swaps of neighbours that turn `a` into `b`. */
export function editDistance(a: string, b: string): number {
  let twoBack: number[] = [];
  let back = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replace = back[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      let least = Math.min(replace, back[j]! + 1, row[j - 1]! + 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) least = Math.min(least, twoBack[j - 2]! + 1);
      row.push(least);
    }
    twoBack = back;
    back = row;
  }
  return back[b.length]!;
}
