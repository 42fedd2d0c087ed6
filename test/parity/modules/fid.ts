/** @file Cases of fids (src/sparse/fid). */
import {
  fidV1,
  fidV2,
  signatureOfFidV1,
  signatureOfFidV2,
  slotOfFidV1,
  slotOfFidV2,
} from '../../../src/sparse/config/fid.js';
import { fieldsOf, listOf, orError, type ParityCase, type ParityHandlers, recordsOf, UnknownForm } from '../case.js';

const VERSIONS = {
  v1: { pack: fidV1, slot: slotOfFidV1, signature: signatureOfFidV1 },
  v2: { pack: fidV2, slot: slotOfFidV2, signature: signatureOfFidV2 },
} as const;

function versionOf(name: string): (typeof VERSIONS)['v1'] {
  const version = /(?:^|[^a-z0-9])(v[12])(?:[^a-z0-9]|$)/.exec(name.replaceAll('_', ' '))?.[1];
  if (version === undefined) throw new UnknownForm(`version of case ${name}`);
  return VERSIONS[version as 'v1' | 'v2'];
}

interface Packed {
  readonly slot: number;
  readonly signature: number | string;
}

function fid({ case: name, input }: ParityCase) {
  const given = fieldsOf(input, [], ['cases', 'slot', 'signature', 'fid', 'version']);
  const version = versionOf(given.version === undefined ? name : `v${String(given.version).replace(/^v/i, '')}`);
  if (given.fid !== undefined) {
    const made = listOf<string>(given.fid).map(BigInt);
    return { slot: made.map(version.slot), signature: made.map(version.signature) };
  }
  if (given.cases === undefined) {
    return orError(() => {
      const made = version.pack(given.slot as number, BigInt((given.signature ?? 0) as number));
      return { fid: made, slot: version.slot(made), signature: version.signature(made) };
    });
  }
  const made = recordsOf<Packed>(given.cases, ['slot', 'signature']).map(({ slot, signature }) =>
    version.pack(slot, BigInt(signature)),
  );
  return { fid: made, slot: made.map(version.slot), signature: made.map(version.signature) };
}

/** The same in the form of the file formats: rows of slot and signature. */
function dataFid({ case: name, input }: ParityCase) {
  const version = versionOf(name);
  const given = fieldsOf(input, [], ['fids', 'rows']);
  if (given.fids !== undefined) return listOf<string>(given.fids).map((id) => version.slot(BigInt(id)));
  return (given.rows as [number, string][]).map(([slot, signature]) =>
    orError(() => {
      const made = version.pack(slot, BigInt(signature));
      return { fid: made, slot: version.slot(made), signature: version.signature(made) };
    }),
  );
}

export const handlers: ParityHandlers = { fid, 'data/fid': dataFid };
