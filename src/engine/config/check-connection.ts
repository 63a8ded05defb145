import type { Env } from '../../lib/env.ts';
import { AUTH_TYPES, createAuth } from '../http/auth/index.ts';
import { parseBudgets } from '../http/budgets.ts';
import { attributesOf } from '../jobs/attributes.ts';
import { createEvaluator, strtotime } from '../jobs/functions/index.ts';
import { getKey, isObject } from '../../lib/json/index.ts';
import { silentLog } from '../../lib/log.ts';
import { evaluatedBaseUrl, evaluatedHeaders } from './evaluated.ts';
import type { ExtractorConfig } from './extractor-config.ts';

/** Environment for checks: without time and randomness. */
const STILL: Env = {
  now: () => 0,
  randomBytes: (count) => new Uint8Array(count),
  sleep: async () => {},
};

/**
 * Makes address, headers and authentication as a run does before its first request. Nothing is sent. A kind of
 * authentication that a library user added is left to the run.
 *
 * @throws {ExtractorError} what a run would say
 */
export function checkConnection({ api, configs, oauthCredentials }: ExtractorConfig): void {
  const evaluate = createEvaluator(STILL);
  parseBudgets(getKey(api.node, 'budgets'));
  const isOurs = AUTH_TYPES.some(
    ({ type }) => type === (isObject(api.authentication) ? getKey(api.authentication, 'type') : undefined),
  );
  for (const effective of configs) {
    const attributes = attributesOf(effective.node);
    const contexts = { attr: attributes };
    evaluatedBaseUrl(api.baseUrl, evaluate, contexts);
    evaluatedHeaders(effective, evaluate, contexts);
    if (!isOurs) continue;
    createAuth(api.node, {
      env: STILL,
      log: silentLog,
      evaluate,
      attributes,
      config: effective.node,
      oauthCredentials,
      login: async () => {
        throw new Error('a check sends nothing');
      },
      buildRequest: ({ endpoint, method }) => ({ url: endpoint, method, headers: {} }),
      parseTime: strtotime,
      at: 'parameters.api.authentication',
    });
  }
}
