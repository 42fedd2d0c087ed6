/** @file Folders of an export in parts: an entry, a part for each server, and one for what is dense. */
import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

export const ENTRY = 'entry';
export const DENSE = 'dense_0';
export const serverPart = (server: number): string => `ps_${server}`;

/** Whether a folder is called as parts are. */
export const isPartName = (name: string): boolean => /^(entry|ps_\d{1,6}|dense_\d{1,6})$/.test(name);

/** The folders of all parts of a version, given the one of its entry; of an export in one folder that folder. */
export function foldersOfVersion(folder: string): string[] {
  const [version, part] = [basename(folder), dirname(folder)];
  if (basename(part) !== ENTRY) return [folder];
  const base = dirname(part);
  const names = readdirSync(base).filter(isPartName).sort();
  return names.map((name) => join(base, name, version)).filter((one) => existsSync(one));
}
