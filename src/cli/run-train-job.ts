/** @file The training job behind `monolith train`. */
import { MonolithError } from '../base/errors.js';
import type { TrainJob } from './train-job.js';

export const runTrainJob: TrainJob = async (options) => {
  throw new MonolithError('ML_UNSUPPORTED', {
    what: `training ${options.model}`,
    reason: 'this build holds no training job',
  });
};
