import { entriesOf, getKey, isObject, type Json } from '../../lib/json/index.ts';
import { isOffsetName, isPageName } from './guesses.ts';
import { paramOf, withoutAt, variablesOf } from './params.ts';
import { pageCandidate, offsetCandidate } from './count.ts';
import type { Candidate, Observed } from './candidate.ts';

/** Explains why the pages of a GraphQL query cannot be followed; undefined if they can, or for any other request. */
export function graphAdvice({ target, body }: Observed): string | undefined {
  const variables = variablesOf(target);
  if (variables === undefined || variables.some((name) => /after|cursor|start|page|offset|skip/i.test(name)))
    return undefined;
  return pageInfosIn(body, []).length > 0
    ? 'The next page: the query declares no variable for the cursor. Add one, such as `query($after: String)` and `after: $after`.'
    : 'The next page: the query asks for no `pageInfo { hasNextPage endCursor }`, and declares no variable for a cursor or an offset.';
}

/** Returns candidates for a cursor, a page or an offset among the variables of a GraphQL query. */
export function graph(seen: Observed): Candidate[] {
  const { target, body } = seen;
  const variables = variablesOf(target);
  if (variables === undefined) return [];
  const infos = pageInfosIn(body, []);
  const counts = variables.flatMap((name) => {
    const place = ['variables', name];
    if (isPageName(name)) return [pageCandidate(place, 1, seen)];
    return isOffsetName(name) ? [offsetCandidate(place, 0, seen)] : [];
  });
  const cursors = infos.flatMap((keys) =>
    variables
      .filter((name) => /after|cursor|start|page/i.test(name))
      .map((name): Candidate => {
        const at = keys.join('.');
        const place = ['variables', name];
        return {
          kind: 'token',
          says: `\`${at}.endCursor\` → the variable \`${name}\``,
          pagination: {
            method: 'response.param',
            responseParam: `${at}.endCursor`,
            queryParam: paramOf(place),
            stopWhen: { value: `${at}.hasNextPage`, is: 'false' },
          },
          params: withoutAt(target.params, place),
          isGuess: false,
        };
      }),
  );
  return [...cursors, ...counts];
}

function pageInfosIn(value: Json, keys: readonly string[]): (readonly string[])[] {
  if (!isObject(value) || keys.length > 6) return [];
  return entriesOf(value).flatMap(([key, item]) => {
    const way = [...keys, key];
    return key === 'pageInfo' && isObject(item) && typeof getKey(item, 'endCursor') === 'string'
      ? [way]
      : pageInfosIn(item, way);
  });
}
