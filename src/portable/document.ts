/**
 * @file A model as plain data: what it is fed, how it predicts, and which arrays belong to it. It is all that another
 * process needs besides the arrays: no code, no names of files.
 */
import type { HeadKind } from '../model/heads.js';
import type { JsonObject } from './attributes.js';
import type { PortableTable } from './portable-tables.js';

/** Counts up when a reader of the version before would misread a model. */
export const MODEL_VERSION = 1;

export interface PortableOpJson {
  readonly name: string;
  readonly type: string;
  /** Names of tensors, `op:index`. */
  readonly inputs?: readonly string[];
  readonly attributes?: JsonObject;
}

/** What a head predicts, and the tensor it is. */
export interface PortableHead {
  readonly name: string;
  readonly kind: HeadKind;
  /** The tensor of its predictions. */
  readonly tensor: string;
  /** Texts of the classes, where the label says them. */
  readonly classes?: readonly string[];
}

export interface PortableGraph {
  /** Inputs come before what uses them. */
  readonly ops: readonly PortableOpJson[];
  readonly tables: readonly PortableTable[];
}

/** An array that belongs to the model, by the name of its variable or constant. */
export interface PortableArray {
  readonly name: string;
  readonly shape: readonly number[];
}
