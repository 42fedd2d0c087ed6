/** @file Errors about a graph: they name the op, and the line of the user's code that made it. */
import { CallPlace } from '../base/call-place.js';
import { MonolithError } from '../base/errors.js';

/** An op, or what is known of one that could not be made. */
type Placed = { readonly name: string; readonly place: string | undefined };

/** What an error is about: an op, or a tensor by the op that makes it. */
type Subject = Placed | { readonly name: string; readonly op: Placed };

/** ML_GRAPH. The place is where the op was made, or for a name the line of the user that runs. */
export function misfit(subject: string | Subject, reason: string, hint?: string): MonolithError {
  const [op, place] =
    typeof subject === 'string'
      ? [subject, new CallPlace().text]
      : [subject.name, 'op' in subject ? subject.op.place : subject.place];
  return new MonolithError('ML_GRAPH', { op, reason, ...(place && { place }) }, hint === undefined ? {} : { hint });
}

/** The error with the op it is about and the place of that op, unless it has an op already. */
export function located(error: unknown, op: Placed): unknown {
  if (!(error instanceof MonolithError) || error.fields.node !== undefined) return error;
  const { code, fields, hint } = error;
  const place = op.place ?? fields.place;
  return new MonolithError(
    code,
    { ...fields, node: op.name, ...(place !== undefined && { place }) },
    { cause: error, ...(hint !== undefined && { hint }) },
  );
}
