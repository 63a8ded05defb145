import { rmSync } from 'node:fs';
import path from 'node:path';
import {
  parseExtractorConfig,
  type EffectiveConfig,
  type ExtractorConfig,
} from './config/extractor-config.ts';
import type { Env } from './env.ts';
import { Buckets } from './extract/buckets.ts';
import type { Progress } from './extract/progress.ts';
import { timeContext } from './extract/time.ts';
import type { AuthType } from './http/auth/index.ts';
import type { Send } from './http/message.ts';
import { strtotime } from './jobs/functions/index.ts';
import { parseJobs, type JobWarning } from './jobs/index.ts';
import type { AnyObject } from './json/index.ts';
import type { Log } from './log.ts';
import type { PaginationMethod } from './pagination/index.ts';
import type { Secrets } from './secrets.ts';
import { publish } from './sink/publish.ts';
import { nextState, writeState } from './sink/state.ts';
import { openConfig } from './extract/open-config.ts';

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
  readonly log: Log;
  readonly secrets: Secrets;
  readonly signal: AbortSignal;
  readonly progress?: Progress;
  /** True when the configuration was validated: its warnings were given then, and are not given again. */
  readonly isValidated?: boolean;
  /** Ends each job after so many pages. */
  readonly limit?: number | undefined;
  /** Pagination methods to choose from; all of this package by default. */
  readonly methods?: readonly PaginationMethod[];
  /** Kinds of authentication to choose from; all of this package by default. */
  readonly authTypes?: readonly AuthType[];
  /** Takes the place of the network: a recording, a replay. */
  readonly bottom?: Send;
}

export interface ExtractResult {
  /** The tables written, in the order of their first rows. */
  readonly tables: readonly WrittenTable[];
  /** Rows in all of them. */
  readonly rows: number;
  readonly state: AnyObject;
}

export interface WrittenTable {
  /** File name below `tables/`, bucket included. */
  readonly name: string;
  readonly rows: number;
}

/**
 * One run: a component configuration becomes tables, manifests and a state (spec extractor 1.8).
 *
 * Nothing enters the output folder before every job has succeeded.
 *
 * @throws {ExtractorError} what went wrong, where, and what to do; the output folder is then as it was
 */
export async function extract(options: ExtractOptions): Promise<ExtractResult> {
  const { log, env, state, workFolder, outFolder } = options;
  const config = parseExtractorConfig(options.configuration);
  const tell: Log['warn'] =
    options.isValidated === true ? () => {} : (message, fields) => log.warn(message, fields);
  for (const { message, path: at } of config.warnings) tell(message, { path: at });
  const startedAt = Math.floor(env.now() / 1000);
  const time = timeContext(state, startedAt);
  const parseTime = (text: string): number | undefined => {
    const seconds = strtotime(text, Math.floor(env.now() / 1000));
    return seconds === false ? undefined : seconds;
  };
  const buckets = new Buckets({ workFolder, state, parseTime, log });
  try {
    for (const effective of config.configs)
      await runConfig(config, effective, time, buckets, { ...options, tell });
    const rows = buckets.rows;
    const { publications, structs, structVersion } = await buckets.finish();
    options.signal.throwIfAborted();
    const after = nextState({ before: state, startedAt, structs, structVersion });
    publish(publications, path.join(outFolder, 'tables'));
    writeState(path.join(outFolder, 'state.json'), after);
    return { tables: publications.map(({ name, rows }) => ({ name, rows })), rows, state: after };
  } finally {
    await buckets.abandon();
    rmSync(workFolder, { recursive: true, force: true });
  }
}

/** All jobs of one iteration, in order. */
async function runConfig(
  config: ExtractorConfig,
  effective: EffectiveConfig,
  time: AnyObject,
  buckets: Buckets,
  options: ExtractOptions & { readonly tell: Log['warn'] },
): Promise<void> {
  const { signal, tell } = options;
  const warnings: JobWarning[] = [];
  const jobs = parseJobs(effective.jobs, effective.jobsAt, warnings, config.api.defaultOptions);
  for (const { message, path: at, hint } of warnings)
    tell(hint === undefined ? message : `${message}. ${hint}`, { path: at });
  const bucket = buckets.of(effective);
  const { connection, jobRunner } = openConfig({ ...options, config, effective, time });
  try {
    const runner = jobRunner({ bucket, limit: options.limit, signal, progress: options.progress ?? {} });
    for (const job of jobs) {
      signal.throwIfAborted();
      await runner.run(job);
    }
  } finally {
    await connection.close();
  }
}
