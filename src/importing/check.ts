import { validateConfig, type Problem } from '../config/index.ts';
import type { Imported, StreamReport } from './report.ts';

/**
 * The same, with every stream `not` whose row this version of the program does not understand to the last key: what
 * nothing reads would be a difference without a word.
 */
export async function checked(imported: Imported): Promise<Imported> {
  const problems = await validateConfig(JSON.stringify(imported.configuration), {});
  const rows = rowIds(imported);
  const all = problems.filter(({ path }) => !path.startsWith('rows') && !path.includes('.settings'));
  const isDisabled = new Set<string>();
  const streams = imported.report.streams.map((stream): StreamReport => {
    const index = stream.row === undefined ? -1 : rows.indexOf(stream.row);
    const own =
      index === -1 ? [] : [...problems.filter(({ path }) => path.startsWith(`rows[${index}].`)), ...all];
    if (own.length === 0 || stream.outcome === 'not') return stream;
    if (stream.row !== undefined) isDisabled.add(stream.row);
    return { ...stream, outcome: 'not', reasons: own.map(reasonOf) };
  });
  return {
    configuration: disabled(imported.configuration, isDisabled),
    report: { ...imported.report, streams },
  };
}

function reasonOf({ path, message }: Problem): StreamReport['reasons'][number] {
  return { path, message: `This version can't say it: ${message}` };
}

function rowIds({ configuration }: Imported): readonly unknown[] {
  const rows = configuration['rows'];
  return Array.isArray(rows) ? rows.map((row: { readonly id?: unknown }) => row.id) : [];
}

function disabled(
  configuration: Imported['configuration'],
  ids: ReadonlySet<string>,
): Imported['configuration'] {
  const rows = configuration['rows'];
  if (ids.size === 0 || !Array.isArray(rows)) return configuration;
  return {
    ...configuration,
    rows: rows.map((row: Readonly<Record<string, unknown>>) =>
      typeof row['id'] === 'string' && ids.has(row['id']) ? { ...row, isDisabled: true } : row,
    ),
  };
}
