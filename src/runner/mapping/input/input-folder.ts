import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { getKey, isList, isObject, parseExact, type Json } from '../../../lib/json/index.ts';
import type { Log } from '../../../lib/log.ts';
import { writeFileAtomic } from '../../../engine/sink/atomic.ts';
import { guard } from '../../../engine/sink/file-error.ts';
import { isFileName } from './file-name.ts';

/** One table or file that was fetched, still in the work folder. */
export interface Fetched {
  readonly kind: InputKind;
  /** Name in `in/tables` or `in/files`. */
  readonly name: string;
  /** Path of the content: a file, or a folder with slices. */
  readonly content: string;
  readonly manifest: string;
}

export type InputKind = 'files' | 'tables';
export type Pulled = Readonly<Record<InputKind, readonly string[]>>;

/**
 * The folder `in/` of a row. What is fetched grows in `in/.pulling` and gets its place when all of it is there.
 *
 * `in/.pulled.json` lists what the mapping has put there, so that the next run can take it away again: a table that is
 * not mapped any more must not be read as if it were new. Whatever else lies in `in/` is the user's own: it stays, unless
 * a mapping writes a file of that very name. The list is written before anything is moved, so that nothing is forgotten by
 * a process that is killed in between.
 */
export interface InputFolder {
  /** Returns the folder for files in progress, on the file system of `in/`; it is created at its first use. */
  work(): string;
  /** Tells whether a file of that name is there that no mapping has made. */
  hasOwn(kind: InputKind, name: string): boolean;
  /** Puts everything in place, instead of what the last run has fetched. */
  publish(items: readonly Fetched[]): void;
  /** Removes what is under way. */
  clear(): void;
}

export function openInputFolder(row: string, log: Log): InputFolder {
  const root = path.join(row, 'in');
  const workFolder = path.join(root, '.pulling');
  const list = path.join(root, '.pulled.json');
  const before = readList(list, log);
  const place = (kind: InputKind, name: string): string => path.join(root, kind, name);
  return {
    work() {
      guard(workFolder, () => mkdirSync(workFolder, { recursive: true }));
      return workFolder;
    },
    hasOwn: (kind, name) => !before[kind].includes(name) && existsSync(place(kind, name)),
    publish(items) {
      if (items.length === 0 && isEmpty(before)) return;
      const now = namesOf(items);
      writeList(list, {
        tables: [...new Set([...before.tables, ...now.tables])],
        files: [...new Set([...before.files, ...now.files])],
      });
      for (const kind of KINDS) for (const name of before[kind]) remove(place(kind, name));
      for (const { kind, name, content, manifest } of items) {
        const target = place(kind, name);
        const text = `${content}.manifest`;
        guard(target, () => {
          mkdirSync(path.dirname(target), { recursive: true });
          writeFileSync(text, manifest);
          remove(target);
          renameSync(text, `${target}.manifest`);
          renameSync(content, target);
        });
      }
      writeList(list, now);
    },
    clear: () => guard(workFolder, () => rmSync(workFolder, { recursive: true, force: true })),
  };
}

const KINDS = ['tables', 'files'] as const;

function remove(target: string): void {
  guard(target, () => {
    rmSync(target, { recursive: true, force: true });
    rmSync(`${target}.manifest`, { force: true });
  });
}

function namesOf(items: readonly Fetched[]): Pulled {
  const of = (kind: InputKind): string[] =>
    items.filter((item) => item.kind === kind).map(({ name }) => name);
  return { tables: of('tables'), files: of('files') };
}

function isEmpty({ tables, files }: Pulled): boolean {
  return tables.length === 0 && files.length === 0;
}

function writeList(file: string, pulled: Pulled): void {
  if (isEmpty(pulled)) guard(file, () => rmSync(file, { force: true }));
  else writeFileAtomic(file, JSON.stringify({ version: 1, ...pulled }));
}

/** Reads the list of fetched files; one that cannot be read removes nothing. */
function readList(file: string, log: Log): Pulled {
  if (!existsSync(file)) return { tables: [], files: [] };
  try {
    const json = parseExact(readFileSync(file, 'utf8'));
    return { tables: fileNames(json, 'tables'), files: fileNames(json, 'files') };
  } catch {
    log.warn(`${file} cannot be read: what an earlier run has fetched is left in place`);
    return { tables: [], files: [] };
  }
}

/** Returns only plain names: a path would lead out of the folder. */
function fileNames(json: Json, kind: InputKind): string[] {
  const names = isObject(json) ? getKey(json, kind) : undefined;
  if (names === undefined || !isList(names)) return [];
  return names.filter((name): name is string => typeof name === 'string' && isFileName(name));
}
