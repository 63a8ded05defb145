import type { Imported } from './report.ts';

/** Returns a configuration whose rows of these ids are disabled. */
export function disableRows(
  configuration: Imported['configuration'],
  ids: ReadonlySet<string | undefined>,
): Imported['configuration'] {
  const { rows } = configuration;
  if (ids.size === 0 || !Array.isArray(rows)) return configuration;
  return {
    ...configuration,
    rows: rows.map((row: Readonly<Record<string, unknown>>) =>
      typeof row['id'] === 'string' && ids.has(row['id']) ? { ...row, isDisabled: true } : row,
    ),
  };
}
