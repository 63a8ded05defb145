import { ActionError } from '../../lib/errors.ts';
import { isInteger, isList, isScalar, numberOf, toText } from '../../lib/json/index.ts';
import type { Action, ActionContext } from './action.ts';
import { input, wrongInput } from './input.ts';
import { maskJson } from './mask.ts';
import { proposeMapping } from './propose-mapping.ts';
import { probeSelected } from './selection.ts';

/**
 * `infer_mapping`: makes the request of the job in `parameters.__SELECTED_JOB` and proposes a mapping for its rows
 *. `__NESTING_LEVEL` says how many levels of nested objects become columns, 2 by default;
 * `__PRIMARY_KEY` lists the columns of the primary key.
 */
export const inferMapping: Action = {
  name: 'infer_mapping',
  run: async (context) => {
    const nestingLevel = nestingLevelOf(context);
    const primaryKey = primaryKeyOf(context);
    const { pages, failure } = await probeSelected(context);
    if (failure !== undefined) throw failure;
    const rows = pages.flatMap((page) => page.rows);
    if (rows.length === 0)
      throw new ActionError('action.invalid', 'The request brought no rows to make a mapping of.', {
        hint: 'Check `dataField` and the parameters of the job with the action test_request.',
      });
    const mapping = proposeMapping({
      rows,
      extra: pages.map(({ extra }) => extra),
      nestingLevel,
      primaryKey,
      log: context.log,
    });
    return maskJson(mapping, context.secrets);
  },
};

const DEFAULT_LEVEL = 2;

function nestingLevelOf({ configuration }: ActionContext): number {
  const key = '__NESTING_LEVEL';
  const value = input(configuration, key);
  if (value === undefined || value === '') return DEFAULT_LEVEL;
  if (isInteger(value) && numberOf(value) >= 0) return numberOf(value);
  if (typeof value === 'string' && /^\d{1,4}$/.test(value.trim())) return Number(value);
  throw wrongInput(
    key,
    'must be a whole number of 0 or more',
    'With 1, the column contact_email is made of {"contact": {"email": …}}.',
  );
}

/** Returns the columns of the primary key from a list; one text may name several, with commas between. */
function primaryKeyOf({ configuration }: ActionContext): readonly string[] {
  const key = '__PRIMARY_KEY';
  const value = input(configuration, key);
  if (value === undefined) return [];
  if (typeof value === 'string')
    return value
      .split(',')
      .map((name) => name.trim())
      .filter(Boolean);
  if (isList(value) && value.every((item) => isScalar(item)))
    return value.map((item) => toText(item)).filter(Boolean);
  throw wrongInput(key, 'must be a list of columns', 'For example ["id"].');
}
