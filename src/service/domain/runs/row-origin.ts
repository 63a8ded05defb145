import type { Readable } from 'node:stream';
import type { ExchangeJson } from '../../../engine/recording/exchange.ts';
import type { RecordingHead } from '../../../engine/recording/head.ts';
import { streamRecords } from '../../../engine/recording/record-stream.ts';
import { isoTime } from '../../../lib/iso-time.ts';
import { encodeExact } from '../../../lib/json/index.ts';
import { recordingOf } from '../../../storage/protocol/recordings.ts';
import type { RowLoad, RowOrigin, RowRequest } from '../../../storage/protocol/row-origin.ts';
import type { DataContext } from '../data-context.ts';
import { apiTime } from '../presenters/time.ts';
import { RawJson, type Reply } from '../reply.ts';
import { loadsAt } from '../../stores/metadata/jobs.ts';
import { findRun, type AskedOfRun } from '../../stores/metadata/runs.ts';
import type { RunRow, TableRow } from '../../stores/metadata/tables.ts';
import { ObjectError } from '../../stores/objects/errors.ts';
import { decompressed, isDamagedRecord } from './damaged-record.ts';
import { findRecord, type FoundRecord, type WantedValue } from './find-record.ts';

/** Length of a change time up to its milliseconds. */
const MILLIS_END = 'YYYY-MM-DD HH:MM:SS.mmm'.length;
/** Loads whose recordings are looked through. */
const MOST_LOADS = 3;
/** Bytes of a recording that are looked through, and of one answer. */
const MOST_BYTES = 512 * 1024 * 1024;
const MOST_BODY = 16 * 1024 * 1024;
const MOST_RECORD = 64 * 1024;

/** A row as it is stored, with the time in which it was written last. */
export interface FoundRow {
  readonly table: TableRow;
  readonly primaryKey: readonly string[];
  readonly columns: readonly string[];
  readonly values: readonly string[];
  /** `YYYY-MM-DD HH:MM:SS.ffffff`, in UTC. */
  readonly changed: string;
  readonly isOnly: boolean;
}

/**
 * Tells which load has brought a row, and which request of its run has answered it.
 *
 * @param maySee tells whether the caller may see the answers that a run has got
 */
export async function readRowOrigin(
  context: Pick<DataContext, 'meta' | 'objects'>,
  row: FoundRow,
  maySee: (run: RunRow) => boolean,
): Promise<Record<keyof RowOrigin, Reply>> {
  const { meta } = context;
  const at = Date.parse(`${row.changed.slice(0, MILLIS_END).replace(' ', 'T')}Z`);
  const micros = Number(row.changed.slice(MILLIS_END));
  const unknown: string[] = [];
  const jobs = await loadsAt(meta, row.table, { at, micros });
  const runs = new Map<string, RunRow>();
  for (const { run_id } of jobs) {
    const run =
      run_id !== null && /^\d{1,15}$/.test(run_id) ? await findRun(meta, Number(run_id)) : undefined;
    if (run !== undefined && run.branch_id === row.table.branch_id) runs.set(String(run.id), run);
  }
  const loads = jobs.map((job): RowLoad => {
    const run = runs.get(job.run_id ?? '');
    return {
      job: String(job.id),
      run: run === undefined ? null : String(run.id),
      ...(run === undefined ? {} : { component: run.component_id, configuration: run.configuration_id }),
      time: apiTime(job.ended ?? job.created),
      creatorToken: { id: String(job.creator_id), description: job.creator_description },
    };
  });
  if (loads.length === 0)
    unknown.push(
      'No load of that moment is known: it is no longer kept, the row came with a copy of the table, or its file said when it was changed.',
    );
  if (loads.length > 1)
    unknown.push(`${loads.length} loads were at work in that moment: one of them has written the row last.`);
  if (!row.isOnly) unknown.push('More rows match: this is one of them.');
  const request = await requestOf(context, row, { runs: [...runs.values()], maySee, unknown });
  return {
    table: row.table.id,
    columns: [...row.columns],
    values: [...row.values],
    isOnly: row.isOnly,
    changedTime: apiTime(isoTime(at)),
    loads,
    request: request === undefined ? null : requestReply(request),
    unknown,
  };
}

