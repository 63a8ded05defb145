import { Untaken } from './findings.ts';
import { isList, type TranslatedValue, type Value, ValueMap } from './value.ts';

/** Reads `response_actions`: answers that are ignored. The effect of a function cannot be known. @throws {Untaken} */
export function readResponseActions(value: Value | undefined): readonly TranslatedValue[] {
  if (value === undefined || value === null) return [];
  if (!isList(value)) throw new Untaken('response actions that code makes', value);
  return value.map((action) => reactionOf(action));
}

function reactionOf(action: Value): TranslatedValue {
  if (!(action instanceof ValueMap)) throw new Untaken('a response action that is Python code', action);
  const todo = action.get('action');
  if (todo !== 'ignore')
    throw new Untaken(
      typeof todo === 'string' ? `the response action “${todo}”` : 'a response action that is Python code',
      todo ?? action,
    );
  const [status, content] = [action.get('status_code'), action.get('content')];
  const conditions: TranslatedValue[] = [];
  if (status !== undefined && status !== null) {
    if (typeof status !== 'number') throw new Untaken('a status that is no number', status);
    if (status >= 300 && status < 400)
      throw new Untaken('the status of a redirect, which is followed', status);
    conditions.push({ status });
  }
  if (content !== undefined && content !== null) {
    if (typeof content !== 'string') throw new Untaken('a text of the answer that code makes', content);
    // spaces, quotes and escapes may stand in the answer in another way than they are seen here
    if (/["\\{}[\]:,/]|[^\x20-\x7e]/.test(content))
      throw new Untaken('a text that spans several values of the answer', content);
    conditions.push({ value: { response: '.', as: 'text' }, is: 'contains', than: content });
  }
  const [only] = conditions;
  if (only === undefined) throw new Untaken('a response action for every answer', action);
  return { when: conditions.length === 1 ? only : { all: conditions }, do: 'empty' };
}
