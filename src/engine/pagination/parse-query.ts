import { isList, objectOf, type AnyObject, type Json } from '../../lib/json/index.ts';

/**
 * Parses a query string into parameters (encoder B): `+` is a space, a name without `=` is null, a name that comes
 * twice is a list. A leading `?` is left out.
 */
export function parseQuery(query: string): AnyObject {
  const params = new Map<string, Json>();
  for (const pair of query.replace(/^\?/, '').split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decode(equals === -1 ? pair : pair.slice(0, equals));
    const value = equals === -1 ? null : decode(pair.slice(equals + 1));
    const earlier = params.get(name);
    params.set(name, earlier === undefined ? value : [...(isList(earlier) ? earlier : [earlier]), value]);
  }
  return objectOf(params);
}

/** Decodes percent escapes and leaves a broken escape as it is. */
function decode(text: string): string {
  return text
    .replaceAll('+', ' ')
    .replace(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString());
}
