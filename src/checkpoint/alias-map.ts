/**
 * @file Finds out by their names which variables of a checkpoint a changed model means (CustomRestoreListener of
 * native_training): layers that were numbered anew, and modules that got other names.
 */
import { stemOf } from './custom-restore.js';

/** How a name of old is written now: what the pattern matches is replaced. */
export interface MappingRule {
  readonly pattern: RegExp;
  readonly replacement: string;
}

const rules: MappingRule[] = [
  { pattern: /\bc_dot\/mlp/g, replacement: 'c_dot/compress_tower' },
  { pattern: /\bdcn\/kernel_(\d+)/g, replacement: 'kernel_$1' },
  { pattern: /\bdcn\/bias_(\d+)/g, replacement: 'bias_$1' },
  { pattern: /\/trainable_norm/g, replacement: '_trainable_norm' },
];

/** Rules that names are tried with besides those there are. */
export function addMappingRules(more: readonly MappingRule[]): void {
  rules.push(...more);
}

/** Layers are looked for under numbers that differ by so much at most. */
const SHIFT_MAX = 16;
const DENSE = /(^|\/)dense(?:_(\d+))?(?=\/|$)/;

/**
 * Name in the checkpoint by name in the model, for those that differ; empty when the checkpoint has all names of the
 * model, null when one of them cannot be told.
 */
export function autoAliasMap(
  modelNames: readonly string[],
  checkpointNames: readonly string[],
): Readonly<Record<string, string>> | null {
  const wanted = [...new Set(modelNames.map(stemOf))];
  const has = new Set(checkpointNames.map(stemOf));
  if (wanted.every((name) => has.has(name))) return {};
  const oldByNew = namesNow([...has]);
  const map: Record<string, string> = {};
  const open: string[] = [];
  for (const name of wanted) {
    const old = has.has(name) ? name : oldByNew.get(name);
    if (old === undefined) open.push(name);
    else if (old !== name) map[name] = old;
  }
  const shift = open.length === 0 ? 0 : shifts().find((by) => open.every((name) => oldByNew.has(shifted(name, by))));
  if (shift === undefined) return null;
  for (const name of open) map[name] = oldByNew.get(shifted(name, shift))!;
  return map;
}

/** Names of old by what they are called now, with and without each rule. */
function namesNow(names: readonly string[]): Map<string, string> {
  const numbers = denseNumbers(names);
  const now = new Map<string, string>();
  for (const name of names) {
    const plain = renumbered(withoutRepeats(name), numbers);
    for (const form of [plain, ...rules.map(({ pattern, replacement }) => plain.replace(pattern, replacement))]) {
      if (!now.has(form)) now.set(form, name);
    }
  }
  return now;
}

/** Each term of a path once, where it comes first. */
function withoutRepeats(name: string): string {
  return [...new Set(name.split('/'))].join('/');
}

/** The numbers that dense layers have after each prefix, in order. */
function denseNumbers(names: readonly string[]): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const name of names.map(withoutRepeats)) {
    const match = DENSE.exec(name);
    if (match === null) continue;
    const prefix = name.slice(0, match.index);
    const numbers = new Set(found.get(prefix)).add(Number(match[2] ?? 0));
    found.set(
      prefix,
      [...numbers].sort((a, b) => a - b),
    );
  }
  return found;
}

/** The dense layers of a prefix numbered from zero, in their order. */
function renumbered(name: string, numbers: ReadonlyMap<string, readonly number[]>): string {
  return name.replace(DENSE, (_, slash: string, number: string | undefined, at: number) => {
    return `${slash}${denseName((numbers.get(name.slice(0, at)) ?? []).indexOf(Number(number ?? 0)))}`;
  });
}

const denseName = (number: number) => (number > 0 ? `dense_${number}` : 'dense');

/** The name with its dense layer so many further; itself when it has none. */
function shifted(name: string, by: number): string {
  return name.replace(DENSE, (all, slash: string, number: string | undefined) => {
    const to = Number(number ?? 0) + by;
    return to < 0 ? all : `${slash}${denseName(to)}`;
  });
}

function shifts(): number[] {
  return Array.from({ length: SHIFT_MAX }, (_, i) => [i + 1, -(i + 1)]).flat();
}
