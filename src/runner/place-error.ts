import type { ConfigDocument, RowRun } from '../engine/config/index.ts';
import { keysOfPath } from '../engine/config/path.ts';
import { ExtractorError } from '../lib/errors.ts';

/** Adds row, file, line and column to an error that names a path of the row's configuration. */
export function placed(error: unknown, document: ConfigDocument, row: RowRun): unknown {
  if (!(error instanceof ExtractorError)) return error;
  if (row.id !== undefined) error.at({ row: row.id });
  const { path, file } = error.where;
  if (path === undefined || file !== undefined) return error;
  const keys = keysOfPath(path);
  const positions = document.positions();
  const roots = [...ownRoot(row), ['configuration'], []];
  for (const root of roots) {
    const place = positions.at([...root, ...keys]);
    if (place !== undefined) return error.at({ file: document.file, ...place.value });
  }
  return error;
}

function ownRoot({ index }: RowRun): string[][] {
  return index === undefined ? [] : [['rows', String(index), 'configuration']];
}
