/** @file How much a checkpoint and a session may differ for a restore, as options that are checked. */
import { checkOptions, notA } from '../base/check-options.js';
import { MonolithError } from '../base/errors.js';
import { didYouMean } from '../base/suggest.js';

/**
 * How much a checkpoint and the session it is put into may differ.
 *
 * - `exact`: both hold the same variables and tables.
 * - `subset`: the session holds some of what the checkpoint does, as a graph that predicts or evaluates.
 * - `warm-start`: what is renamed, reshaped, missing or extra is named in the options.
 * - `foreign`: as `warm-start`, the checkpoint may be without our manifest, as one of the reference, and hold more.
 */
export const RESTORE_MODES = ['exact', 'subset', 'warm-start', 'foreign'] as const;
export type RestoreMode = (typeof RESTORE_MODES)[number];

/** Names are those of variables and tables; in a list a `*` stands for any text. */
export interface RestoreOptions {
  /** Default: exact. */
  readonly mode?: RestoreMode;
  /** Name in the checkpoint by name in the session, for what the checkpoint does not have under the session's name. */
  readonly rename?: Readonly<Record<string, string>>;
  /** What starts from its initial values when the checkpoint lacks it or has it in another shape. */
  readonly missing?: readonly string[];
  /** What starts from its initial values though the checkpoint has it. */
  readonly initial?: readonly string[];
  /** What the session does not have and the checkpoint may. */
  readonly extra?: readonly string[];
  /** Variables that may have another shape of as many values, in row-major order. */
  readonly reshape?: readonly string[];
  /** False leaves the global step of the session as it is. Default: true. */
  readonly globalStep?: boolean;
  /**
   * When memory does not hold old and new rows of a table together: true has it cleared first, after all files were
   * checked. Want of memory can then still fail the restore half-way. Default: false, which is ML_MEMORY and changes
   * nothing.
   */
  readonly inPlace?: boolean;
}

const WHERE = 'restoreSession';
const LISTS = ['missing', 'initial', 'extra', 'reshape'] as const;

/** ML_OPTION for options that do not go together, or name what is not in the session. */
export function checkRestoreOptions(options: RestoreOptions, sessionNames: readonly string[]): void {
  checkOptions(WHERE, options, ['mode', 'rename', 'missing', 'initial', 'extra', 'reshape', 'globalStep', 'inPlace']);
  const { mode = 'exact', rename } = options;
  if (!RESTORE_MODES.includes(mode)) {
    const hint = didYouMean(String(mode), RESTORE_MODES) ?? `its modes are ${RESTORE_MODES.join(', ')}`;
    throw refused('mode', `there is no mode ${String(mode)}`, hint);
  }
  const isStrict = mode === 'exact' || mode === 'subset';
  for (const option of ['rename', ...LISTS] as const) {
    if (options[option] === undefined || !isStrict) continue;
    throw refused(option, `${option} is not for the mode ${mode}`, "give mode: 'warm-start'");
  }
  for (const option of LISTS) {
    const list = options[option];
    if (list === undefined) continue;
    if (!Array.isArray(list) || list.some((name) => typeof name !== 'string')) {
      throw notA('list of names', WHERE, option, list);
    }
    if (option !== 'extra') for (const name of list) checkName(option, name, sessionNames);
  }
  for (const name of Object.keys(rename ?? {})) checkName('rename', name, sessionNames);
}

/** A name that nothing in the session has is a slip. */
function checkName(option: string, name: string, sessionNames: readonly string[]): void {
  if (name.includes('*') || sessionNames.includes(name)) return;
  const hint = didYouMean(name, sessionNames) ?? `it has ${sessionNames.slice(0, 10).join(', ')}`;
  throw refused(option, `the session has no variable or table ${name}`, hint);
}

function refused(option: string, reason: string, hint: string): MonolithError {
  return new MonolithError('ML_OPTION', { where: WHERE, option, reason }, { hint });
}

/** Whether a list names `name`, in full or by a `*`. */
export function isNamed(list: readonly string[] | undefined, name: string): boolean {
  return (list ?? []).some((entry) => {
    if (!entry.includes('*')) return entry === name;
    const parts = entry.split('*').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    return new RegExp(`^${parts.join('.*')}$`, 's').test(name);
  });
}
