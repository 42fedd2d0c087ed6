/**
 * @file Rows of framed files of examples, batches of examples or instances: a column for each feature, with `label`,
 * `instance_weight`, and of the line id `uid`, `item_id`, `req_time` and `actions`.
 */
import { MonolithError, messageOf } from '../../base/errors.js';
import { exampleOfInstance } from '../../feature/serving/instance-to-example.js';
import { EXAMPLE, EXAMPLE_BATCH, type Example, type Feature } from '../../io/example-messages.js';
import { INSTANCE } from '../../io/instance-messages.js';
import { expandBatch } from './expand-batch.js';
import { type DataType, type FramedRecord, FramingError, type FramingOptions, framedRecords } from './framing.js';
import { lineIdCells } from './line-id-columns.js';
import { type DataRow, withPlace } from './place.js';

const BLOCK_ROWS = 512;
const decoder = new TextDecoder();

export interface FramedFile {
  readonly dataType: DataType;
  readonly framing: FramingOptions;
  readonly onBadRow: (error: MonolithError) => void;
}

export async function* framedRows(
  file: string,
  pieces: AsyncIterable<Uint8Array>,
  { dataType, framing, onBadRow }: FramedFile,
): AsyncGenerator<DataRow[]> {
  let rows: DataRow[] = [];
  let record = 0;
  const place = (byte: number) => ({ file, line: record, byte, unit: 'record' }) as const;
  const refused = (byte: number, cause: unknown) => {
    const fields = { where: `${file} record ${record}, byte ${byte}`, row: record, column: '(all)' };
    return new MonolithError('ML_DATA', { ...fields, reason: messageOf(cause) }, { cause });
  };
  let byte = 0;
  try {
    for await (const found of framedRecords(pieces, framing)) {
      byte = found.byte;
      try {
        for (const row of rowsOf(found, dataType)) rows.push(withPlace(row, place(byte)));
      } catch (cause) {
        onBadRow(refused(byte, cause));
      }
      record++;
      byte += 1;
      if (rows.length < BLOCK_ROWS) continue;
      yield rows;
      rows = [];
    }
  } catch (cause) {
    if (!(cause instanceof FramingError)) throw cause;
    // What comes behind a length that is wrong is found by nobody: the rest of the file is one bad row.
    onBadRow(refused(byte, cause));
  }
  if (rows.length > 0) yield rows;
}

function rowsOf({ payload, dataSourceKey }: FramedRecord, type: DataType): Record<string, unknown>[] {
  switch (type) {
    case 'instance':
      return [rowOf(exampleOfInstance(INSTANCE.decode(payload)), dataSourceKey)];
    case 'example':
      return [rowOf(EXAMPLE.decode(payload), dataSourceKey)];
    case 'example_batch':
      return expandBatch(EXAMPLE_BATCH.decode(payload)).map((example) => rowOf(example, dataSourceKey));
    case 'plaintext':
      return [{ text: decoder.decode(payload) }];
    default:
      return type satisfies never;
  }
}

function rowOf({ lineId, label, instanceWeight, namedFeature, dataSourceKey }: Example, key: number) {
  const row: Record<string, unknown> = {
    label: label.length === 1 ? label[0] : label,
    // A weight of zero is one that was not written.
    instance_weight: instanceWeight === 0 ? 1 : instanceWeight,
    data_source_key: key === 0 ? dataSourceKey : key,
  };
  if (lineId !== undefined) Object.assign(row, lineIdCells(lineId));
  for (const { name, feature } of namedFeature) row[name] = feature === undefined ? [] : valuesOf(feature);
  return row;
}

function valuesOf(feature: Feature): unknown {
  const { fidV1List, fidV2List, int64List, floatList, doubleList, bytesList } = feature;
  const list = fidV1List ?? fidV2List ?? int64List;
  if (list !== undefined) return list.value;
  const floats = floatList ?? doubleList;
  if (floats !== undefined) return floats.value.length === 1 ? floats.value[0] : floats.value;
  if (bytesList !== undefined) {
    const texts = bytesList.value.map((bytes) => decoder.decode(bytes));
    return texts.length === 1 ? texts[0] : texts;
  }
  const lists = feature.fidV2Lists ?? feature.fidV1Lists ?? feature.int64Lists;
  if (lists !== undefined) return lists.list.flatMap(({ value }) => [...value]);
  const { int64Value, floatValue, doubleValue, bytesValue } = feature;
  return int64Value ?? floatValue ?? doubleValue ?? (bytesValue && decoder.decode(bytesValue)) ?? [];
}
