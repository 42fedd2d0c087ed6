/** @file A rank that fails takes the others with it, which would wait for it for ever (add_mpi_exception_hook). */
import { type Environment, environmentInt } from '../base/environment-int.js';

export interface MpiExceptionHookOptions {
  /** Default: that of the process. */
  readonly env?: Environment;
  /** Default: standard error. */
  readonly write?: (text: string) => void;
  /** Ends all ranks. Default: ends this one with the code, upon which mpirun ends the others. */
  readonly abort?: (code: number) => void;
}

let installed = false;

/**
 * Under MPI, has an exception that nobody catches end the processes of all ranks. Does nothing elsewhere, nor a second
 * time. Returns what takes it away again.
 */
export function addMpiExceptionHook(options: MpiExceptionHookOptions = {}): () => void {
  const { env = process.env, write = (text) => void process.stderr.write(text), abort = process.exit } = options;
  const rank = environmentInt(env, 'OMPI_COMM_WORLD_RANK');
  if (rank === null || installed) return () => undefined;
  installed = true;
  const handler = (thrown: unknown): void => {
    write(`Uncaught exception was detected on rank ${rank}. \n`);
    write(`${thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)}\n`);
    write('Calling MPI_Abort() to shut down MPI processes...\n');
    abort(1);
  };
  process.on('uncaughtException', handler);
  return () => {
    process.off('uncaughtException', handler);
    installed = false;
  };
}
