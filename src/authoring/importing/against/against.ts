import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { columnName } from '../../../engine/records/names.ts';
import type { Send } from '../../../engine/shared/message.ts';
import type { Env } from '../../../lib/env.ts';
import { describeError, RunError } from '../../../lib/errors.ts';
import { silentLog } from '../../../lib/log.ts';
import type { Secrets } from '../../../lib/secrets.ts';
import { makeTempFolder } from '../../../lib/temp-folder.ts';
import { run } from '../../../runner/run.ts';
import { disableRows } from '../disable-rows.ts';
import { jobsOf, jobsOfStream, mapOf } from '../proof/stream-jobs.ts';
import type { Imported, StreamComparison, StreamReport } from '../report.ts';
import { looseName } from './cell-forms.ts';
import { compareTables } from './compare-tables.ts';
import { describeComparison } from './comparison-words.ts';
import { spoolRecords, type SpooledRecords } from './read-records.ts';
import { openTable, type OpenedTable } from './table-file.ts';
import { theirTables } from './their-tables.ts';

export interface AgainstOptions {
  /** Folder with records of the other tool. */
  readonly records: string;
  /** Data folder of a run whose tables are compared; undefined for a run that is made now. */
  readonly tables: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly env: Env;
  readonly secrets: Secrets;
  readonly signal: AbortSignal;
  /** In the network's place: a recording. */
  readonly bottom?: Send | undefined;
  /** Told each stream that is about to be compared. */
  readonly onStream?: (stream: string) => void;
}

/**
 * Compares the rows of each imported stream with the records that the other tool has of it. A stream whose rows differ
 * loses its level.
 *
 * @throws {RunError} `import.invalid` for a folder without records
 */
