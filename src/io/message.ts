/**
 * @file Protobuf messages by description, proto2 and proto3: what users import. The parts are in proto/.
 *
 * Configs and file headers are described by `message(...)`, which gives their type; absent keys are unset fields.
 * Training data has types of its own, and a `MessageType` that is held to them.
 */
import { decodeMessage } from './proto/decode.js';
import { encodeMessage } from './proto/encode.js';
import type { Field, Fields, Message, ValueOf } from './proto/field.js';

export { decodeMessage } from './proto/decode.js';
export { encodeMessage } from './proto/encode.js';
export * from './proto/field.js';
export { printMessage } from './proto/print.js';

type Plain = string | number | bigint | boolean | ArrayBufferView;
/** A message to write: every field may be left out, at every depth. */
export type MessageInput<T> = T extends Plain
  ? T
  : T extends ReadonlyMap<string, infer V>
    ? ReadonlyMap<string, MessageInput<V>>
    : T extends readonly (infer V)[]
      ? readonly MessageInput<V>[]
      : { readonly [K in keyof T]?: MessageInput<T[K]> };

/**
 * ```ts
 * const POINT = new MessageType<{ x: number }>('Point', { x: field(1, 'int32') });
 * POINT.decode(POINT.encode({ x: 5 })).x; // 5
 * ```
 */
export class MessageType<T extends object> implements Message<Fields> {
  readonly name: string;
  readonly fields: Fields;
  readonly keepUnknown: boolean;

  constructor(
    name: string,
    fields: { readonly [K in Exclude<keyof T, 'unknownFields'>]-?: Field<unknown> },
    options: { readonly keepUnknown?: boolean } = {},
  ) {
    this.name = name;
    this.fields = fields;
    this.keepUnknown = options.keepUnknown ?? false;
  }

  encode(value: MessageInput<T>): Uint8Array<ArrayBuffer> {
    return encodeMessage<Fields>(this, value as ValueOf<Fields>);
  }

  decode(bytes: Uint8Array): T {
    return decodeMessage<Fields>(this, bytes) as T;
  }
}
