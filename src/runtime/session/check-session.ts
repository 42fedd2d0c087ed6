/** @file Looks at what a session is made with: programs in JavaScript get no help from the compiler. */
import { checkOptions } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import { schemaProblem } from '../../memory/batch.js';
import { BACKEND_OPTIONS, checkBackendOptions } from '../pool/check-backend-options.js';
import { type SessionOptions, specsOf } from './session-options.js';

/** ML_OPTION for an option that there is not, at any depth; ML_FLAG without what a session cannot do without. */
export function checkSession(graph: unknown, options: SessionOptions | null | undefined): void {
  const refuse = (flag: string, reason: string, hint: string): never => {
    throw new MonolithError('ML_FLAG', { flag, reason }, { hint });
  };
  if (typeof graph !== 'object' || graph === null) refuse('graph', 'there is none', 'Session.create(graph, options)');
  if (typeof options === 'object' && options !== null) checkNames(options);
  const problem = schemaProblem(options && specsOf(options.schema));
  if (problem !== null) {
    refuse(
      'schema',
      problem,
      "say what a batch holds: schema: [{ name: 'x', kind: 'dense', width: 3 }], or [] for nothing",
    );
  }
}

function checkNames(options: SessionOptions): void {
  checkOptions('Session.create', options, [
    ...BACKEND_OPTIONS,
    'schema',
    'batchSize',
    'threads',
    'deterministic',
    'kernels',
    'memoryBytes',
    'tableBytes',
    'bankBytes',
    'tablePolicy',
    'seed',
    'traceEvents',
    'stepTimeoutMs',
    'prefetch',
    'postpush',
    'rows',
  ]);
  checkBackendOptions(options);
  const { tablePolicy } = options;
  if (tablePolicy !== undefined) {
    checkOptions('the session option tablePolicy', tablePolicy, ['whenFull', 'badGradients']);
  }
}
