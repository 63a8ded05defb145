import type { Imported, StreamReport } from '../report.ts';
import type { ManifestFindings } from './findings.ts';
import { isSequence, type ManifestNode, type NodeMap } from './node.ts';
import type { ConnectorSettings } from './airbyte-settings.ts';
import type { Budgets } from './budgets.ts';
import type { JobTree } from './parent-rows.ts';
import { takeShared } from './shared-parts.ts';
import type { ConversionOutcome } from '../report.ts';
import type { TranslatedJson } from './translate/position.ts';

export interface TakenStream {
  readonly name: string;
  readonly id: string;
  readonly tree: JobTree | undefined;
  readonly findings: ManifestFindings;
  readonly outcome: ConversionOutcome;
}

interface Parts {
  readonly settings: ConnectorSettings;
  readonly taken: readonly TakenStream[];
  readonly dynamic: readonly StreamReport[];
  readonly notes: readonly string[];
  readonly budgets: Budgets;
  readonly name: string;
  readonly file: string;
}

/** Errors that may pass, beside the usual ones: the other tool asks again after them, too, five times. */
const PASSING = { when: { status: [409, 423, 425, '505-599'] }, do: 'retry', times: 5 };

/** Assembles the configuration and the report. Parts that all rows share go into the root. */
export function assemble({ settings, taken, dynamic, notes, budgets, name, file }: Parts): Imported {
  const bucket = plainName(name.replace(/^source-/, ''));
  const withTree = taken.filter(
    (stream): stream is TakenStream & { tree: JobTree } => stream.tree !== undefined,
  );
  const common = {
    ...commonApi(withTree.map(({ tree }) => tree)),
    ...takeShared(withTree.flatMap(({ tree }) => tree.roots)),
  };
  const rows = withTree.map((stream) => rowOf(stream, common, bucket));
  const entries = settings.entries();
  return {
    configuration: {
      name,
      configuration: {
        parameters: {
          api: {
            name: bucket,
            ...common,
            reactions: [...(isSequence(common['reactions']) ? common['reactions'] : []), PASSING],
            ...(budgets.list.length === 0 ? {} : { budgets: budgets.list }),
          },
          config: { outputBucket: bucket, ...entries },
        },
      },
      rows,
    },
    report: {
      source: file,
      streams: [...taken.map(reportOf), ...dynamic],
      settings: settings.open(),
      notes: [...budgets.notes, ...notes],
    },
  };
}

function reportOf({ name, id, tree, findings, outcome }: TakenStream): StreamReport {
  return {
    stream: name,
    outcome,
    ...(tree === undefined ? {} : { row: id }),
    columns: findings.columns,
    reasons: findings.reasons,
    notes: findings.notes,
  };
}

type Api = Readonly<Record<string, TranslatedJson>>;

function apiOf({ baseUrl, authentication, hasLists, trustedHosts }: JobTree): Api {
  return {
    baseUrl,
    ...(authentication === undefined ? {} : { authentication }),
    ...(hasLists ? { http: { lists: 'repeated' } } : {}),
    ...(trustedHosts.length === 0 ? {} : { trustedHosts }),
  };
}

/** Objects of root and row are merged key by key, so the root has only what all rows have alike. */
function commonApi(trees: readonly JobTree[]): Api {
  const [first, ...others] = trees.map(apiOf);
  if (first === undefined) return {};
  return Object.fromEntries(
    Object.entries(first).filter(([key, value]) =>
      others.every((other) => JSON.stringify(other[key]) === JSON.stringify(value)),
    ),
  );
}

function rowOf(
  { name, id, tree, outcome, findings }: TakenStream & { tree: JobTree },
  common: Api,
  bucket: string,
): NodeMap {
  const own = Object.fromEntries(Object.entries(apiOf(tree)).filter(([key]) => !Object.hasOwn(common, key)));
  const isNot = outcome === 'not';
  const table = plainName(name);
  const row: Record<string, ManifestNode> = {
    id,
    name,
    ...(isNot
      ? {
          description: `Not the same as it was: ${findings.reasons.map(({ message }) => message).join('; ')}`,
          isDisabled: true,
        }
      : {}),
    configuration: {
      parameters: {
        ...(Object.keys(own).length === 0 ? {} : { api: own }),
        config: { ...(tree.isIncremental ? { incrementalOutput: true } : {}), jobs: tree.roots },
      },
      ...outputOf(tree, bucket, table),
    },
  };
  return row;
}

/** Returns the key of the table, and whether rows are added to it. */
function outputOf({ isIncremental, primaryKey }: JobTree, bucket: string, table: string): NodeMap {
  if (primaryKey.length === 0) return {};
  const output = {
    source: `${bucket}.${table}`,
    destination: `in.c-${bucket}.${table}`,
    primary_key: primaryKey.map(columnOf),
    ...(isIncremental ? { incremental: true } : {}),
  };
  return { storage: { output: { tables: [output] } } };
}

/** Returns the name of a column in tables. */
function columnOf(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9-]+/g, '_').replace(/^_|_$/g, '');
}

/** Letters, digits and hyphens, as names of tables have them. */
export function plainName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9-]+/g, '_').replace(/^_|_$/g, '') || 'import';
}

/** Returns a unique id for a row, even if streams have equal names. */
export function rowId(name: string, taken: Set<string>): string {
  const plain = plainName(name);
  let id = plain;
  for (let count = 2; taken.has(id); count++) id = `${plain}-${count}`;
  taken.add(id);
  return id;
}
