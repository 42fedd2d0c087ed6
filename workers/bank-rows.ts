/** @file Entry of a thread that keeps the rows of one owner. */
import { workerData } from 'node:worker_threads';
import { serve } from '../src/runtime/pool/service-thread.js';
import { BankRowsService } from '../src/sparse/many/bank-rows-service.js';
import type { HashTableHandle } from '../src/sparse/table/hash-table.js';

serve(new BankRowsService(workerData as readonly HashTableHandle[]));
