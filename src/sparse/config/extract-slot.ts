/** @file The slot of a serialized entry. Mirrors extract_slot_from_entry of native_training/hash_table_ops. */
import { checkOptions } from '../../base/check-options.js';
import { ProtoReader } from '../../io/proto-reader.js';
import { slotOfFidV1, slotOfFidV2 } from './fid.js';

const FIELD_ID = 1;

/** Slot of the id in an EntryDump; an entry without id counts as 0. Default: ids are read as version 2. */
export function extractSlot(entry: Uint8Array, options: { fidV2?: boolean } = {}): number {
  const { fidV2 = true } = checkOptions('extractSlot', options, ['fidV2']);
  const reader = new ProtoReader(entry);
  let id = 0n;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === FIELD_ID) id = reader.sfixed64();
    else reader.skip();
  }
  return fidV2 ? slotOfFidV2(id) : slotOfFidV1(id);
}
