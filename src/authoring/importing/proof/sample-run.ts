import { AsyncLocalStorage } from 'node:async_hooks';
import path from 'node:path';
import { collectSecrets } from '../../../engine/config/index.ts';
import type { JobReport } from '../../../engine/completeness/index.ts';
import { extract, type WrittenTable } from '../../../engine/extract/extract.ts';
import { firstRequests, type JobPreview } from '../../../engine/extract/preview.ts';
import { makeHead } from '../../../engine/recording/head.ts';
import type { Recording } from '../../../engine/recording/exchanges.ts';
import { positionOf, type Position } from '../../../engine/recording/position.ts';
import { Recorder } from '../../../engine/recording/recorder.ts';
import { guard } from '../../../engine/sink/file-error.ts';
import type { ApiRequest, ApiResponse, Send, SendWrapper } from '../../../engine/shared/message.ts';
import type { Env } from '../../../lib/env.ts';
import { compareMarks, markOf, type Mark } from '../../../engine/jobs/index.ts';
import {
  compilePath,
  entriesOf,
  getKey,
  isObject,
  objectOf,
  withKey,
  type AnyObject,
  type Json,
} from '../../../lib/json/index.ts';
import { jobsOf, mapOf, plainConfiguration } from './stream-jobs.ts';
import { silentLog } from '../../../lib/log.ts';
import type { Secrets } from '../../../lib/secrets.ts';
import { makeTempFolder } from '../../../lib/temp-folder.ts';
import { mkdirSync } from 'node:fs';

/** Pages of each window, windows of each job, rows of a page that start children. */
const PAGES = 2;
const WINDOWS = 2;
const PARENTS = 3;

/** Requests of one row, logins and repeated ones included. */
const MAX_REQUESTS = 60;

/** Rows of a table that are kept for a look. */
const KEPT_ROWS = 200;

/** A request of the sample as it left, and its answer. */
export interface SampledExchange {
  /** Undefined for a login before the first page. */
  readonly position: Position | undefined;
  readonly request: ApiRequest;
  readonly response: ApiResponse;
}

/** Rows that came for a table, before they are changed. */
export interface SampledRows {
  readonly count: number;
  /** The first of them. */
  readonly first: readonly Json[];
}

/** A configuration row as it ran for a few requests. */
export interface SampleRun {
  /** First requests as they are announced without sending one; undefined where that failed. */
  readonly announced: readonly JobPreview[] | undefined;
  readonly exchanges: readonly SampledExchange[];
  /** By the name that the table derives from. */
  readonly rows: ReadonlyMap<string, SampledRows>;
  /** Empty when it did not come to its end. */
  readonly reports: readonly JobReport[];
  readonly tables: readonly WrittenTable[];
  readonly state: AnyObject | undefined;
  /** State of a run after this one: where pages were left unasked, by the newest values that came. */
  readonly laterState: AnyObject | undefined;
  /** First requests of that run; undefined where there is none. */
  readonly later: readonly JobPreview[] | undefined;
  readonly failure: unknown;
  /** It ended because it made all requests that it may. */
  readonly isSpent: boolean;
}

export interface SampleOptions {
  /** One component configuration: root and row merged, secrets in place. */
  readonly configuration: AnyObject;
  readonly env: Env;
  readonly secrets: Secrets;
  readonly signal: AbortSignal;
  /** In the network's place. */
  readonly bottom?: Send | undefined;
}

/**
 * Runs a configuration for two pages of two windows of each job, below few parent rows, and keeps what it saw. Nothing
 * is pushed, and nothing stays.
 *
 * @throws the reason of the signal
 */
