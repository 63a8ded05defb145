import {
  parseExtractorConfig,
  type EffectiveConfig,
  type ExtractorConfig,
} from '../config/extractor-config.ts';
import { paginationOf } from '../config/job-pagination.ts';
import { collectSecrets } from '../config/secrets.ts';
import type { Env } from '../../lib/env.ts';
import type { AuthType, LoginKeeper } from '../http/auth/index.ts';
import type { ApiRequest, Send } from '../shared/message.ts';
import { strtotime } from '../jobs/functions/index.ts';
import {
  firstRequest,
  parseJobs,
  ROOT_RUN,
  withComputed,
  type Job,
  type JobInvocation,
  type Stretch,
} from '../jobs/index.ts';
import { isEmpty, toJsonText, type AnyObject } from '../../lib/json/index.ts';
import { silentLog } from '../../lib/log.ts';
import { createPaginator, type PaginationMethod } from '../pagination/index.ts';
import { withRedaction } from '../../lib/redact.ts';
import type { Secrets } from '../../lib/secrets.ts';
import { timeContext } from './time.ts';
import { openConfig } from './open-config.ts';
import { beginState, type RunState } from './incremental/run-state.ts';
import { IncrementalStates } from './incremental/states.ts';
import { planRuns, type WindowPlanOptions } from './run-windows.ts';

export interface PreviewOptions {
  /** One component configuration: root and row merged, `#` values in place. */
  readonly configuration: AnyObject;
  /** Content of `in/state.json`. */
  readonly state: AnyObject;
  /** A stretch of time that is filled again, in place of the states. */
  readonly period?: Stretch | undefined;
  readonly env: Env;
  /** Learns the secrets of the configuration, which are not shown. */
  readonly secrets?: Secrets;
  readonly methods?: readonly PaginationMethod[] | undefined;
  readonly authTypes?: readonly AuthType[] | undefined;
  /** Has the logins that are kept; none is changed. */
  readonly logins?: LoginKeeper | undefined;
}

/** First request of a job. */
export interface JobPreview {
  readonly job: string;
  /** JSON path of the job. */
  readonly at: string;
  /** Sent before; its answer goes into the request, which is then shown without it. */
  readonly login?: ShownRequest;
  /** Absent where there is nothing to ask for: there are no windows. */
  readonly request?: ShownRequest;
  /** How many windows of time there are; the request is that of the first. Absent for a job without windows. */
  readonly windows?: number;
  readonly children: readonly ChildPreview[];
}

/** A request without its secrets. */
export interface ShownRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A child as it is written: its placeholders get their values from the rows of the jobs above it. */
export interface ChildPreview {
  readonly job: string;
  readonly at: string;
  readonly method: string;
  readonly endpoint: string;
  /** JSON, functions and placeholders unevaluated; absent when there are none. */
  readonly params?: string;
  readonly children: readonly ChildPreview[];
}

/**
 * Returns the first request of every job, created by the same steps as in a run, up to the point where it would be
 * sent.
 *
 * @throws {ExtractorError} as a run would
 */
export async function firstRequests(options: PreviewOptions): Promise<readonly JobPreview[]> {
  return await withRedaction({ ...options, log: silentLog }, previewConfigs);
}

type KnownOptions = PreviewOptions & { readonly secrets: Secrets };

async function previewConfigs(options: KnownOptions): Promise<readonly JobPreview[]> {
  for (const secret of collectSecrets(options.configuration)) options.secrets.add(secret);
  const config = { ...parseExtractorConfig(options.configuration), cache: undefined };
  const time = timeContext(options.state, Math.floor(options.env.now() / 1000));
  const previews: JobPreview[] = [];
  for (const effective of config.configs)
    previews.push(...(await previewConfig(config, effective, time, options)));
  return previews;
}

