/** @file A reader thread that hands out more batches than its ring holds and then ends in the way the seed asks for. */
import { workerData } from 'node:worker_threads';
import { MonolithError } from '../../src/base/errors.js';
import { type ReaderOptions, ReaderService } from '../../src/data/reader-service.js';
import { serve } from '../../src/runtime/pool/service-thread.js';
import { DIE_LOADING, FAIL_CODED, FAIL_PLAIN } from './failures.js';

const options = workerData as ReaderOptions;
const seed = options.dataset.kind === 'arrays' ? 0 : options.dataset.seed;

class FailingReader extends ReaderService {
  override load(): ReturnType<ReaderService['load']> {
    if (seed === DIE_LOADING) process.exit(8);
    return super.load();
  }

  protected override batchAt(number: number): number {
    if (number < 6) return super.batchAt(number);
    if (seed === FAIL_CODED) throw new MonolithError('ML_DATASET', { reason: 'batch 6 is bad' });
    if (seed === FAIL_PLAIN) throw new TypeError('batch 6 is worse');
    return process.exit(7);
  }
}

serve(new FailingReader(options));
