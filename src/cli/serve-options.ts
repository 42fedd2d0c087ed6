/** @file The flags of `monolith serve`. */
import { z } from 'zod';
import { flagMeta, pathName, refuse, switchFlag, wholeNumber } from './flags.js';

const count = (most: number, fallback: number, value: string, help: string) =>
  wholeNumber(1, most).default(fallback).register(flagMeta, { value, help });

export const serveFlags = z
  .object({
    port: wholeNumber(0, 65535).default(8501).register(flagMeta, { value: 'number', help: '0 takes one that is free' }),
    grpcPort: wholeNumber(0, 65535).optional().register(flagMeta, {
      value: 'number',
      help: 'gRPC as well, of TensorFlow Serving, where @grpc/grpc-js is installed; 0 takes one that is free',
    }),
    host: z
      .string()
      .default('127.0.0.1')
      .register(flagMeta, { value: 'address', help: 'where it listens; 0.0.0.0 is open to the network' }),
    token: z
      .string()
      .min(1)
      .optional()
      .register(flagMeta, { value: 'text', help: 'requests must bring it: Authorization: Bearer TEXT' }),
    tlsCert: pathName().optional().register(flagMeta, { value: 'file', help: 'certificate in PEM' }),
    tlsKey: pathName().optional().register(flagMeta, { value: 'file', help: 'its key' }),
    threads: count(256, 1, 'count', 'threads that score, of each model'),
    batchSize: count(65536, 256, 'rows', 'rows that are scored at once at the most'),
    strict: switchFlag().register(flagMeta, { help: 'refuse rows that lack a feature' }),
    rowsMax: count(1_000_000, 1024, 'rows', 'rows of a request'),
    bodyMax: count(2 ** 31, 2 ** 20, 'bytes', 'bytes of a request'),
    openMax: count(1_000_000, 1000, 'count', 'requests that wait, before others are sent away'),
    deadlineMs: count(3_600_000, 5000, 'ms', 'time in which a request is answered'),
    connectionsMax: count(1_000_000, 10_000, 'count', 'connections at the same time; further ones are 503'),
    poll: wholeNumber(0, 3_600_000)
      .default(1000)
      .register(flagMeta, { value: 'ms', help: 'time between two looks for a new version; 0: never' }),
    follow: pathName().optional().register(flagMeta, {
      value: 'run',
      help: 'a run that trains with --fresh-every: what it learns is answered with',
    }),
    json: switchFlag().register(flagMeta, { help: 'print JSON lines' }),
    quiet: switchFlag().register(flagMeta, { help: 'print nothing but errors' }),
    verbose: switchFlag().register(flagMeta, { help: 'show causes and stacks of errors' }),
  })
  .superRefine(({ tlsCert, tlsKey }, context) => {
    if ((tlsCert === undefined) === (tlsKey === undefined)) return;
    const [given, missing] = tlsCert === undefined ? ['tlsKey', '--tls-cert'] : ['tlsCert', '--tls-key'];
    refuse(context, `needs ${missing} beside it`, undefined, given);
  });

export type ServeFlags = z.output<typeof serveFlags>;
