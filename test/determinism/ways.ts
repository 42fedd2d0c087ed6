/**
 * @file Ways to train a model that must give the same bytes, in pairs.
 *
 * What is left out is what docs/determinism.md says is not promised.
 */
import { stream } from '../kernels/both.js';
import { buildModel, STEPS } from './model.js';
import { chosen, has, type Recipe } from './recipe.js';
import type { Way } from './train.js';

export const THREADS = [1, 2, 3, 5, 8] as const;
const MANY = THREADS.slice(1);
/** A thread costs a tenth of a second to start, so the many come less often. */
const TURNS = [2, 3, 5, 2, 3, 8] as const;

export interface Comparison {
  readonly name: string;
  readonly one: Way;
  readonly other: Way;
}

/** The way that others are compared with. */
const PLAIN: Way = { threads: 1, deterministic: true };

interface Limits {
  /** Other memories are full at other moments. */
  readonly banks: boolean;
  /** A group of steps that fails does not say at which. */
  readonly groups: boolean;
  /** A save leaves out expired rows, which a run that is not interrupted has until they are evicted. */
  readonly resumeAt: number;
  /** Several full tables that rows were removed from are restored one by one, and take other blocks than they had. */
  readonly resumes: boolean;
}

function limitsOf(recipe: Recipe): Limits {
  const full = chosen(recipe, 'full');
  const from = buildModel(recipe).evictAt ?? 1;
  const next = stream(recipe.seed + 17);
  return {
    banks: full === undefined,
    groups: full === undefined || full === 'stop-admitting',
    resumes: full !== 'stop-admitting' || !has(recipe, 'several-tables') || !has(recipe, 'expiry'),
    resumeAt: from + Math.floor(next() * (STEPS - from)),
  };
}

/** A few pairs for a model: ways go together, and turn with the seed. */
export function someComparisons(recipe: Recipe): Comparison[] {
  const { banks, groups, resumeAt, resumes } = limitsOf(recipe);
  const fixed = { deterministic: true };
  const threads = TURNS[recipe.seed % TURNS.length]!;
  const pairs: Comparison[] = [
    { name: 'threads and groups', one: PLAIN, other: { ...fixed, threads, groups, grows: recipe.seed % 2 === 0 } },
    {
      name: 'resume and banks',
      one: PLAIN,
      other: { ...fixed, threads: 2, threadsAfter: 1, banks, ...(resumes && { resumeAt }) },
    },
  ];
  pairs.push(cutPairs(recipe)[recipe.seed % 7]!);
  if (recipe.seed % 3 !== 0) return pairs;
  const again = { threads: 2 };
  return [...pairs, { name: 'the same number of threads again', one: again, other: { ...again, groups } }];
}

/**
 * A step that is cut without a prefetch gives what one in one piece does, whoever brings the rows. With a prefetch it
 * gives something else, which a run that is resumed at a save gives as well.
 */
function cutPairs(recipe: Recipe): Comparison[] {
  const { banks, groups, resumeAt, resumes } = limitsOf(recipe);
  const fixed = { deterministic: true };
  const owners = 1 + (recipe.seed % 4);
  const ahead = (prefetch: number, postpush: boolean, served: boolean): Comparison => {
    const way = { ...fixed, prefetch, postpush };
    // A full table with rows removed has other blocks free after a restore, so it admits other ids: see
    // docs/determinism.md.
    const full = chosen(recipe, 'full') === 'stop-admitting' && has(recipe, 'expiry');
    const again = resumes && !full ? { resumeAt } : { saveAt: resumeAt };
    return {
      name: `prefetch ${prefetch}${postpush ? ', postpush' : ''}`,
      one: { ...way, threads: 1, groups, saveAt: resumeAt },
      other: { ...way, threads: 3, grows: true, ...again, ...(served && { cut: 'served', owners }) },
    };
  };
  return [
    { name: 'cut', one: PLAIN, other: { ...fixed, threads: 2, groups, cut: 'local' } },
    { name: 'cut, banks, served', one: PLAIN, other: { ...fixed, threads: 3, banks, cut: 'served', grows: true } },
    ahead(1, false, false),
    ahead(2, true, true),
    { name: 'cut, banks', one: PLAIN, other: { ...fixed, threads: 1, groups, banks, cut: 'local', grows: true } },
    ahead(0, true, true),
    { name: 'cut, served', one: PLAIN, other: { ...fixed, threads: 2, cut: 'served', owners, grows: true } },
  ];
}

/** Every pair for a model, one thing at a time. */
export function allComparisons(recipe: Recipe): Comparison[] {
  const { banks, groups, resumeAt, resumes } = limitsOf(recipe);
  const fixed = { deterministic: true };
  const pairs: Comparison[] = MANY.map((threads) => {
    return { name: `${threads} threads`, one: PLAIN, other: { ...fixed, threads } };
  });
  if (groups) pairs.push({ name: 'groups of steps', one: PLAIN, other: { ...fixed, threads: 3, groups } });
  if (banks) {
    pairs.push({ name: 'banks', one: PLAIN, other: { ...fixed, threads: 1, banks } });
    pairs.push({ name: 'banks and threads', one: PLAIN, other: { ...fixed, threads: 5, banks } });
  }
  if (resumes) pairs.push({ name: 'resume', one: PLAIN, other: { ...fixed, threads: 1, resumeAt } });
  if (resumes)
    pairs.push({
      name: 'resume with other threads',
      one: PLAIN,
      other: { ...fixed, threads: 3, threadsAfter: 2, resumeAt },
    });
  pairs.push({ name: 'the same way again', one: PLAIN, other: PLAIN });
  for (const threads of [1, 3]) {
    pairs.push({ name: `${threads} threads again`, one: { threads }, other: { threads } });
    if (resumes) pairs.push({ name: `${threads} threads, resumed`, one: { threads }, other: { threads, resumeAt } });
    if (groups) pairs.push({ name: `${threads} threads in groups`, one: { threads }, other: { threads, groups } });
    if (banks) pairs.push({ name: `${threads} threads, banks`, one: { threads }, other: { threads, banks } });
  }
  for (const threads of [1, 3]) {
    pairs.push({
      name: `buffers that grow, ${threads} threads`,
      one: PLAIN,
      other: { ...fixed, threads, grows: true },
    });
  }
  pairs.push(...cutPairs(recipe));
  const plain: Way = { ...PLAIN, backend: 'reference' };
  pairs.push({ name: 'reference backend, cut', one: plain, other: { ...plain, threads: 2, cut: 'local' } });
  const served: Way = { ...plain, threads: 3, cut: 'served', owners: 3 };
  pairs.push({ name: 'reference backend, cut, served', one: plain, other: served });
  pairs.push({ name: 'reference backend, threads', one: plain, other: { ...plain, threads: 3 } });
  return pairs;
}