export async function compareAgainst(imported: Imported, options: AgainstOptions): Promise<Imported> {
  const { tables } = options;
  if (tables !== undefined && statSync(tables, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new RunError('command.invalid', `There is no folder ${tables}.`, {
      hint: 'Give the data folder of a run, or leave --tables out for a run that is made now.',
    });
  const folder = makeTempFolder('against');
  try {
    const records = await spoolRecords(options.records, path.join(folder.path, 'records'));
    const streams: StreamReport[] = [];
    const used = new Set<string>();
    const rows = new OurRows(imported, path.join(folder.path, 'data'), options);
    for (const stream of imported.report.streams) {
      options.signal.throwIfAborted();
      options.onStream?.(stream.stream);
      const own = records.find((each) => looseName(each.stream) === looseName(stream.stream));
      if (own !== undefined) used.add(own.stream);
      const below = records.filter((each) => each.stream.startsWith(`${own?.stream ?? stream.stream}__`));
      for (const each of below) used.add(each.stream);
      const place = path.join(folder.path, `stream-${streams.length}`);
      const compared = await compareStream(stream, own, below, { imported, rows, folder: place, options });
      streams.push(withComparison(stream, redacted(compared, options.secrets)));
    }
    const others = records.map(({ stream }) => stream).filter((name) => !used.has(name));
    const wrong = streams.filter(({ compared }) => compared?.result === 'differs').map(({ row }) => row);
    const note = `Records of other streams in the folder: ${others.join(', ')}.`;
    return {
      configuration: disableRows(imported.configuration, new Set(wrong)),
      report: {
        ...imported.report,
        streams,
        notes: [...imported.report.notes, ...(others.length === 0 ? [] : [note])],
      },
    };
  } finally {
    folder.remove();
  }
}

interface Surroundings {
  readonly imported: Imported;
  readonly rows: OurRows;
  /** For the tables of this stream. */
  readonly folder: string;
  readonly options: AgainstOptions;
}

async function compareStream(
  stream: StreamReport,
  own: SpooledRecords | undefined,
  below: readonly SpooledRecords[],
  { imported, rows, folder, options }: Surroundings,
): Promise<StreamComparison> {
  if (stream.outcome === 'not') return notCompared('It was not taken over.');
  if (own === undefined) return notCompared('The folder has no records of it.');
  const row = rowOf(imported, stream.row);
  const [job] = jobsOfStream(jobsOf(row), stream);
  if (job === undefined) return notCompared('No job has its rows.');
  try {
    const ours = await openTable(await rows.tablesOf(stream.row), job.dataType);
    const make = async (spooled: SpooledRecords, number: number): Promise<OpenedTable | undefined> =>
      await openTable(
        await theirTables(spooled, job.dataType, { ...options, folder: path.join(folder, String(number)) }),
        job.dataType,
      );
    mkdirSync(folder, { recursive: true });
    const theirs = await make(own, 0);
    if (ours === undefined || theirs === undefined)
      return theirs === undefined
        ? notCompared('The records there have no fields.')
        : {
            result: 'differs',
            lines: [`No rows here, ${own.records} there`],
          };
    const table = await compareTables({
      ours,
      theirs,
      key: keyOf(row, job.node),
      scratch: path.join(folder, 'rows.sqlite'),
    });
    const main = describeComparison(table);
    const parts: StreamComparison[] = [main];
    for (const [index, spooled] of below.entries()) {
      const list = listOf(ours, spooled.stream.slice(own.stream.length + 2));
      const items = await make(spooled, index + 1);
      if (list === undefined || items === undefined) continue;
      const scratch = path.join(folder, `rows-${index}.sqlite`);
      const part = describeComparison(await compareTables({ ours: list, theirs: items, key: [], scratch }));
      parts.push({ ...part, lines: part.lines.map((line) => `${spooled.stream}: ${line}`) });
    }
    return parts.length === 1
      ? main
      : { ...main, result: worst(parts), lines: parts.flatMap(({ lines }) => lines) };
  } catch (error) {
    options.signal.throwIfAborted();
    return notCompared(describeError(error));
  }
}

const ORDER: readonly StreamComparison['result'][] = ['differs', 'not compared', 'other columns', 'equal'];

function worst(parts: readonly StreamComparison[]): StreamComparison['result'] {
  return ORDER.find((result) => parts.some((part) => part.result === result)) ?? 'equal';
}

/** Returns the table of a list by the name that dlt gives it: `orders__lines` below `users`. */
function listOf(table: OpenedTable, name: string): OpenedTable | undefined {
  for (const [column, list] of table.lists) {
    if (looseName(column) === looseName(name)) return list;
    const below = looseName(name).startsWith(looseName(column))
      ? listOf(list, name.slice(column.length).replace(/^_+/, ''))
      : undefined;
    if (below !== undefined) return below;
  }
  return undefined;
}

/** Returns the columns of the primary key of a stream, by its job or by the output of its row. */
function keyOf(row: Node, job: Node): readonly string[] {
  const { primaryKey } = job;
  const own = Array.isArray(primaryKey) ? primaryKey : primaryKey === undefined ? [] : [primaryKey];
  if (own.length > 0) return own.map((name) => columnName(String(name).split('.')));
  const { tables } = mapOf(mapOf(row['storage'])['output']);
  const [table] = Array.isArray(tables) ? tables.map(mapOf) : [];
  const key = table?.['primary_key'];
  return Array.isArray(key) ? key.map(String) : [];
}

type Node = Readonly<Record<string, unknown>>;

function rowOf({ configuration }: Imported, id: string | undefined): Node {
  const { rows } = configuration;
  if (!Array.isArray(rows)) return configuration;
  return mapOf(rows.map(mapOf).find((row) => row['id'] === id)?.['configuration']);
}

function notCompared(why: string): StreamComparison {
  return { result: 'not compared', lines: [why] };
}

function redacted(compared: StreamComparison, secrets: Secrets): StreamComparison {
  return { ...compared, lines: compared.lines.map((line) => secrets.redactMessage(line)) };
}

function withComparison(stream: StreamReport, compared: StreamComparison): StreamReport {
  if (compared.result === 'other columns' && stream.outcome === 'exact')
    return { ...stream, outcome: 'equal rows, other columns', compared };
  if (compared.result !== 'differs') return { ...stream, compared };
  const reason = {
    path: `the comparison of ${stream.row === undefined ? 'the configuration' : `the row “${stream.row}”`}`,
    message: compared.lines.filter((line) => !line.startsWith(' ')).join('; '),
  };
  return { ...stream, outcome: 'not', reasons: [...stream.reasons, reason], compared };
}

/** Tables of the rows of an import: of a run that was made before, or of one that is made when it is asked for. */
class OurRows {
  readonly #folder: string;
  readonly #options: AgainstOptions;
  readonly #ran = new Map<string | undefined, string>();

  constructor({ configuration }: Imported, folder: string, options: AgainstOptions) {
    this.#options = options;
    this.#folder = options.tables ?? folder;
    if (options.tables !== undefined) return;
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'config.json'), JSON.stringify(configuration));
  }

  /** @throws what went wrong in the run of the row */
  async tablesOf(row: string | undefined): Promise<string> {
    const tables = path.join(this.#folder, ...(row === undefined ? [] : ['rows', row]), 'out', 'tables');
    if (this.#options.tables !== undefined || this.#ran.has(row)) return tables;
    const { env, environment, secrets, signal, bottom } = this.#options;
    await run({
      dataFolder: this.#folder,
      rows: row === undefined ? [] : [row],
      environment,
      env,
      secrets,
      signal,
      log: silentLog,
      resetState: true,
      keepRecording: 0,
      resume: false,
      ...(bottom === undefined ? {} : { bottom }),
    });
    this.#ran.set(row, tables);
    return tables;
  }
}
