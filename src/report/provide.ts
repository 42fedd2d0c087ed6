/** @file Tells the estimator who records: reports come after training in the order of folders. */
import { provideRecorder } from '../train/run-recorder.js';

provideRecorder(async () => (await import('./estimator-recorder.js')).openEstimatorRecorder);