async function previewConfig(
  config: ExtractorConfig,
  effective: EffectiveConfig,
  time: AnyObject,
  options: KnownOptions,
): Promise<JobPreview[]> {
  const { secrets, methods } = options;
  const env: Env = { ...options.env, sleep: async () => {} };
  const startedAt = env.now();
  const states = new IncrementalStates({
    state: options.state,
    startedAt,
    period: options.period,
    log: silentLog,
  });
  const { connection, contexts, evaluate, callAt, stateOf } = openConfig({
    ...options,
    config,
    effective,
    time,
    states,
    env,
    log: silentLog,
    cacheFolder: '',
    bottom: keep,
  });
  try {
    const previews: JobPreview[] = [];
    for (const job of parseJobs(effective.jobs, effective.jobsAt, [], config.api.defaultOptions)) {
      const { scroller, queryParamIn } = job;
      const { run, state, windows } = firstRunOf(job, {
        startedAt,
        callAt,
        stateOf,
        period: options.period,
        contexts,
        log: silentLog,
      });
      if (run === undefined) {
        previews.push({ job: job.name, at: job.at, windows: 0, children: [] });
        continue;
      }
      const written = firstRequest(askedFirst(job), run, evaluate, contexts);
      const asked = state === undefined ? written : state.put(written);
      const paginated = {
        ...asked,
        ...(scroller === undefined ? {} : { scroller }),
        ...(queryParamIn === undefined ? {} : { queryParamIn }),
      };
      const pagination = job.export === undefined ? paginationOf(job, config.api) : NOT_PAGED;
      const paginator = createPaginator(pagination.options, paginated, {
        parseTime: strtotime,
        call: callAt(() => env.now()),
        at: pagination.at,
        ...(methods === undefined ? {} : { methods }),
      });
      const wire = connection.buildRequest(paginator.first(env.now()).request, job.name);
      const kept = await keptBy(connection.send, wire);
      const isLogin = kept.isLogin === true;
      previews.push({
        job: job.name,
        at: job.at,
        ...(isLogin ? { login: shown(kept, secrets) } : {}),
        request: shown(isLogin ? wire : kept, secrets),
        ...(windows === undefined ? {} : { windows }),
        children: job.children.map(childPreview),
      });
    }
    return previews;
  } finally {
    await connection.close();
  }
}

/** The run that begins first, and how many windows there are. */
/** The files of an export have pages, and not what comes before them. */
const NOT_PAGED = { options: null, at: 'parameters.api.pagination' };

function firstRunOf(
  job: Job,
  options: WindowPlanOptions,
): {
  readonly run: JobInvocation | undefined;
  readonly state: RunState | undefined;
  readonly windows?: number;
} {
  const now = (): number => options.startedAt;
  const place = { above: [], step: { job: job.name, index: 0, iteration: 0 } };
  const runs = planRuns(job, { run: ROOT_RUN, place }, options);
  const [first] = runs;
  const { computed } = askedFirst(job);
  const run = first && withComputed(first.run, computed, options.callAt(now), options.contexts);
  return {
    run,
    state: run && beginState(job, run, first?.state, options.contexts),
    ...(job.windows === undefined ? {} : { windows: runs.length }),
  };
}

/** Returns the first request of an export; the job itself if it has none. */
function askedFirst(job: Job): Job {
  return job.export?.create ?? job.export?.poll?.request ?? job;
}

function childPreview(job: Job): ChildPreview {
  const { name, at, method, endpoint, params } = job;
  return {
    job: name,
    at,
    method,
    endpoint,
    ...(isEmpty(params) ? {} : { params: toJsonText(params) }),
    children: job.children.map(childPreview),
  };
}

/** A request that came to the end of the chain. */
class Kept extends Error {
  readonly request: ApiRequest;
  constructor(request: ApiRequest) {
    super('a preview sends nothing');
    this.request = request;
  }
}

/** Stands in the network's place. */
const keep: Send = async (request) => {
  throw new Kept(request);
};

async function keptBy(send: Send, request: ApiRequest): Promise<ApiRequest> {
  try {
    await send(request, { signal: new AbortController().signal });
  } catch (error) {
    if (error instanceof Kept) return error.request;
    throw error;
  }
  throw new Error('a preview got an answer');
}

function shown({ method, url, headers, body }: ApiRequest, secrets: Secrets): ShownRequest {
  return {
    method,
    url: secrets.redactUrl(url),
    headers: secrets.redactHeaders(headers),
    ...(body === undefined ? {} : { body: secrets.redactBody(Buffer.from(body).toString('utf8')) }),
  };
}
