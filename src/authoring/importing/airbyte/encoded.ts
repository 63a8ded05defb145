import { isMap, isSequence } from './node.ts';
import type { TranslatedJson } from './translate/position.ts';

/** Keys of a job that are sent. */
const SENT = ['endpoint', 'params', 'query', 'headers', 'body'];

/**
 * Puts values that are encoded for an address into placeholders: elsewhere they are encoded when they are sent, and the
 * function is not known there.
 *
 * @param freeName returns a name that no placeholder has yet
 */
export function liftEncoded(job: Record<string, TranslatedJson>, freeName: (name: string) => string): void {
  const lifted = new Map<string, { readonly name: string; readonly value: TranslatedJson }>();
  const visit = (value: TranslatedJson): TranslatedJson => {
    if (isSequence(value)) return value.map(visit);
    if (!isMap(value)) return value;
    if (value['function'] !== 'urlencode')
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, visit(item)]));
    const key = JSON.stringify(value);
    const { name } = lifted.get(key) ?? { name: freeName('encoded') };
    lifted.set(key, { name, value });
    return { placeholder: name };
  };
  for (const key of SENT) if (job[key] !== undefined) job[key] = visit(job[key]);
  if (lifted.size === 0) return;
  const { placeholders } = job;
  job['placeholders'] = {
    ...(isMap(placeholders) ? placeholders : {}),
    ...Object.fromEntries([...lifted.values()].map(({ name, value }) => [name, value])),
  };
}
