/** @file The memories of a session: its own, and those of tables that it would not hold. */
import type { WasmMemory, WasmModule } from '../../base/wasm-types.js';
import { createSharedMemory, NULL_PAGE_BYTES, reserveSharedMemory } from '../../memory/shared-memory.js';
import { TABLE_BYTES_MIN } from '../../memory/table-layout.js';
import { TableMemory } from '../tables/table-memory.js';
import type { SessionOptions } from './session-options.js';

export interface SessionMemories {
  readonly memory: WasmMemory;
  /** Memories of their own for tables; undefined when those are in `memory`. */
  readonly tables: TableMemory | undefined;
}

export async function reserveMemories(options: SessionOptions, module: WasmModule): Promise<SessionMemories> {
  const memory = options.memoryBytes === undefined ? reserveSharedMemory() : createSharedMemory(options.memoryBytes);
  return { memory, tables: await tablesApart(options, memory.buffer.byteLength, module) };
}

async function tablesApart(
  options: SessionOptions,
  memoryBytes: number,
  module: WasmModule,
): Promise<TableMemory | undefined> {
  const { tableBytes, bankBytes } = options;
  if (tableBytes === undefined) return undefined;
  if (tableBytes <= memoryBytes / 2 - NULL_PAGE_BYTES && tableBytes >= TABLE_BYTES_MIN) return undefined;
  return TableMemory.create({ budgetBytes: tableBytes, module, ...(bankBytes !== undefined && { bankBytes }) });
}
