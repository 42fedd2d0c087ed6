/** @file Names of the arrays of a model in its tensor file. */
export const variableArray = (name: string): string => `variables/${name}`;
export const constantArray = (name: string): string => `constants/${name}`;
export const tableIds = (table: string): string => `tables/${table}/ids`;
/** Columns of a segment. */
export const tableRows = (table: string, segment: number): string => `tables/${table}/rows/${segment}`;

export const MODEL_FILE = 'model.json';
export const WEIGHTS_FILE = 'weights.safetensors';
