import { iterationNames } from '../config/iteration-states.ts';
import { paginationOf } from '../config/job-pagination.ts';
import type { CallFunction, Contexts, Evaluate } from '../shared/evaluate.ts';
import { attributesOf } from '../jobs/attributes.ts';
import { createCaller, createEvaluator, strtotime } from '../jobs/functions/index.ts';
import type { EffectiveConfig, ExtractorConfig } from '../config/extractor-config.ts';
import { getKey, objectOf, type AnyObject } from '../../lib/json/index.ts';
import type { PaginationMethod } from '../pagination/index.ts';
import { connect, type ConnectOptions, type ApiConnection } from './connect.ts';
import { IncrementalStates, type StateScope } from './incremental/states.ts';
import { JobRunner, type JobRunnerOptions } from './job-runner.ts';

export interface OpenConfigOptions extends Omit<ConnectOptions, 'evaluate' | 'contexts'> {
  /** Context of `{"time": …}`. */
  readonly time: AnyObject;
  readonly methods?: readonly PaginationMethod[] | undefined;
  /** States of the jobs; none by default. */
  readonly states?: IncrementalStates | undefined;
}

/** Options that differ between a run, a probe and a preview of the same configuration. */
type OwnOptions = Pick<
  JobRunnerOptions,
  'bucket' | 'exchanges' | 'iteration' | 'limit' | 'progress' | 'signal' | 'startedAt'
> &
  Partial<Pick<JobRunnerOptions, 'sample' | 'send' | 'concurrency' | 'isPatient' | 'witnesses'>>;

/** One effective configuration, ready to run jobs. Close its connection at the end. */
export interface OpenConfig {
  readonly evaluate: Evaluate;
  readonly contexts: Contexts;
  readonly callAt: JobRunnerOptions['callAt'];
  readonly stateOf: JobRunnerOptions['stateOf'];
  readonly connection: ApiConnection;
  readonly jobRunner: (own: OwnOptions) => JobRunner;
}

/** @throws {ConfigError} naming the key that is wrong */
export function openConfig(options: OpenConfigOptions): OpenConfig {
  const { config, effective, env, log, secrets, methods, time } = options;
  const { states = new IncrementalStates({ state: {}, startedAt: env.now(), log }) } = options;
  const evaluate = createEvaluator(env);
  const contexts: Contexts = { attr: attributesOf(effective.node), time };
  const connection = connect({ ...options, evaluate, contexts });
  const callAt = (now: () => number): CallFunction => createCaller({ ...env, now }, { placeholders: true });
  const scope = scopeOf(config, effective, contexts['attr']);
  const stateOf: JobRunnerOptions['stateOf'] = (job, { above }) =>
    states.of(job, [...above.map((step) => step.job), job.name], scope);
  return {
    evaluate,
    contexts,
    callAt,
    stateOf,
    connection,
    jobRunner: (own) =>
      new JobRunner({
        send: connection.send,
        buildRequest: connection.buildRequest,
        concurrency: connection.concurrency,
        paginationOf: (job) => paginationOf(job, config.api),
        methods,
        parseTime: strtotime,
        reactions: getKey(config.api.node, 'reactions'),
        evaluateAt: (now) => createEvaluator({ ...env, now }),
        evaluatePlaceholderAt: (now) => createEvaluator({ ...env, now }, { placeholders: true }),
        callAt,
        stateOf,
        period: states.period,
        contexts,
        userData: effective.userData,
        userDataAt: effective.userDataAt,
        compatLevel: effective.compatLevel,
        isExactJson: effective.exactJson,
        ignoreErrors: config.api.ignoreErrors,
        log,
        secrets,
        env,
        ...own,
      }),
  };
}

function scopeOf(
  { api }: ExtractorConfig,
  { own, headers }: EffectiveConfig,
  attr: AnyObject = objectOf([]),
): StateScope {
  return {
    iteration: own === undefined ? undefined : iterationNames(own),
    baseUrl: getKey(api.node, 'baseUrl') ?? null,
    common: objectOf([
      ['headers', headers],
      ['options', api.defaultOptions],
    ]),
    attr,
  };
}
