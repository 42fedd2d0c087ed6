/** @file `params_override`: task parameters that a command line sets, as a JSON object of dotted names. */
import { MonolithError, messageOf } from '../../base/errors.js';

interface Settable {
  set(values: Readonly<Record<string, unknown>>): unknown;
}

/** Sets parameters by a text such as `{"train.max_steps": 10}`; none when one of them is unknown. */
export function overrideParams(params: Settable, text: string | null): void {
  if (text === null || text.trim() === '') return;
  params.set(parsed(text));
}

function parsed(text: string): Record<string, unknown> {
  const hint = `write --params_override='{"train.max_steps": 10}'`;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const reason = `it is not JSON: ${messageOf(cause)}`;
    throw new MonolithError('ML_OPTION', { where: 'params_override', reason }, { hint, cause });
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new MonolithError('ML_OPTION', { where: 'params_override', reason: 'it is not an object' }, { hint });
}
