import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance, version, type DuckDBConnection } from '@duckdb/node-api';
import { RunError } from '../../../../lib/errors.ts';
import { literal } from '../duckdb/identifiers.ts';
import { EXTENSIONS_VARIABLE } from '../kind.ts';
import type { LakePlace } from './place.ts';

/** Extensions of DuckDB by the names of their files. */
export type LakeExtension = 'ducklake' | 'httpfs' | 'postgres_scanner';

/** Returns the extensions that a lake needs. */
export const extensionsFor = (kind: LakePlace['kind']): readonly LakeExtension[] =>
  kind === 'folder' ? ['ducklake'] : ['ducklake', 'httpfs', 'postgres_scanner'];

/** Settings of DuckDB that keep it from fetching extensions which nobody asked for. */
export const NO_OTHERS = {
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
  allow_community_extensions: 'false',
} as const;

/** Loads extensions for nothing, to learn whether they can be. @throws {RunError} as {@link loadExtensions} does */
export async function tryExtensions(
  names: readonly LakeExtension[],
  folder: string | undefined,
): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:', NO_OTHERS);
  try {
    const connection = await instance.connect();
    await loadExtensions(connection, names, folder).finally(() => connection.disconnectSync());
  } finally {
    instance.closeSync();
  }
}

/** Milliseconds that DuckDB may take to install one by itself; a machine without a network may wait for ever. */
const INSTALL_MS = 60_000;

/**
 * Loads extensions from a folder, or those that DuckDB has installed, or lets it install them.
 *
 * @throws {RunError} `lake.extension` with what to do
 */
export async function loadExtensions(
  connection: DuckDBConnection,
  names: readonly LakeExtension[],
  folder: string | undefined,
): Promise<void> {
  for (const name of names) {
    const failure =
      folder === undefined ? await loadOrInstall(connection, name) : await loadFile(connection, name, folder);
    if (failure === undefined) continue;
    throw new RunError('lake.extension', `DuckDB’s extension “${name}” cannot be loaded: ${failure}`, {
      ...(folder === undefined ? {} : { where: { file: join(folder, fileOf(name)) } }),
      hint: [
        `A lake needs ${names.map(fileOf).join(', ')} for exactly DuckDB ${version()} and this machine (${await platformOf(connection)}).`,
        `Put them into a folder, and name it with --duckdb-extensions DIR or ${EXTENSIONS_VARIABLE}; docs/lake.md says where they are to be had, also without DuckDB's own site.`,
      ],
    });
  }
}

const fileOf = (name: LakeExtension): string => `${name}.duckdb_extension`;

/** @returns why it cannot be loaded, or undefined */
async function loadFile(
  connection: DuckDBConnection,
  name: LakeExtension,
  folder: string,
): Promise<string | undefined> {
  const file = join(folder, fileOf(name));
  if (!existsSync(file)) return 'there is no such file in the folder.';
  return await failureOf(() => connection.run(`LOAD ${literal(file)}`));
}

async function loadOrInstall(connection: DuckDBConnection, name: LakeExtension): Promise<string | undefined> {
  if ((await failureOf(() => connection.run(`LOAD ${name}`))) === undefined) return undefined;
  const timer = setTimeout(() => connection.interrupt(), INSTALL_MS);
  try {
    return await failureOf(async () => {
      await connection.run(`INSTALL ${name}`);
      await connection.run(`LOAD ${name}`);
    });
  } finally {
    clearTimeout(timer);
  }
}

async function failureOf(work: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
  }
}

async function platformOf(connection: DuckDBConnection): Promise<string> {
  const found = await connection.runAndReadAll('SELECT platform FROM pragma_platform()');
  return String(found.getRows()[0]?.[0] ?? '');
}
