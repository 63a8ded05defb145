import type { Problem } from '../../engine/config/index.ts';
import { disableRows } from './disable-rows.ts';
import { faultsOf, faultsOfApi, type ImportFault } from './faults.ts';
import type { Imported, StreamReport } from './report.ts';
import { problemsOfRows } from './row-problems.ts';

type Node = Readonly<Record<string, unknown>>;

/**
 * Lowers the outcome of every stream whose row this version of the program does not accept to the last key, or reads in
 * another way: an ignored key would be a silent difference. Settings without a value are no difference.
 */
export async function checked(imported: Imported): Promise<Imported> {
  // nothing is lower than “not”
  const claimed = imported.report.streams.flatMap(({ row, outcome }) =>
    row === undefined || outcome === 'not' ? [] : [row],
  );
  const problems = await problemsOfRows(filled(imported.configuration), claimed);
  const rows = rowIds(imported);
  const all = problems.filter(({ path }) => !path.startsWith('rows'));
  const wrong = new Set<string>();
  const { api } = mapAt(mapAt(imported.configuration, 'configuration'), 'parameters');
  const common = faultsOfApi(api);
  const faultless = new Set<unknown>();
  const streams = imported.report.streams.map((stream): StreamReport => {
    const index = stream.row === undefined ? -1 : rows.indexOf(stream.row);
    if (index === -1 || stream.outcome === 'not') return stream;
    const refused = [...problems.filter(({ path }) => path.startsWith(`rows[${index}].`)), ...all];
    const faults = [...common, ...faultsOf(rowAt(imported, index), `rows[${index}]`, faultless)];
    const reasons = [...refused.map(reasonOf), ...faults.filter((fault) => !fault.isColumn).map(faultReason)];
    const columns = faults
      .filter((fault) => fault.isColumn)
      .map(({ path, message }) => `${message} (${path})`);
    if (reasons.length === 0)
      return columns.length === 0
        ? stream
        : {
            ...stream,
            outcome: stream.outcome === 'exact' ? 'equal rows, other columns' : stream.outcome,
            columns: [...stream.columns, ...columns],
          };
    if (stream.row !== undefined) wrong.add(stream.row);
    return { ...stream, outcome: 'not', reasons };
  });
  return {
    configuration: disableRows(imported.configuration, wrong),
    report: { ...imported.report, streams },
  };
}

/** Fills each empty setting with some value. */
function filled(configuration: Imported['configuration']): Node {
  const inner = mapAt(configuration, 'configuration');
  const parameters = mapAt(inner, 'parameters');
  const config = mapAt(parameters, 'config');
  const { settings } = config;
  if (settings === undefined) return configuration;
  const chosen = choicesIn(configuration, new Map());
  return {
    ...configuration,
    configuration: {
      ...inner,
      parameters: {
        ...parameters,
        config: { ...config, settings: withValues(settings, 'settings', chosen) },
      },
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

/**
 * Returns the settings that choose an authentication, each with one of its names.
 *
 * @param seen parts that were looked through before: rows have many in common
 */
function choicesIn(
  node: unknown,
  chosen: Map<string, string>,
  seen = new Set<unknown>(),
): ReadonlyMap<string, string> {
  if (typeof node !== 'object' || node === null || seen.has(node)) return chosen;
  seen.add(node);
  if (Array.isArray(node)) for (const item of node) choicesIn(item, chosen, seen);
  else if (isMap(node)) {
    if (node['choose'] !== undefined) {
      const { attr } = mapAt(node, 'choose');
      const [name] = Object.keys(mapAt(node, 'from'));
      if (typeof attr === 'string' && name !== undefined && !chosen.has(attr)) chosen.set(attr, name);
    }
    for (const item of Object.values(node)) choicesIn(item, chosen, seen);
  }
  return chosen;
}

function withValues(value: unknown, path: string, chosen: ReadonlyMap<string, string>): unknown {
  if (isMap(value))
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, withValues(item, `${path}.${key}`, chosen)]),
    );
  return value === '' || (typeof value === 'string' && value.startsWith('$env:'))
    ? (chosen.get(path) ?? 'example')
    : value;
}

function reasonOf({ path, message }: Problem): StreamReport['reasons'][number] {
  return { path, message: `This version can't say it: ${message}` };
}

function faultReason({ path, message }: ImportFault): StreamReport['reasons'][number] {
  return { path, message };
}

function rowAt({ configuration }: Imported, index: number): Node {
  const { rows } = configuration;
  const row: unknown = Array.isArray(rows) ? rows[index] : undefined;
  return isMap(row) ? row : {};
}

function rowIds({ configuration }: Imported): readonly unknown[] {
  const { rows } = configuration;
  return Array.isArray(rows) ? rows.map((row: { readonly id?: unknown }) => row.id) : [];
}
