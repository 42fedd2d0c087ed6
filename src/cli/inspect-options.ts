/** @file The flags of `monolith inspect`. */
import { z } from 'zod';
import { flagMeta, refuse, switchFlag, wholeNumber } from './flags.js';

const I64_MIN = -(2n ** 63n);
const U64_LIMIT = 2n ** 64n;

/** A 64-bit id, signed or unsigned, in decimal or in hex. */
function idNumber() {
  return z.string().transform((text, context): bigint => {
    if (!/^(-?\d+|0x[0-9a-f]+)$/i.test(text)) {
      return refuse(context, `must be a whole number, found "${text}"`, 'write 123 or 0x7b');
    }
    const id = BigInt(text);
    if (id < I64_MIN || id >= U64_LIMIT) return refuse(context, `must have 64 bits, found ${text}`, undefined);
    return BigInt.asIntN(64, id);
  });
}

export const inspectFlags = z
  .object({
    id: idNumber().optional().register(flagMeta, {
      value: 'id',
      help: 'show the row of this id from every table that has it: 123, or 0x7b; exit code 1 when none has',
    }),
    table: z.string().optional().register(flagMeta, { value: 'name', help: 'this table only' }),
    slots: switchFlag().register(flagMeta, { help: 'list the rows of each slot of the ids' }),
    top: wholeNumber(1, 32768).optional().register(flagMeta, {
      value: 'count',
      help: 'slots to list per table',
      defaultText: '10; all with --slots --json',
    }),
    quick: switchFlag().register(flagMeta, { help: 'leave the rows unread: names and sizes only' }),
    json: switchFlag().register(flagMeta, { help: 'print JSON' }),
    verbose: switchFlag().register(flagMeta, { help: 'show causes and stacks of errors' }),
  })
  .superRefine((flags, context) => {
    const reading = flags.id !== undefined ? '--id' : flags.slots ? '--slots' : null;
    if (flags.quick && reading !== null) {
      refuse(context, `contradicts ${reading}, which needs the rows`, 'give one of the two', 'quick');
    }
    if (flags.slots && flags.id !== undefined) refuse(context, 'contradicts --id', 'give one of the two', 'slots');
  });

export type InspectFlags = z.output<typeof inspectFlags>;
