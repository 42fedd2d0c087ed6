/** @file The run's folder of a program that trains with an Estimator: the same files that `monolith train` leaves. */
import { MonolithError, messageOf } from '../base/errors.js';
import { packageVersion } from '../base/package-version.js';
import type { DoneEvent, RunEvent } from '../recipe/run-event.js';
import type { EstimatorEvent } from '../train/estimator/estimator-event.js';
import type { TrainResult } from '../train/estimator/train-result.js';
import type { RecorderRequest, RunRecorder } from '../train/run-recorder.js';
import { RunFolder, recordOf } from './run-folder.js';
import { writeReport } from './write-report.js';

export function openEstimatorRecorder({ dir, settings, onTrouble }: RecorderRequest): RunRecorder {
  const given = Object.entries(settings).map(([name, value]) => [name, { value, origin: 'program' }] as const);
  const record = recordOf({
    command: process.argv,
    settings: Object.fromEntries(given),
    version: packageVersion(),
    module: process.argv[1] ?? null,
  });
  const folder = new RunFolder(dir, record, onTrouble);
  folder.keep({ event: 'run', ...record });
  let start: Extract<EstimatorEvent, { event: 'start' }> | undefined;
  const keep = (event: RunEvent) => folder.keep(event);
  return {
    keep(event) {
      if (event.event === 'start') start = event;
      keep(event);
    },
    end(result) {
      keep(trainedOf(result));
      keep(doneOf(result, dir, start));
    },
    fail(error) {
      const { code, hint = null } = error instanceof MonolithError ? error : { code: 'ML_INTERNAL' };
      keep({ event: 'error', code, message: messageOf(error), hint });
    },
    close() {
      folder.close();
      try {
        writeReport(dir);
      } catch (error) {
        if (!(error instanceof MonolithError)) throw error;
        onTrouble(error);
      }
    },
  };
}

/** Passes over the data are not known here: steps are. */
function trainedOf({ step, best, stoppedBy, seconds, examplesPerSecond: examplesPerS }: TrainResult): RunEvent {
  return { event: 'trained', step, epochs: 0, bestStep: best?.step ?? null, stoppedBy, seconds, examplesPerS };
}

function doneOf(
  result: TrainResult,
  modelDir: string,
  start: Extract<EstimatorEvent, { event: 'start' }> | undefined,
): DoneEvent {
  const { step, startStep, loss, best, seconds, examplesPerSecond: examplesPerS, stoppedBy } = result;
  return {
    ...{
      event: 'done',
      step,
      loss,
      auc: best?.auc ?? null,
      evalLoss: best?.loss ?? null,
      baselineAuc: null,
      epochs: 0,
    },
    ...{ bestStep: best?.step ?? null, seconds, examplesPerS, modelDir, report: 'report.html', trace: null, stoppedBy },
    stepsPerS: seconds > 0 ? (step - startStep) / seconds : 0,
    threads: start?.threads ?? 0,
    backend: start?.backend ?? '',
    checkpoint: best?.checkpoint ?? result.checkpoint,
    interrupted: stoppedBy === 'signal',
  };
}
