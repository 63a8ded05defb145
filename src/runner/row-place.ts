import type { RowRun } from '../engine/config/index.ts';
import type { Log } from '../lib/log.ts';
import { rowFolder, type RowFolder } from './row-folder.ts';

/** One row of a run, and where it is. */
export interface RowPlace {
  readonly row: RowRun;
  readonly folder: RowFolder;
  /** Id of the configuration, if it has one. */
  readonly configuration: string | undefined;
  /** Every line says which row it is about. */
  readonly log: Log;
  readonly signal: AbortSignal;
}

export interface WhereRowsAre {
  readonly dataFolder: string;
  readonly configuration: string | undefined;
  readonly log: Log;
  readonly signal: AbortSignal;
}

export function rowPlace(row: RowRun, { dataFolder, configuration, log, signal }: WhereRowsAre): RowPlace {
  const folder = rowFolder(dataFolder, row.id);
  return { row, folder, configuration, log: row.id === undefined ? log : withRow(log, row.id), signal };
}

function withRow(log: Log, row: string): Log {
  return {
    debug: (message, fields) => log.debug(message, { row, ...fields }),
    info: (message, fields) => log.info(message, { row, ...fields }),
    warn: (message, fields) => log.warn(message, { row, ...fields }),
    error: (message, fields) => log.error(message, { row, ...fields }),
  };
}