/** A request that was found, with the part of its answer. */
interface Found {
  readonly run: number;
  readonly row: string | undefined;
  readonly exchange: ExchangeJson;
  readonly found: FoundRecord;
}

async function requestOf(
  { objects, meta }: Pick<DataContext, 'meta' | 'objects'>,
  { columns, values, primaryKey }: FoundRow,
  {
    runs,
    maySee,
    unknown,
  }: {
    readonly runs: readonly RunRow[];
    readonly maySee: (run: RunRow) => boolean;
    readonly unknown: string[];
  },
): Promise<Found | undefined> {
  const wanted = columns.flatMap((column, i): WantedValue[] => {
    const text = values[i] ?? '';
    return text === '' ? [] : [{ column, text, isKey: primaryKey.includes(column) }];
  });
  let best: Found | undefined;
  for (const loading of runs.slice(0, MOST_LOADS)) {
    // Written by this service. What was accepted was asked for by the run that held it back.
    const { accepts } = JSON.parse(loading.asked) as AskedOfRun;
    const run = accepts === undefined ? loading : await findRun(meta, Number(accepts.run));
    if (run === undefined) continue;
    if (!maySee(run)) {
      unknown.push(`The answers of the run ${run.id} are not for this token.`);
      continue;
    }
    const found = await searchIn(() => objects.read(recordingOf(String(run.id))), run.id, wanted, unknown);
    if (found !== undefined && (best === undefined || isBetter(found.found, best.found))) best = found;
  }
  return best;
}

const isBetter = (one: FoundRecord, other: FoundRecord): boolean =>
  Number(one.isSure) - Number(other.isSure) > 0 ||
  (one.isSure === other.isSure && one.columns.length > other.columns.length);

/** @param open gives the recording, which is read as far as needed */
async function searchIn(
  open: () => Promise<Readable>,
  run: number,
  wanted: readonly WantedValue[],
  unknown: string[],
): Promise<Found | undefined> {
  let best: Found | undefined;
  let row: string | undefined;
  let [bytes, leftOut] = [0, 0];
  try {
    for await (const { kind, json, body } of streamRecords(decompressed(await open()), MOST_BODY)) {
      // Written by a run of this service.
      if (kind === 'head') row = (JSON.parse(json) as RecordingHead).row;
      if (kind !== 'exchange') continue;
      const exchange = JSON.parse(json) as ExchangeJson;
      if (body === undefined || exchange.large !== undefined) leftOut++;
      if (body === undefined || exchange.status >= 400) continue;
      const found = findRecord(body, wanted);
      if (found !== undefined && (best === undefined || isBetter(found, best.found)))
        best = { run, row, exchange, found };
      if (best?.found.columns.length === wanted.length) return best;
      bytes += body.length;
      if (bytes <= MOST_BYTES) continue;
      unknown.push(
        `The recording of the run ${run} is long: its first ${MOST_BYTES / 2 ** 20} MB were looked through.`,
      );
      break;
    }
    if (best === undefined) unknown.push(`No answer in the recording of the run ${run} has its values.`);
  } catch (error) {
    unknown.push(whyUnread(error, run));
  }
  if (leftOut > 0) unknown.push(`${leftOut} answers of the run ${run} are too large to be looked through.`);
  return best;
}

function whyUnread(error: unknown, run: number): string {
  if (error instanceof ObjectError && error.code === 'NoSuchKey')
    return `The run ${run} has no recording that is kept, so its request is not known.`;
  if (isDamagedRecord(error))
    return `The recording of the run ${run} is damaged, and was looked through up to that place. A run that brings the row again leaves a whole one.`;
  throw error;
}

function requestReply({ run, row, exchange, found }: Found): Record<keyof RowRequest, Reply | undefined> {
  const { position, request, status, at } = exchange;
  const step = position.at(-1);
  const record = found.record === undefined ? undefined : encodeExact(found.record);
  return {
    run: String(run),
    row,
    job: step?.job ?? '',
    page: step?.page ?? 1,
    request: { method: request.method, url: request.url },
    status,
    at: isoTime(at),
    path: found.path,
    record: record === undefined || record.length > MOST_RECORD ? undefined : new RawJson(record),
    columns: [...found.columns],
    isSure: found.isSure,
  };
}