export async function runSample(options: SampleOptions): Promise<SampleRun> {
  const { configuration, env, secrets, signal, bottom } = options;
  for (const secret of collectSecrets(configuration)) secrets.add(secret);
  const folder = makeTempFolder('import');
  const exchanges: SampledExchange[] = [];
  const rows = new Map<string, SampledRows>();
  const seen: Pick<SampleRun, 'announced' | 'exchanges' | 'rows'> = {
    announced: await announcedBy(options, {}),
    exchanges,
    rows,
  };
  const places = new AsyncLocalStorage<Position>();
  const tap: SendWrapper = (next) => async (request, sending) => {
    if (exchanges.length >= MAX_REQUESTS) throw new Spent();
    const response = await next(request, sending);
    const isLogin = request.isLogin === true || request.label === 'login';
    exchanges.push({ position: isLogin ? undefined : places.getStore(), request, response });
    return response;
  };
  const ended = { reports: [], tables: [], state: undefined, laterState: undefined, later: undefined };
  try {
    const recording = placed(recorderIn(folder.path, options), places);
    try {
      const done = await extract({
        configuration,
        state: {},
        outFolder: path.join(folder.path, 'out'),
        workFolder: path.join(folder.path, 'work'),
        cacheFolder: path.join(folder.path, 'cache'),
        env,
        log: silentLog,
        secrets,
        signal,
        isValidated: true,
        limit: PAGES,
        sample: { windows: WINDOWS, rows: PARENTS },
        recording,
        tap,
        ...(bottom === undefined ? {} : { bottom }),
        progress: {
          rows: ({ dataType, count, chunks }) => {
            const before = rows.get(dataType) ?? { count: 0, first: [] };
            const first = [...before.first];
            for (const chunk of chunks()) {
              if (first.length >= KEPT_ROWS) break;
              first.push(...chunk.slice(0, KEPT_ROWS - first.length));
            }
            rows.set(dataType, { count: before.count + count, first });
          },
        },
      });
      const { jobs: reports, tables, state } = done;
      const laterState = stateAfter(configuration, state, rows);
      const later = await announcedBy(options, laterState);
      return { ...seen, reports, tables, state, laterState, later, failure: undefined, isSpent: false };
    } finally {
      recording.close();
    }
  } catch (error) {
    signal.throwIfAborted();
    const isSpent = error instanceof Spent;
    return { ...seen, ...ended, failure: isSpent ? undefined : error, isSpent };
  } finally {
    folder.remove();
  }
}

/**
 * Returns the state that a whole run would leave. A run that was cut moves no state; the newest value of the rows that
 * came stands in for it.
 */
function stateAfter(
  configuration: AnyObject,
  state: AnyObject,
  rows: ReadonlyMap<string, SampledRows>,
): AnyObject {
  const known = getKey(state, 'incremental');
  const all = new Map(isObject(known) ? entriesOf(known) : []);
  for (const { node, path: names, dataType, isChild } of jobsOf(plainConfiguration(configuration))) {
    const { cursor, as } = mapOf(node['incremental']);
    const name = names.join('/');
    if (typeof cursor !== 'string' || isChild) continue;
    const stored = all.get(name);
    if (isObject(stored) && getKey(stored, 'cursor') !== undefined) continue;
    const newest = newestOf(rows.get(dataType)?.first ?? [], cursor, as === 'time' ? 'time' : undefined);
    if (newest !== undefined) all.set(name, objectOf([['cursor', newest]]));
  }
  return withKey(state, 'incremental', objectOf(all));
}

function newestOf(rows: readonly Json[], cursor: string, as: 'time' | undefined): Json | undefined {
  const at = compilePath(cursor);
  let newest: Mark | undefined;
  for (const row of rows) {
    const value = at.find(row);
    const mark = value === undefined ? undefined : markOf(value, as);
    if (mark !== undefined && (newest === undefined || (compareMarks(mark, newest) ?? 0) > 0)) newest = mark;
  }
  return newest?.value;
}

/** All requests that a sample may make were made. */
class Spent extends Error {
  constructor() {
    super('all requests of the sample were made');
  }
}

async function announcedBy(
  { configuration, env, secrets }: SampleOptions,
  state: AnyObject,
): Promise<readonly JobPreview[] | undefined> {
  try {
    return await firstRequests({ configuration, state, env, secrets });
  } catch {
    // the run itself says why
    return undefined;
  }
}

function recorderIn(folder: string, { env, secrets, configuration }: SampleOptions): Recorder {
  const file = path.join(folder, 'recording');
  guard(file, () => mkdirSync(path.join(folder, 'work'), { recursive: true }));
  return Recorder.create(file, makeHead({ row: undefined, configuration, state: {} }, { env, secrets }), {
    env,
    secrets,
  });
}

/** Tells the place of each request to whoever looks at it on its way. */
function placed(recorder: Recorder, places: AsyncLocalStorage<Position>): Recording {
  return {
    startedAt: recorder.startedAt,
    broken: recorder.broken,
    moment: (place) => recorder.moment(place),
    ask: async (ask, send) =>
      await recorder.ask(
        ask,
        async (spool) => await places.run(positionOf(ask.place, ask.page), async () => await send(spool)),
      ),
    note: (kept, facts) => recorder.note(kept, facts),
    limit: (event) => recorder.limit(event),
    drop: (place, page) => recorder.drop(place, page),
    bytes: (at, length) => recorder.bytes(at, length),
    again: (at) => recorder.again(at),
    finish: () => recorder.finish(),
    close: () => recorder.close(),
  };
}
