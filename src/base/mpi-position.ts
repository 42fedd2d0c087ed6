/** @file Which of the processes that mpirun started this one is: get_mpi_rank and its kin of distribution_utils. */
import { type Environment, environmentInt } from './environment-int.js';
import { log } from './log.js';

const PREFIX = 'OMPI_COMM_WORLD_';

/** Whether mpirun started this process. */
export function isUnderMpi(env: Environment = process.env): boolean {
  return env.OMPI_COMM_WORLD_LOCAL_RANK !== undefined;
}

/** Number of this process among all; 0, with a warning, where mpirun did not start it. */
export const getMpiRank = (env: Environment = process.env) => position(env, 'RANK', 'get_mpi_rank', 0);
/** How many mpirun started; 1, with a warning, where it started none. */
export const getMpiSize = (env: Environment = process.env) => position(env, 'SIZE', 'get_mpi_size', 1);
/** Number of this process on its host. */
export const getMpiLocalRank = (env: Environment = process.env) => position(env, 'LOCAL_RANK', 'get_mpi_local_rank', 0);
/** How many mpirun started on this host. */
export const getMpiLocalSize = (env: Environment = process.env) => position(env, 'LOCAL_SIZE', 'get_mpi_local_size', 1);

function position(env: Environment, variable: string, name: string, fallback: number): number {
  const found = environmentInt(env, PREFIX + variable);
  if (found === null) log.warn(`${name} use default ${fallback}`);
  return found ?? fallback;
}
