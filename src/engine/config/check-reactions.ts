import type { CallFunction } from '../shared/evaluate.ts';
import { ConfigError } from '../../lib/errors.ts';
import type { Job } from '../jobs/index.ts';
import { getKey, isObject, type Json } from '../../lib/json/index.ts';
import { compileReactions, type Reaction } from '../language/index.ts';
import type { ApiConfig } from './api-config.ts';

/** Types that have no login which could be made anew. */
const WITHOUT_LOGIN = [
  'basic',
  'bearer',
  'apiKey',
  'api-key',
  'query',
  'url.query',
  'headers',
  'oauth10',
  'oauth20',
];

/**
 * Reads the reactions of the API and of all jobs, for their mistakes alone.
 *
 * @throws {ConfigError} naming the key that is wrong
 */
export function checkReactions(api: ApiConfig, jobs: readonly Job[], call: CallFunction): void {
  check(getKey(api.node, 'reactions'), `${api.at}.reactions`);
  for (const job of jobs) checkJob(job);

  function checkJob(job: Job): void {
    check(job.reactions, `${job.at}.reactions`);
    for (const child of job.children) checkJob(child);
  }

  function check(node: Json | undefined, at: string): void {
    const reactions = compileReactions(node, { at, call });
    for (const reaction of reactions) checkLogin(reaction, api);
  }
}

function checkLogin({ do: deed, at }: Reaction, { authentication }: ApiConfig): void {
  if (deed !== 'login') return;
  const type = isObject(authentication) ? getKey(authentication, 'type') : undefined;
  if (typeof type === 'string' && !WITHOUT_LOGIN.includes(type)) return;
  throw new ConfigError('config.invalid', 'There is no login here that could be made anew.', {
    where: { path: `${at}.do` },
    hint: 'Set an “api.authentication” that logs in, such as login or oauth20.clientCredentials, or write "do": "retry".',
  });
}
