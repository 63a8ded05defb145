import { readTime } from '../../storage/protocol/read-time.ts';
import { badRequest, notFound, type ApiError } from './api-error.ts';
import type { TableEngine, TableVersions } from '../stores/tables/engine.ts';

/** Returns the earlier versions of tables. @throws {ApiError} 400 where there are none, with what to do */
export async function requireVersions({
  engine,
}: {
  readonly engine: Pick<TableEngine, 'versions'>;
}): Promise<TableVersions> {
  const versions = await engine.versions();
  if (versions !== undefined) return versions;
  throw badRequest(
    'storage.tables.noVersions',
    'This storage keeps no earlier versions of tables; a lake does. Copy the storage into one: gex storage migrate --from … --to … --to-tables lake',
  );
}

/** Longest number of a version; a Unix time has more digits. */
const VERSION = /^\d{1,9}$/;

/** Reads a version: its number, or a time at which it was there. @throws {ApiError} */
export async function readVersion(versions: TableVersions, at: string, now: number): Promise<number> {
  const text = at.trim();
  if (VERSION.test(text)) return Number(text);
  const time = readTime(text, now);
  if (time === undefined || Number.isNaN(time.getTime()))
    throw badRequest(
      'storage.tables.validation',
      `“${text}” is no version: give its number, or a time such as 2026-05-01 12:00 or “-2 hours”.`,
    );
  return (await versions.versionAt(time)) ?? noVersion(`No version is kept from ${time.toISOString()}.`);
}

export function noVersion(message: string): never {
  throw versionNotFound(message);
}

const versionNotFound = (message: string): ApiError => notFound(message, 'storage.tables.versionNotFound');
