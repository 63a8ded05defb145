import { closeSync, lstatSync, openSync, readdirSync, readSync, type Stats } from 'node:fs';
import path from 'node:path';
import type { OutputProblem } from './problems.ts';
import { reasonOf } from '../../../../lib/errors.ts';

/** File or folder of slices in `out/tables` or `out/files`. */
export interface OutputSource {
  readonly name: string;
  readonly path: string;
  /** Names of the slices in a folder, in order; undefined for one file. */
  readonly slices: readonly string[] | undefined;
  readonly bytes: number;
  /** Size and time of change: tells one content from another. */
  readonly content: string;
  /** True when the file, or a slice of it, is gzip already. */
  readonly isGzip: boolean;
  /** Path of its manifest, if it has one. */
  readonly manifest: string | undefined;
}

const MANIFEST = '.manifest';

/**
 * Returns the sources of a folder, in the order of their names; none when there is no folder. Names that begin with a
 * dot are ignored.
 */
export function findSources(
  folder: string,
  kind: 'file' | 'table',
  problems: OutputProblem[],
): OutputSource[] {
  const names = namesIn(folder, problems);
  const data = names.filter((name) => !isManifest(name));
  for (const name of names.filter(isManifest)) {
    if (data.includes(name.slice(0, -MANIFEST.length))) continue;
    const quoted = kind === 'table' ? `"${name}"` : `'${name}'`;
    problems.push({
      message: `Found orphaned ${kind} manifest: ${quoted}`,
      where: { file: path.join(folder, name) },
      hint: `Write the ${kind} “${name.slice(0, -MANIFEST.length)}” beside it, or remove the manifest.`,
    });
  }
  return data.flatMap((name) => {
    const manifest = names.includes(name + MANIFEST) ? path.join(folder, name + MANIFEST) : undefined;
    const source = sourceAt(path.join(folder, name), name, problems);
    return source === undefined ? [] : [{ ...source, manifest }];
  });
}

function isManifest(name: string): boolean {
  return name.endsWith(MANIFEST);
}

function sourceAt(
  at: string,
  name: string,
  problems: OutputProblem[],
): Omit<OutputSource, 'manifest'> | undefined {
  const stats = plainStats(at, problems);
  if (stats === undefined) return undefined;
  if (!stats.isDirectory())
    return {
      name,
      path: at,
      slices: undefined,
      bytes: stats.size,
      content: contentOf([stats]),
      isGzip: isGzip(at, problems),
    };
  const slices = namesIn(at, problems);
  const all = slices.map((slice) => sliceStats(path.join(at, slice), slice, problems));
  const known = all.filter((each) => each !== undefined);
  if (known.length < slices.length) return undefined;
  return {
    name,
    path: at,
    slices,
    bytes: known.reduce((sum, { size }) => sum + size, 0),
    content: contentOf(known),
    isGzip: slices.some((slice) => isGzip(path.join(at, slice), problems)),
  };
}

function sliceStats(at: string, name: string, problems: OutputProblem[]): Stats | undefined {
  const stats = plainStats(at, problems);
  if (stats === undefined) return undefined;
  const reason = stats.isDirectory()
    ? 'A sliced table has files in its folder, and no folders.'
    : name === 'manifest'
      ? 'A slice cannot be named “manifest”: the list of the slices has that name in the storage.'
      : undefined;
  if (reason === undefined) return stats;
  problems.push({ message: reason, where: { file: at } });
  return undefined;
}

/**
 * Returns the stats of a file or a folder; anything else is a problem. No link is followed, because it may lead out of
 * the data folder.
 */
function plainStats(at: string, problems: OutputProblem[]): Stats | undefined {
  const stats = attempt(at, problems, () => lstatSync(at));
  if (stats === undefined || stats.isFile() || stats.isDirectory()) return stats;
  const what = stats.isSymbolicLink() ? 'a symbolic link' : 'neither a file nor a folder';
  problems.push({
    message: `“${path.basename(at)}” is ${what}.`,
    where: { file: at },
    hint: 'Put the file itself there.',
  });
  return undefined;
}

function namesIn(folder: string, problems: OutputProblem[]): string[] {
  const names = attempt(folder, problems, () => readdirSync(folder)) ?? [];
  return names
    .filter((name) => !name.startsWith('.'))
    .filter((name) => {
      // Also what stands for bytes that are no UTF-8.
      const isOdd = /[\p{Cc}\uFFFD]/u.test(name);
      if (isOdd)
        problems.push({
          message: `The name ${JSON.stringify(name)} has characters that a name cannot have.`,
          where: { file: folder },
          hint: 'Rename it: without control characters, in UTF-8.',
        });
      return !isOdd;
    })
    .toSorted();
}

function contentOf(stats: readonly Stats[]): string {
  const bytes = stats.reduce((sum, { size }) => sum + size, 0);
  const latest = stats.reduce((last, { mtimeMs }) => Math.max(last, mtimeMs), 0);
  return `${stats.length} files, ${bytes} bytes, ${new Date(latest).toISOString()}`;
}

function isGzip(file: string, problems: OutputProblem[]): boolean {
  const head = Buffer.alloc(2);
  attempt(file, problems, () => {
    const fd = openSync(file, 'r');
    try {
      readSync(fd, head, 0, 2, 0);
    } finally {
      closeSync(fd);
    }
  });
  return head.readUInt16BE() === 0x1f8b;
}

/** Tries a file operation: a missing file or folder gives undefined, any other error is a problem. */
function attempt<T>(at: string, problems: OutputProblem[], work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (code === 'ENOENT') return undefined;
    problems.push({
      message: `“${path.basename(at)}” cannot be read: ${reasonOf(error)}.`,
      where: { file: at },
      hint: code === 'ENOTDIR' ? 'It must be a folder.' : 'Check the permissions of the data folder.',
    });
    return undefined;
  }
}
