import { StorageError } from '../../lib/errors.ts';
import type { StorageClient, TableLoad, TableSource } from '../../storage/client/index.ts';
import { sparkline } from '../runs/sparkline.ts';
import { number, time } from './facts.ts';

/** Origin of a table; empty where the service cannot tell. */
export interface TableOrigin {
  readonly sources?: readonly TableSource[];
  readonly hidden?: number;
  readonly loads?: readonly TableLoad[];
}

const LOADS = 60;

/** Returns where a table comes from; empty of a service that knows nothing of it. */
export async function originOf({ tables }: StorageClient, id: string): Promise<TableOrigin> {
  try {
    const { sources, hidden } = await tables.sources(id);
    return { sources, hidden, loads: await tables.loads(id, { limit: LOADS }) };
  } catch (error) {
    if (error instanceof StorageError && error.code === 'storage.notFound') return {};
    throw error;
  }
}

/** Describes the sources with their last runs, and how the table has grown. */
export function describeOrigin(
  { sources, hidden = 0, loads = [] }: TableOrigin,
  width: number | undefined,
): string {
  if (sources === undefined) return '';
  const parts: string[] = [];
  if (sources.length > 0)
    parts.push(
      [
        'Comes from:',
        ...sources.flatMap((source) => [
          `  ${source.component}/${source.configuration}${source.row === undefined ? '' : `, row ${source.row}`}`,
          ...lastRunLines(source).map((line) => `    ${line}`),
        ]),
      ].join('\n'),
    );
  else if (hidden === 0) parts.push('No run of a configuration has loaded it.');
  if (hidden > 0) parts.push(`It also comes from ${hidden} more of components that your token may not use.`);
  if (loads.length > 2)
    parts.push(
      `Rows after each load  ${sparkline(loads.map(({ totalRows }) => totalRows).toReversed(), width)}`,
    );
  const [last] = sources;
  if (last !== undefined && last.lastStatus !== null)
    parts.push(`Its requests: gex runs show ${last.lastRun}`);
  return `\n\n${parts.join('\n\n')}`;
}

function lastRunLines({
  output,
  lastRun,
  lastStatus,
  lastVerdict,
  lastRows,
  lastTime,
  nextTime,
}: TableSource): readonly string[] {
  const verdict = lastVerdict === null ? '' : `, verdict ${lastVerdict}`;
  const next = nextTime === null ? '' : ` · next run ${time(nextTime)}`;
  return [
    `as ${output} · run ${lastRun}: ${lastStatus ?? 'no longer kept'}${verdict} · ${number(lastRows)} rows`,
    `ended ${time(lastTime)}${next}`,
  ];
}
