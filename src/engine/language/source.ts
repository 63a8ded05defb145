import {
  getKey,
  isNumber,
  isObject,
  keysOf,
  toText,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import { kindOf } from '../../lib/read-settings.ts';
import { meantOr, nearest } from '../../lib/suggest.ts';
import { compileCall } from './call.ts';
import { isKind, KINDS, type SourceKind } from './kinds.ts';
import { readingOf } from './reading.ts';
import { invalidSetting } from './value-settings.ts';
import { transformed, TRANSFORMS } from './transform.ts';
import type { Read, ValueSource, SourceOptions } from './types.ts';

/**
 * Compiles a source as it is written: a text is a path in what is at hand, an object says what else it is.
 *
 * ```
 * "meta.next"   "$.data[-1:].id"   {"header": "X-Next"}   {"last": "id"}   {"link": "next", "param": "after"}
 * {"function": "concat", "args": [{"path": "meta.page"}, "-", {"attr": "account"}]}
 * ```
 *
 * @throws the error of the stage for what is no source
 */
export function compileSource(value: Json, options: SourceOptions): ValueSource {
  const { at, invalid = invalidSetting } = options;
  if (typeof value === 'string' || isNumber(value))
    return sourceOf(readingOf('path', toText(value), options, compileSource), at);
  if (!isObject(value))
    throw invalid(
      at,
      `A source is a path or an object, and here is ${kindOf(value)}.`,
      'Write a path such as "meta.next", or an object such as {"header": "X-Next"}.',
    );
  const kind = kindIn(value, options);
  const called = getKey(value, 'function');
  const reading =
    called === undefined
      ? readingOf(kind, getKey(value, kind) ?? null, options, compileSource, value)
      : compileCall(called, getKey(value, 'args'), options, compileSource);
  return sourceOf(transformed(reading, value, options), at);
}

/** Tells whether an object is written as a source: it has a key that names the kind of its value. */
export function isSourceObject(value: Json): value is AnyObject {
  return isObject(value) && keysOf(value).some((key) => isKind(key) || key === 'function');
}

function sourceOf(reading: Read, at: string): ValueSource {
  return { ...reading, at };
}

/** Returns the key that names the kind of the source; every other key must be known beside it. */
function kindIn(value: AnyObject, { at, kinds, invalid = invalidSetting }: SourceOptions): SourceKind {
  const keys = keysOf(value);
  const found = keys.filter((key) => isKind(key));
  const [kind] = found;
  const known = [...(kinds ?? KINDS), 'function'];
  if (getKey(value, 'function') === undefined && (kind === undefined || found.length > 1)) {
    const near = keys.map((key) => nearest(key, known)).find((name) => name !== undefined);
    throw invalid(
      at,
      kind === undefined
        ? 'This object does not say where its value comes from.'
        : `A source comes from one place, and here are ${found.join(' and ')}.`,
      `${near === undefined || kind !== undefined ? '' : `Did you mean “${near}”? `}It has one of ${known.join(', ')}.`,
    );
  }
  const strange = keys.find((key) => key !== (kind ?? 'function') && !isBeside(key, kind));
  if (strange !== undefined)
    throw invalid(
      `${at}.${strange}`,
      `“${strange}” is not known in a source.`,
      meantOr(
        strange,
        [...TRANSFORMS, ...(kind === undefined ? ['function', 'args'] : [kind, ...besideOf(kind)])],
        `Beside it stand ${[...TRANSFORMS].join(', ')}.`,
      ),
    );
  const isHere = kind === undefined || kinds === undefined || kinds.includes(kind);
  if (isHere) return kind ?? 'value';
  throw invalid(
    `${at}.${kind}`,
    `There is no “${kind}” here.`,
    `Here are ${[...kinds, 'function'].join(', ')}.`,
  );
}

function isBeside(key: string, kind: SourceKind | undefined): boolean {
  const own = kind === undefined ? ['args'] : besideOf(kind);
  return own.includes(key) || (TRANSFORMS as readonly string[]).includes(key);
}

function besideOf(kind: SourceKind): readonly string[] {
  if (kind === 'link') return ['attribute', 'plain'];
  return ['path', 'response', 'row', 'first', 'last', 'min', 'max'].includes(kind) ? ['delimiter'] : [];
}
