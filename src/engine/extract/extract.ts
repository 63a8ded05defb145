import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import {
  parseExtractorConfig,
  type EffectiveConfig,
  type ExtractorConfig,
} from '../config/extractor-config.ts';
import { checkReactions } from '../config/check-reactions.ts';
import { checkIterationStates } from '../config/iteration-states.ts';
import { replacedTables } from '../config/incremental-output.ts';
import { collectSecrets } from '../config/secrets.ts';
import type { Env } from '../../lib/env.ts';
import { RunError } from '../../lib/errors.ts';
import { ClockWitness } from './clock-witness.ts';
import { OutputBuckets } from './buckets.ts';
import { LineThreads, threadsOf } from '../records/threads/line-threads.ts';
import { forgetChanged, settingsJson, structureSettings } from './schema-cache.ts';
import type { Progress } from './progress.ts';
import { timeContext } from './time.ts';
import type { AuthType, LoginKeeper } from '../http/auth/index.ts';
import type { LimitTrace } from '../http/limit-trace.ts';
import { createHostLimits, type HostLimits } from '../http/host-limits.ts';
import type { Send, SendWrapper } from '../shared/message.ts';
import type { FirstContact } from '../http/retry.ts';
import { createCaller, strtotime } from '../jobs/functions/index.ts';
import { parseJobs, type Job, type JobWarning, type Stretch } from '../jobs/index.ts';
import type { SampleBounds } from './child-starts.ts';
import { IncrementalStates } from './incremental/states.ts';
import { getKey, toJsonText, type AnyObject } from '../../lib/json/index.ts';
import type { Log } from '../../lib/log.ts';
import type { PaginationMethod } from '../pagination/index.ts';
import { makeHead } from '../recording/head.ts';
import { Recorder } from '../recording/recorder.ts';
import type { Recording } from '../recording/exchanges.ts';
import { withRedaction } from '../../lib/redact.ts';
import type { Secrets } from '../../lib/secrets.ts';
import { guard } from '../sink/file-error.ts';
import { reportText } from '../sink/report.ts';
import type { JobReport } from '../completeness/index.ts';
import { parseCompleteness } from '../shared/completeness-signs.ts';
import { Witnesses } from './witnesses.ts';
import { parseMappings } from '../records/mapping/parse.ts';
import { publish } from '../sink/publish.ts';
import { nextState, previousStartOf } from '../sink/state.ts';
import { openConfig } from './open-config.ts';

export interface ExtractOptions {
  /** One component configuration: root and row merged, `#` values in place. */
  readonly configuration: AnyObject;
  /** Content of `in/state.json`. */
  readonly state: AnyObject;
  /** Gets `tables/` and `state.json`, after all jobs have succeeded. */
  readonly outFolder: string;
  /** For files under way; on the file system of `outFolder`. Made, and removed at the end. */
  readonly workFolder: string;
  /** For `parameters.cache`. */
  readonly cacheFolder: string;
  readonly env: Env;
  /** By default warnings and errors are written to stderr; with `console`, also what is done. */
  readonly log?: Log | undefined;
  /** Learns the secrets of the configuration; none of them reaches the log, an error or a host that is not named. */
  readonly secrets?: Secrets;
  readonly signal: AbortSignal;
  /** Log requests and answers, as `config.debug` does. Default: false. */
  readonly debug?: boolean | undefined;
  readonly progress?: Progress;
  /** True when the configuration was validated: its warnings were given then, and are not given again. */
  readonly isValidated?: boolean;
  /** Ends each job after so many pages. */
  readonly limit?: number | undefined;
  /** Bounds besides the limit, for a look at each part of a configuration. */
  readonly sample?: SampleBounds | undefined;
  /** Sees the verdicts before anything is published; what it throws ends the run, and nothing is. */
  readonly onReports?: (jobs: readonly JobReport[]) => void;
  /** Pagination methods to choose from; all of this package by default. */
  readonly methods?: readonly PaginationMethod[];
  /** Kinds of authentication to choose from; all of this package by default. */
  readonly authTypes?: readonly AuthType[];
  /**
   * Asks for this stretch of time again, in the jobs that have windows or a state from the data, and for nothing else. No
   * state moves.
   */
  readonly period?: Stretch | undefined;
  /** A state that is ahead of the clock is an error; by default it is a warning. */
  readonly strict?: boolean | undefined;
  /** Threads that make the lines of large pages, for several runs: who gives them ends them. By default the run has its own. */
  readonly lineThreads?: LineThreads | undefined;
  /** Takes the place of the network. */
  readonly bottom?: Send;
  /** Sees each request as it goes over the wire, with its credentials, and its answer. */
  readonly tap?: SendWrapper | undefined;
  /**
   * Keeps the answers, and gives those that it has: a run that goes on, or is played again. Who gives it closes it. By
   * default the answers are kept in the work folder until the end.
   */
  readonly recording?: Recording | undefined;
  /** Keeps logins whose tokens change; by default they end with the process. */
  readonly logins?: LoginKeeper | undefined;
  /** Limits of hosts, for several runs that share them; by default each has its own, and finds out how many requests at once an API takes. */
  readonly hosts?: HostLimits | undefined;
  /** Adds to the state what is not of this run. */
  readonly finishState?: (state: AnyObject) => AnyObject;
}

