import { validateConfig, type Problem } from '../../engine/config/index.ts';
import type { Imported, StreamReport } from './report.ts';

type Node = Readonly<Record<string, unknown>>;

/**
 * Marks every stream as `not` whose row this version of the program does not accept to the last key: an ignored key
 * would be a silent difference. Settings without a value are no difference.
 */
export async function checked(imported: Imported): Promise<Imported> {
  const problems = (await validateConfig(JSON.stringify(filled(imported.configuration)), {})).filter(
    isAboutForm,
  );
  const rows = rowIds(imported);
  const all = problems.filter(({ path }) => !path.startsWith('rows'));
  const wrong = new Set<string>();
  const streams = imported.report.streams.map((stream): StreamReport => {
    const index = stream.row === undefined ? -1 : rows.indexOf(stream.row);
    const own =
      index === -1 ? [] : [...problems.filter(({ path }) => path.startsWith(`rows[${index}].`)), ...all];
    if (own.length === 0 || stream.outcome === 'not') return stream;
    if (stream.row !== undefined) wrong.add(stream.row);
    return { ...stream, outcome: 'not', reasons: own.map(reasonOf) };
  });
  return {
    configuration: disabled(imported.configuration, wrong),
    report: { ...imported.report, streams },
  };
}

/** Tells whether a problem is about the form of an address, which is unknown until its settings are. */
function isAboutForm({ path, message }: Problem): boolean {
  return (
    !(path.endsWith('.baseUrl') && message.startsWith('The function')) && !path.includes('.config.settings')
  );
}

/** Fills each empty setting with some value. */
function filled(configuration: Imported['configuration']): unknown {
  const inner = mapAt(configuration, 'configuration');
  const parameters = mapAt(inner, 'parameters');
  const config = mapAt(parameters, 'config');
  const { settings } = config;
  if (settings === undefined) return configuration;
  return {
    ...configuration,
    configuration: {
      ...inner,
      parameters: { ...parameters, config: { ...config, settings: withValues(settings) } },
    },
  };
}

function mapAt(node: Node, key: string): Node {
  const value = node[key];
  return isMap(value) ? value : {};
}

function isMap(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function withValues(value: unknown): unknown {
  if (isMap(value))
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withValues(item)]));
  return value === '' || (typeof value === 'string' && value.startsWith('$env:')) ? 'example' : value;
}

function reasonOf({ path, message }: Problem): StreamReport['reasons'][number] {
  return { path, message: `This version can't say it: ${message}` };
}

function rowIds({ configuration }: Imported): readonly unknown[] {
  const { rows } = configuration;
  return Array.isArray(rows) ? rows.map((row: { readonly id?: unknown }) => row.id) : [];
}

function disabled(
  configuration: Imported['configuration'],
  ids: ReadonlySet<string>,
): Imported['configuration'] {
  const { rows } = configuration;
  if (ids.size === 0 || !Array.isArray(rows)) return configuration;
  return {
    ...configuration,
    rows: rows.map((row: Node) =>
      typeof row['id'] === 'string' && ids.has(row['id']) ? { ...row, isDisabled: true } : row,
    ),
  };
}
