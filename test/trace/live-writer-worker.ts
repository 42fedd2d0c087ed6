/** @file A thread that fills its ring without pause until the ring is switched off. */
import { parentPort, workerData } from 'node:worker_threads';
import { Views } from '../../src/memory/views.js';
import { TraceRing } from '../../src/trace/trace-ring.js';

export interface LiveWriterData {
  readonly buffer: SharedArrayBuffer;
  readonly ringPtr: number;
}

const { buffer, ringPtr } = workerData as LiveWriterData;
const ring = TraceRing.attach(new Views(buffer), ringPtr);
ring.bindClock();
parentPort?.postMessage('writing');
for (let n = 1; ring.on; n++) ring.instant(n % 1000, n, n);
