/** @file Entry of a thread that saves and loads shards of one table. */
import { workerData } from 'node:worker_threads';
import { serve } from '../src/runtime/pool/service-thread.js';
import type { TableFilesData } from '../src/sparse/files/table-files-service.js';
import { TableFilesService } from '../src/sparse/files/table-files-service.js';

serve(new TableFilesService(workerData as TableFilesData));