export interface ExtractResult {
  /** The tables written, in the order of their first rows. */
  readonly tables: readonly WrittenTable[];
  /** Rows in all of them. */
  readonly rows: number;
  readonly state: AnyObject;
  /** Completeness of each job, in their order. */
  readonly jobs: readonly JobReport[];
  /** Limits of requests at once that were found out, with all changes. */
  readonly limits: readonly LimitTrace[];
}

export interface WrittenTable {
  /** File name below `tables/`, bucket included. */
  readonly name: string;
  readonly rows: number;
}

/**
 * Runs a component configuration, which gives tables, manifests and a state.
 *
 * Nothing enters the output folder before every job has succeeded.
 *
 * @throws {ExtractorError} what went wrong, where, and what to do; the output folder is then as it was
 */
export async function extract(options: ExtractOptions): Promise<ExtractResult> {
  return await withRedaction(options, extractTables);
}

async function extractTables(options: KnownOptions): Promise<ExtractResult> {
  for (const secret of collectSecrets(options.configuration)) options.secrets.add(secret);
  const { log, workFolder, outFolder } = options;
  const parsed = parseExtractorConfig(options.configuration);
  const config = options.limit === undefined ? parsed : forTrial(parsed);
  const tell: Log['warn'] =
    options.isValidated === true ? () => {} : (message, fields) => log.warn(message, fields);
  for (const { message, path: at } of config.warnings) tell(message, { path: at });
  const settings = structureSettings(config);
  const state = forgetChanged(options.state, settings, log);
  const recording = options.recording ?? ownRecording(options);
  const startedAt = Math.floor(recording.startedAt / 1000);
  checkIterationStates(config);
  checkPeriod(config, options.period);
  tellOfClock(options, startedAt);
  const time = timeContext(state, startedAt);
  const parseTime = (text: string): number | undefined => {
    const seconds = strtotime(text, startedAt);
    return seconds === false ? undefined : seconds;
  };
  const firstContact = { isMade: false, attempts: options.limit === undefined ? FIRST_ATTEMPTS : 1 };
  const states = new IncrementalStates({
    state,
    startedAt: recording.startedAt,
    period: options.period,
    log,
  });
  const clock = new ClockWitness(log);
  const hosts = options.hosts ?? createHostLimits(options.env);
  const threads = options.lineThreads ?? new LineThreads({ most: threadsOf(undefined) });
  const buckets = new OutputBuckets({ workFolder, state, parseTime, exchanges: recording, log, threads });
  try {
    const jobs: JobReport[] = [];
    for (const [iteration, effective] of config.configs.entries())
      await runConfig(
        { jobs, config, effective, iteration, time, states, buckets, recording, clock },
        { ...options, tell, firstContact, hosts },
      );
    recording.finish();
    const rows = buckets.rows;
    const { publications, structs, structVersion, types } = await buckets.finish();
    options.signal.throwIfAborted();
    options.onReports?.(jobs);
    const structSettings = settingsJson(state, settings);
    const after = nextState({
      before: state,
      startedAt: Math.floor(clock.bound(recording.startedAt) / 1000),
      structs,
      structVersion,
      structSettings,
      incremental: states.next(clock.bound(recording.startedAt)),
      isPeriod: options.period !== undefined,
    });
    states.tell();
    const { finishState = (state) => state } = options;
    await publish(publications, path.join(outFolder, 'tables'), [
      { file: path.join(outFolder, 'state.json'), text: toJsonText(finishState(after)) },
      {
        file: path.join(outFolder, 'report.json'),
        text: reportText(jobs, types.length === 0 ? {} : { types }),
      },
    ]);
    return {
      tables: publications.map(({ name, rows }) => ({ name, rows })),
      rows,
      state: after,
      jobs,
      limits: hosts.traces(),
    };
  } finally {
    await buckets.abandon();
    if (options.lineThreads === undefined) await threads.close();
    if (options.recording === undefined) recording.close();
    rmSync(workFolder, { recursive: true, force: true });
  }
}

/** Warns of a clock that is behind: a window from the last run to this one would run backward. */
function tellOfClock({ state, log, strict = false }: KnownOptions, startedAt: number): void {
  const previous = previousStartOf(state);
  if (previous === undefined || previous <= startedAt) return;
  const message = `The state is ${previous - startedAt} seconds ahead of the clock: the last run began at ${moment(previous)}, and it is ${moment(startedAt)}.`;
  if (strict)
    throw new RunError('run.clock', message, {
      hint: 'Set the clock right; or, when it was ahead in the last run, set time.previousStart in the state to the true time of that run, or earlier.',
    });
  log.warn(
    `${message} The state stays as it is. If the clock was ahead then, what came since the true time of that run stays unasked: to ask for it, set time.previousStart in the state to that time, or earlier. If it is behind now, set it right`,
  );
}

