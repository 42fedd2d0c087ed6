/** @file Entry of a thread that saves and loads shards of one table. */
import { workerData } from 'node:worker_threads';
import { serve } from '../src/runtime/service-thread.js';
import type { TableFilesData } from '../src/sparse/table-files/shard-threads.js';
import { TableFilesService } from '../src/sparse/table-files/table-files-service.js';

serve(new TableFilesService(workerData as TableFilesData));
