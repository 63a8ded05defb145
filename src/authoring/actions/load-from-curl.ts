import type { Action, ActionContext } from './action.ts';
import { apiNode, attributes, commonHeaders } from './configuration.ts';
import { inputText } from './input.ts';
import { jobFromCurl } from './curl/job.ts';
import { isHttpUrl } from '../../engine/http/url.ts';
import { createEvaluator } from '../../engine/jobs/functions/index.ts';
import { getKey, isObject, withKey, type Json } from '../../lib/json/index.ts';

/**
 * `load_from_curl`: the curl command in `parameters.__CURL_COMMAND` as a job. What was left out
 * of it is told in `__WARNINGS`, which is there only when something was.
 *
 * The rest of the configuration may be unfinished: base URL and headers are used as far as they are there.
 */
export const loadFromCurl: Action = {
  name: 'load_from_curl',
  run: async (context) => {
    const command = inputText(
      context.configuration,
      '__CURL_COMMAND',
      'Give a command such as "curl https://api.example.com/users".',
    );
    const { job, warnings } = jobFromCurl(command, {
      baseUrl: baseUrlOf(context),
      headers: commonHeaders(context.configuration),
    });
    for (const warning of warnings) context.log.warn(warning);
    return warnings.length === 0 ? job : withKey(job, '__WARNINGS', warnings);
  },
};

function baseUrlOf({ configuration, env, log }: ActionContext): string | undefined {
  const node = getKey(apiNode(configuration), 'baseUrl');
  const value = isObject(node) ? evaluated(node) : node;
  return typeof value === 'string' && isHttpUrl(value) ? value : undefined;

  function evaluated(call: Json): Json | undefined {
    try {
      return createEvaluator(env)(call, { attr: attributes(configuration) }, 'parameters.api.baseUrl');
    } catch (error) {
      log.debug('The base URL could not be evaluated', {
        reason: error instanceof Error ? error.message : '',
      });
      return undefined;
    }
  }
}