function moment(seconds: number): string {
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? String(seconds) : date.toISOString();
}

/** @throws {RunError} `run.period` when no job can be asked for a period */
function checkPeriod({ configs, api }: ExtractorConfig, period: Stretch | undefined): void {
  if (period === undefined) return;
  const jobs = configs.flatMap(({ jobs: node, jobsAt }) =>
    parseJobs(node, jobsAt, [], api.defaultOptions, api.pagination),
  );
  if (jobs.some(goesByTime)) return;
  throw new RunError(
    'run.period',
    'No job can be asked for a period again: none has windows, or a state from the data.',
    {
      where: { path: configs[0]?.jobsAt ?? 'parameters.config.jobs' },
      hint: 'Give the job “windows” or “incremental”, or run without --from and --to.',
    },
  );
}

/** Tells whether a period can be requested again, of the job itself or of one below it. */
function goesByTime({ windows, incremental, children }: Job): boolean {
  return windows !== undefined || incremental?.cursor !== undefined || children.some(goesByTime);
}

/** Attempts at the first contact in a run; a trial shows at once that an address is wrong. */
const FIRST_ATTEMPTS = 3;

type KnownOptions = ExtractOptions & { readonly secrets: Secrets; readonly log: Log };

/** Creates a recording that is kept only for the run itself. */
function ownRecording({ workFolder, env, secrets, state, configuration }: KnownOptions): Recording {
  guard(workFolder, () => mkdirSync(workFolder, { recursive: true }));
  const subject = { row: undefined, configuration, state };
  const file = path.join(workFolder, 'recording');
  return Recorder.create(file, makeHead(subject, { env, secrets }), { env, secrets });
}

interface Iteration {
  /** Gets the verdicts. */
  readonly jobs: JobReport[];
  readonly config: ExtractorConfig;
  readonly effective: EffectiveConfig;
  /** From 0. */
  readonly iteration: number;
  readonly time: AnyObject;
  readonly states: IncrementalStates;
  readonly buckets: OutputBuckets;
  readonly recording: Recording;
  readonly clock: ClockWitness;
}

/** Retries in a trial: its user is waiting, and needs the error sooner. */
const TRIAL_RETRIES = 2;

function forTrial(config: ExtractorConfig): ExtractorConfig {
  const { retry } = config.api;
  const maxRetries = Math.min(retry.maxRetries ?? TRIAL_RETRIES, TRIAL_RETRIES);
  return { ...config, api: { ...config.api, retry: { ...retry, maxRetries } } };
}

/** Runs all jobs of one iteration, in order. */
async function runConfig(
  { jobs: reports, config, effective, iteration, time, states, buckets, recording, clock }: Iteration,
  options: KnownOptions & { readonly tell: Log['warn']; readonly firstContact: FirstContact },
): Promise<void> {
  const { signal, tell, limit, sample, progress = {} } = options;
  const warnings: JobWarning[] = [];
  const jobs = parseJobs(
    effective.jobs,
    effective.jobsAt,
    warnings,
    config.api.defaultOptions,
    config.api.pagination,
  );
  warnings.push(...replacedTables(jobs, effective));
  for (const { message, path: at, hint } of warnings)
    tell(hint === undefined ? message : `${message}. ${hint}`, { path: at });
  checkReactions(config.api, jobs, createCaller(options.env));
  const bucket = buckets.of(effective, jobs);
  const { connection, jobRunner } = openConfig({
    ...options,
    config,
    effective,
    time,
    states,
    onLimit: (event) => recording.limit(event),
  });
  try {
    const completeness = parseCompleteness(
      getKey(config.api.node, 'completeness'),
      'parameters.api.completeness',
    );
    const witnesses = new Witnesses({
      completeness,
      mappings: parseMappings(effective.mappings, effective.mappingsAt),
      log: options.log,
      secrets: options.secrets,
    });
    const runner = jobRunner({
      witnesses,
      bucket,
      exchanges: clock.watch(recording),
      startedAt: recording.startedAt,
      iteration,
      limit,
      sample,
      signal,
      progress,
    });
    runner.check(jobs);
    for (const [index, job] of jobs.entries()) {
      signal.throwIfAborted();
      if (options.period !== undefined && !goesByTime(job)) {
        options.log.info(`“${job.name}” has neither windows nor a state from the data: it is left out`, {
          job: job.name,
        });
        continue;
      }
      await runner.run(job, index);
    }
    for (const report of witnesses.reports()) {
      const leftOut = runner.leftOut.get(report.at);
      reports.push(leftOut === undefined ? report : { ...report, leftOut });
    }
  } finally {
    await connection.close();
  }
}
