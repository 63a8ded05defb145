import type { CallFunction, Contexts } from '../shared/evaluate.ts';
import { isList, isObject, toText, type Json } from '../../lib/json/index.ts';
import { compileCondition } from '../language/index.ts';
import { compileFilter } from './filter.ts';
import { jobError } from './read-job.ts';

/** Which parent rows start a child. */
export type ParentFilter = (row: Json, contexts: Contexts) => boolean;

const HERE = ['path', 'row', 'value', 'firstOf', 'attr', 'time', 'placeholder'] as const;

/**
 * Compiles a `recursionFilter`: a text in the language of filters, or a condition over the parent row; of a list, all
 * must hold.
 *
 * @throws {JobError} for what cannot be read
 */
export function compileParentFilter(filter: Json, at: string, call: CallFunction): ParentFilter {
  if (!isObject(filter) && !isList(filter)) return compileFilter(toText(filter), at);
  const condition = compileCondition(filter, { at, call, kinds: HERE, invalid: jobError }, 'all');
  return (row, contexts) =>
    condition.holds({
      here: (path) => path.find(row),
      row: (path) => path.find(row),
      contexts: () => contexts,
    });
}
