import type { OptionSchema } from '../../../lib/option.ts';
import { getKey, isEmpty, type AnyObject } from '../../../lib/json/index.ts';
import { conditionSchema, type Condition } from '../../language/index.ts';
import type { ConditionReason } from '../../shared/stop-reason.ts';
import { conditionAt } from '../language.ts';
import type { MethodContext } from '../paginator.ts';
import type { StopRule } from './compose.ts';

/**
 * Stops when a condition on the page holds: one, or any of a list.
 *
 * The API says which page it is, and how many there are:
 *
 *     { "items": [{ "id": 1 }], "page": 2, "pages": 2 }
 *
 * Configuration:
 *
 *     { "pagination": { "method": "pagenum", "stopWhen": { "value": "page", "is": "atLeast", "than": { "path": "pages" } } } }
 *
 * Requests:
 *
 *     GET /users?page=1
 *     GET /users?page=2
 *
 * The page on which it holds is the last one, and is written.
 */
export function stopWhen(
  options: AnyObject,
  { at, call }: Pick<MethodContext, 'at' | 'call'>,
): StopRule | undefined {
  const value = getKey(options, 'stopWhen');
  if (value === undefined || isEmpty(value)) return undefined;
  const condition = conditionAt(value, `${at}.stopWhen`, { at, call });
  const { sources, compared } = condition;
  const meaning = meaningOf(condition);
  return {
    key: 'stopWhen',
    needs: {
      conditions: [condition],
      sources,
      // a header may be present on some pages only
      expected: compared.filter(({ path }) => path !== undefined),
    },
    check({ met: [evidence] }) {
      if (evidence === undefined) return { state: null };
      return { stop: { code: 'condition', text: condition.text, evidence, meaning } };
    },
  };
}

/**
 * Returns the kind of a stop: an end announced by the API (`said`), a cut counted by the configuration (`cut`), or a
 * rule.
 */
function meaningOf({ needs: { origins } }: Condition): ConditionReason['meaning'] {
  if (origins.includes('response')) return 'said';
  return origins.includes('rows') || origins.includes('run') ? 'cut' : 'rule';
}

export const STOP_WHEN: OptionSchema = conditionSchema(
  'Stop when',
  'Ends the job after a page of which the condition holds, or one of a list.',
  [
    { value: 'meta.page', is: 'atLeast', than: { path: 'meta.pages' } },
    [{ value: { link: 'next', attribute: 'results' }, is: 'equals', than: 'false' }],
  ],
);
