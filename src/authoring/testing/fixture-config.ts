import { collectSecrets, isSecretKey } from '../../engine/config/secrets.ts';
import {
  entriesOf,
  getKey,
  isInteger,
  isList,
  isObject,
  numberOf,
  objectOf,
  parseExact,
  toJsonText,
  type Json,
} from '../../lib/json/index.ts';
import { isSecretName } from '../../lib/secrets.ts';

export interface FixtureConfigOptions {
  /** Leaves out what logs in: its answers were not recorded. */
  readonly isOpen: boolean;
  /** Rows of a page, where pages are shortened. */
  readonly rows: number | undefined;
  /** Ids of the rows that stay; all when it is empty. */
  readonly rowIds: readonly string[];
}

/** Creates a configuration without credentials that requests one page at a time. */
export function fixtureConfiguration(configuration: Json, options: FixtureConfigOptions): Json {
  const hidden = new Map<string, string>();
  for (const secret of collectSecrets(configuration)) if (secret !== '') nameOf(secret, hidden);
  return changed(configuration, [], { ...options, hidden });
}

interface Change extends FixtureConfigOptions {
  /** Replacement of each secret. */
  readonly hidden: Map<string, string>;
}

function changed(value: Json, keys: readonly string[], change: Change): Json {
  if (typeof value === 'string') return withoutSecrets(value, keys, change);
  if (isList(value)) {
    const isRows = keys.length === 1 && keys[0] === 'rows' && change.rowIds.length > 0;
    const kept = isRows ? value.filter((row) => isChosen(row, change.rowIds)) : value;
    return kept.map((item) => changed(item, [...keys, ''], change));
  }
  if (isObject(value))
    return objectOf(
      entriesOf(value)
        .filter(([key]) => isKept(key, keys, change))
        .map(
          ([key, item]) => [key, changed(limited(key, item, value, change), [...keys, key], change)] as const,
        ),
    );
  return isSecret(keys) && value !== null && typeof value !== 'boolean' ? 0 : value;
}

function isChosen(row: Json, ids: readonly string[]): boolean {
  const id = isObject(row) ? getKey(row, 'id') : undefined;
  return typeof id === 'string' && ids.includes(id);
}

function isKept(key: string, keys: readonly string[], { isOpen }: Change): boolean {
  const above = keys.at(-1);
  // the order of requests is then the same each time
  if (key === 'concurrency' && above === 'http') return false;
  if (!isOpen) return true;
  return !(key === 'authentication' && above === 'api') && !(key === 'authorization' && above !== 'api');
}

/** Adapts a pagination that goes by the number of rows to the shortened pages. */
function limited(key: string, item: Json, parent: Json, { rows }: Change): Json {
  if (key !== 'limit' || rows === undefined || !isObject(parent) || !isInteger(item)) return item;
  const method = getKey(parent, 'method');
  return method === 'offset' || method === 'pagenum' ? Math.min(numberOf(item), rows) : item;
}

function withoutSecrets(text: string, keys: readonly string[], { hidden }: Change): string {
  if (isSecret(keys)) return text === '' ? text : hiddenText(text, hidden);
  let open = text;
  for (const [secret, name] of hidden) if (secret.length >= SHORTEST) open = open.replaceAll(secret, name);
  return open;
}

/** Shorter ones stand in other texts by chance. */
const SHORTEST = 6;

/** Hides values in a text; JSON text, as credentials of OAuth are, stays JSON. */
function hiddenText(text: string, hidden: Map<string, string>): string {
  if (/^\s*[[{]/.test(text)) {
    try {
      const inside = { isOpen: false, rows: undefined, rowIds: [], hidden };
      return toJsonText(changed(parseExact(text), ['#'], inside));
    } catch {
      // a text like any other
    }
  }
  return nameOf(text, hidden);
}

function nameOf(secret: string, hidden: Map<string, string>): string {
  const known = hidden.get(secret) ?? `secret-${hidden.size + 1}`;
  hidden.set(secret, known);
  return known;
}

/**
 * Tells whether a place is secret: under a key with `#`, or a parameter, header or attribute that is secret by its
 * name.
 */
function isSecret(keys: readonly string[]): boolean {
  if (keys.some(isSecretKey)) return true;
  const [name = '', above = ''] = keys.toReversed();
  return ['params', 'headers', 'config'].includes(above) && isSecretName(name);
}
