/**
 * @file A digest of the kernel table: opcodes, names, and how many words of which kind each call has.
 *
 * Modules of kernels carry that of the table they were built for (assembly/build.mjs), so that one of other sources is
 * refused before a program calls the wrong kernel by number.
 */
import { createHash } from 'node:crypto';
import { KERNELS } from './kernels.js';

/** Section of a module that has the digest. */
export const DIGEST_SECTION = 'kernels';

let digest: string | undefined;

export function kernelTableDigest(): string {
  digest ??= createHash('sha256')
    .update([...KERNELS.values()].map(lineOf).join(''))
    .digest('hex')
    .slice(0, 16);
  return digest;
}

function lineOf({ opcode, name, words }: { opcode: number; name: string; words: readonly { kind: string }[] }): string {
  return `${opcode} ${name} ${words.map(({ kind }) => (kind === 'float' ? 'f' : 'u')).join('')}\n`;
}
