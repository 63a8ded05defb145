import { isMap, type ManifestNode } from './node.ts';
import type { TranslatedJson } from './translate/position.ts';

/** The authentication of a row. */
export type Authentication = Readonly<Record<string, TranslatedJson>>;

/** A job while it is put together. */
export interface JobDraft {
  readonly query: Record<string, TranslatedJson>;
  readonly headers: Record<string, TranslatedJson>;
  body: TranslatedJson | undefined;
  bodyFormat: 'json' | 'form' | 'text' | undefined;
}

/** Puts a value somewhere into a job: `{"query": "page"}`, `{"header": "X-Page"}`, `{"body": "variables.after"}`. */
export function putInto(draft: JobDraft, place: ManifestNode, value: TranslatedJson, isForm = false): void {
  if (!isMap(place)) return;
  const { query, header, body } = place;
  if (typeof query === 'string') draft.query[query] = value;
  else if (typeof header === 'string') draft.headers[header] = value;
  else if (typeof body === 'string') {
    draft.body = withValue(draft.body, body.split('.'), value);
    draft.bodyFormat ??= isForm ? 'form' : 'json';
  }
}

function withValue(
  body: TranslatedJson | undefined,
  [key = '', ...rest]: readonly string[],
  value: TranslatedJson,
): TranslatedJson {
  const map = isMap(body) ? body : {};
  return { ...map, [key]: rest.length === 0 ? value : withValue(map[key], rest, value) };
}
