import {
  parseExtractorConfig,
  type EffectiveConfig,
  type ExtractorConfig,
} from '../config/extractor-config.ts';
import type { Env } from '../../lib/env.ts';
import { ConfigError, ExtractorError } from '../../lib/errors.ts';
import type { AuthType, LoginKeeper } from '../http/auth/index.ts';
import type { ApiRequest, ApiResponse, Send, SendWrapper } from '../shared/message.ts';
import type { Job } from '../jobs/index.ts';
import type { AnyObject, Json } from '../../lib/json/index.ts';
import type { Log } from '../../lib/log.ts';
import type { PaginationMethod } from '../pagination/index.ts';
import { unrecorded } from '../recording/exchanges.ts';
import type { Secrets } from '../../lib/secrets.ts';
import type { PageContent } from './content.ts';
import { IncrementalStates } from './incremental/states.ts';
import { selectJob } from './select-job.ts';
import { timeContext } from './time.ts';
import { openConfig } from './open-config.ts';

export interface ProbeOptions {
  /** One component configuration: root and row merged, `#` values in place. */
  readonly configuration: AnyObject;
  /** Content of `in/state.json`. */
  readonly state: AnyObject;
  /** Which job: its index, then those of children below it. */
  readonly job: readonly number[];
  /** Requests of each job, logins and redirects not counted; what comes later is not sent. */
  readonly maxCalls: number;
  readonly env: Env;
  readonly log: Log;
  readonly secrets: Secrets;
  readonly signal: AbortSignal;
  readonly methods?: readonly PaginationMethod[] | undefined;
  readonly authTypes?: readonly AuthType[] | undefined;
  readonly bottom?: Send | undefined;
  /** Keeps logins whose tokens change; by default they end with the process. */
  readonly logins?: LoginKeeper | undefined;
}

/** A request as it left, with its credentials, and what came back. */
export interface ProbedExchange {
  readonly request: ApiRequest;
  readonly response: ApiResponse;
}

export interface ProbedPage {
  /** Rows as they would be written. */
  readonly rows: readonly Json[];
  /** Extra columns: user data and values of placeholders. */
  readonly extra: AnyObject;
}

export interface ApiProbe {
  readonly job: Job;
  /** The first page of each run of the job. */
  readonly pages: readonly ProbedPage[];
  /** All that went over the wire, logins and redirects included, in order. */
  readonly exchanges: readonly ProbedExchange[];
  /** The job had more runs than calls are allowed. */
  readonly isCut: boolean;
  /** Error that ended it early; exchanges and pages are those before. */
  readonly failure: ExtractorError | undefined;
}

/**
 * Runs one job for a look at it, by the engine of a run: the first page only, nothing written, nothing tried again.
 * For a child, the first pages of the jobs above it give its placeholders. Of several iterations the first is taken.
 *
 * @throws {ExtractorError} for a configuration that cannot be run at all
 */
export async function probe(options: ProbeOptions): Promise<ApiProbe> {
  const config = forLooking(parseExtractorConfig(options.configuration));
  for (const { message, path } of config.warnings) options.log.warn(message, { path });
  const effective = firstOf(config);
  const { top, job, names } = selectJob(
    effective.jobs,
    effective.jobsAt,
    options.job,
    config.api.defaultOptions,
  );
  const pages: ProbedPage[] = [];
  const take = async (content: PageContent, { extra }: { readonly extra: AnyObject }): Promise<void> => {
    if (content.request.label === job.name) pages.push({ rows: [...content.written()].flat(), extra });
  };
  const exchanges: ProbedExchange[] = [];
  const tap: SendWrapper = (next) => async (request, sendOptions) => {
    const response = await next(request, sendOptions);
    exchanges.push({ request, response });
    return response;
  };
  const { isCut, failure } = await run({ options, config, effective, top, names, take, tap });
  return { job, pages, exchanges, isCut, failure };
}

interface RunOptions {
  readonly options: ProbeOptions;
  readonly config: ExtractorConfig;
  readonly effective: EffectiveConfig;
  readonly top: Job;
  readonly names: readonly string[];
  readonly take: (content: PageContent, target: { readonly extra: AnyObject }) => Promise<void>;
  readonly tap: SendWrapper;
}

async function run({
  options,
  config,
  effective,
  top,
  names,
  take,
  tap,
}: RunOptions): Promise<Pick<ApiProbe, 'isCut' | 'failure'>> {
  const { env, signal } = options;
  const time = timeContext(options.state, Math.floor(env.now() / 1000));
  const states = new IncrementalStates({ state: options.state, startedAt: env.now(), log: options.log });
  const { connection, jobRunner } = openConfig({
    ...options,
    config,
    effective,
    time,
    states,
    tap,
    cacheFolder: '',
  });
  try {
    const send = counted(connection.send, names, options.maxCalls);
    const runner = jobRunner({
      bucket: { take, settle: async () => undefined, isSettled: true },
      exchanges: unrecorded(env),
      startedAt: env.now(),
      iteration: 0,
      send,
      concurrency: 1,
      isPatient: false,
      limit: 1,
      signal,
      progress: {},
    });
    await runner.run(top, 0);
    return { isCut: false, failure: undefined };
  } catch (error) {
    signal.throwIfAborted();
    if (error === ENOUGH) return { isCut: true, failure: undefined };
    if (!(error instanceof ExtractorError)) throw error;
    return { isCut: false, failure: error };
  } finally {
    await connection.close();
  }
}

/** Ends a probe from within; never seen outside. */
const ENOUGH = new Error('a probe has all its calls');

function counted(send: Send, names: readonly string[], maxCalls: number): Send {
  const calls = new Map(names.map((name) => [name, 0]));
  return async (request, options) => {
    const name = request.label ?? '';
    const call = (calls.get(name) ?? 0) + 1;
    if (call > maxCalls) throw ENOUGH;
    calls.set(name, call);
    return send(request, options);
  };
}

/**
 * Returns the configuration for a probe, which needs the present answers of the API: without the cache and without
 * retries.
 */
export function forLooking(config: ExtractorConfig): ExtractorConfig {
  return {
    ...config,
    cache: undefined,
    api: { ...config.api, retry: { ...config.api.retry, maxRetries: 0 } },
  };
}

function firstOf({ configs }: ExtractorConfig): EffectiveConfig {
  const [first] = configs;
  if (first === undefined) throw new ConfigError('config.invalid', 'The configuration describes no run.');
  return { ...first, debug: true };
}
