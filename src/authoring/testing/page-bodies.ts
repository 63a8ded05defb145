import { RunError } from '../../lib/errors.ts';
import {
  entriesOf,
  isList,
  isNumber,
  isObject,
  objectOf,
  parseExact,
  encodeExact,
  toText,
  type Json,
} from '../../lib/json/index.ts';

/** Changes the bodies of answers for a fixture: fewer rows, and no personal data. */
export class PageBodies {
  readonly #paths: readonly (readonly string[])[];
  readonly #found = new Set<readonly string[]>();
  readonly #masked = new Map<string, number>();

  /** @param mask paths of personal data, such as `email` or `user.name`: they may begin anywhere in an answer */
  constructor(mask: readonly string[]) {
    this.#paths = mask.map((path) => path.split('.'));
  }

  /**
   * @param rows of the page, as they were counted
   * @param most rows that stay; undefined for all
   */
  change(body: Uint8Array, rows: number | undefined, most: number | undefined): Uint8Array {
    const isShorter = most !== undefined && rows !== undefined && rows > most;
    if (body.length === 0 || (!isShorter && this.#paths.length === 0)) return body;
    const text = Buffer.from(body).toString('utf8');
    const value = jsonOf(text);
    const short = isShorter ? cut(value, rows, most) : value;
    return Buffer.from(encodeExact(this.#paths.length === 0 ? short : this.#mask(short, [])));
  }

  /** Paths that were nowhere: a mistake would let personal data through. */
  get unknown(): readonly string[] {
    return this.#paths.filter((path) => !this.#found.has(path)).map((path) => path.join('.'));
  }

  #mask(value: Json, keys: readonly string[]): Json {
    const path = this.#paths.find((each) =>
      each.every((key, i) => keys[keys.length - each.length + i] === key),
    );
    if (path !== undefined) {
      this.#found.add(path);
      return this.#hide(value);
    }
    if (isList(value)) return value.map((item) => this.#mask(item, keys));
    if (!isObject(value)) return value;
    return objectOf(entriesOf(value).map(([key, item]) => [key, this.#mask(item, [...keys, key])] as const));
  }

  /** Hides a value: equal values stay equal, and each keeps its type. */
  #hide(value: Json): Json {
    if (isList(value)) return value.map((item) => this.#hide(item));
    if (isObject(value))
      return objectOf(entriesOf(value).map(([key, item]) => [key, this.#hide(item)] as const));
    if (value === null || typeof value === 'boolean' || value === '') return value;
    const text = toText(value);
    const number = this.#masked.get(text) ?? this.#masked.size + 1;
    this.#masked.set(text, number);
    if (isNumber(value)) return number;
    return /^[^@\s]+@[^@\s]+$/.test(text) ? `masked-${number}@example.com` : `masked-${number}`;
  }
}

function jsonOf(text: string): Json {
  try {
    return parseExact(text);
  } catch (cause) {
    throw new RunError('command.invalid', 'An answer is not JSON, and can be neither masked nor shortened.', {
      hint: 'Leave out --mask and --rows.',
      cause,
    });
  }
}

/** Shortens the list that has as many items as rows were counted, the outermost one. */
function cut(value: Json, rows: number, most: number): Json {
  const place = placeOf(value, rows);
  return place === undefined ? value : shortened(value, place, most);
}

function placeOf(value: Json, rows: number): readonly string[] | undefined {
  let level: (readonly [Json, readonly string[]])[] = [[value, []]];
  while (level.length > 0) {
    const found = level.find(([item]) => isList(item) && item.length === rows);
    if (found !== undefined) return found[1];
    level = level.flatMap(([item, keys]) =>
      isObject(item) ? entriesOf(item).map(([key, inner]) => [inner, [...keys, key]] as const) : [],
    );
  }
  return undefined;
}

function shortened(value: Json, [key, ...rest]: readonly string[], most: number): Json {
  if (key === undefined) return isList(value) ? value.slice(0, most) : value;
  if (!isObject(value)) return value;
  return objectOf(
    entriesOf(value).map(
      ([name, item]) => [name, name === key ? shortened(item, rest, most) : item] as const,
    ),
  );
}
