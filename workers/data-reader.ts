/** @file Entry of the data reader thread. */
import { workerData } from 'node:worker_threads';
import { type ReaderOptions, ReaderService } from '../src/data/reader-service.js';
import { serve } from '../src/runtime/pool/service-thread.js';

serve(new ReaderService(workerData as ReaderOptions));
