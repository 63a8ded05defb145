import { timeContext } from '../../engine/extract/time.ts';
import { createEvaluator } from '../../engine/jobs/functions/index.ts';
import {
  entriesOf,
  flattenContext,
  isObject,
  objectOf,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import type { Contexts } from '../../engine/shared/evaluate.ts';
import type { Action, ActionContext } from './action.ts';
import { attributes } from './configuration.ts';
import { input, wrongInput } from './input.ts';
import { maskJson } from './mask.ts';

/**
 * `perform_function`: the value of the function in `parameters.__FUNCTION_CFG`, as `{ result }`.
 *
 * It may refer to `attr` (the configuration) and `time` (the state). What only a run would know, such as
 * `placeholder`, `response`, `request` or `query`, is given in `parameters.__FUNCTION_CTX`, a map of the context's
 * name to its values: `{"placeholder": {"value": "7"}}`. Secrets are not shown in the result.
 */
export const performFunction: Action = {
  name: 'perform_function',
  run: async (context) => {
    const { configuration, env, secrets } = context;
    const call = input(configuration, '__FUNCTION_CFG');
    if (!isObject(call))
      throw wrongInput(
        '__FUNCTION_CFG',
        call === undefined ? 'is missing' : 'must be an object',
        'Give a function such as {"function": "md5", "args": ["a"]}.',
      );
    const evaluate = createEvaluator(env, { placeholders: true });
    const result = evaluate(call, contextsOf(context), 'parameters.__FUNCTION_CFG');
    return objectOf([['result', maskJson(result, secrets)]]);
  },
};

function contextsOf({ configuration, state, env }: ActionContext): Contexts {
  const contexts: Record<string, AnyObject> = {
    attr: attributes(configuration),
    time: timeContext(state, Math.floor(env.now() / 1000)),
  };
  const given = input(configuration, '__FUNCTION_CTX') ?? {};
  if (!isObject(given)) throw wrongInput('__FUNCTION_CTX', 'must be an object', HINT);
  for (const [name, values] of entriesOf(given)) contexts[name] = contextOf(name, values);
  return contexts;
}

const HINT = 'Give the values by context: {"placeholder": {"value": "7"}}.';

function contextOf(name: string, values: Json): AnyObject {
  if (typeof values === 'object' && values !== null) return flattenContext(values);
  throw wrongInput('__FUNCTION_CTX', `must have an object at “${name}”`, HINT);
}
