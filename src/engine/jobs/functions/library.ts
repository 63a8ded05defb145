import type { Env } from '../../../lib/env.ts';
import { type Json } from '../../../lib/json/index.ts';
import {
  bytesOf,
  CallError,
  isListArgument,
  isMapArgument,
  itemsOf,
  secondsOf,
  textOf,
  type Argument,
} from './arguments.ts';
import { formatDate } from './date.ts';
import { DATES, zoneNamed } from './dates.ts';
import { EXTREMES } from './extremes.ts';
import type { LibraryFunction } from './function.ts';
import { digest, hmac } from './hash.ts';
import { NUMBERS } from './numbers.ts';
import { PYTHON } from './python.ts';
import { sprintf } from './sprintf.ts';
import { strtotime } from './strtotime.ts';
import { TEXTS } from './texts.ts';
import { urlencode } from './urlencode.ts';
import { isFalse, VALUES } from './values.ts';

/** All functions by name. `raw`: true gives bytes in place of hexadecimal text. */
export const LIBRARY: Readonly<Record<string, LibraryFunction>> = {
  md5: {
    usage: 'md5(text[, raw])',
    description: 'The MD5 of a text in hexadecimal.',
    arity: [1, 2],
    call: ([text, raw]) => hexOrRaw(digest('md5', bytesOf(text)), raw),
  },
  sha1: {
    usage: 'sha1(text[, raw])',
    description: 'The SHA-1 of a text in hexadecimal.',
    arity: [1, 2],
    call: ([text, raw]) => hexOrRaw(digest('sha1', bytesOf(text)), raw),
  },
  time: {
    usage: 'time()',
    description: 'The current time in seconds since 1970.',
    arity: [0, 0],
    call: (_, env) => nowSeconds(env),
  },
  date: {
    usage: 'date(format[, timestamp[, zone]])',
    description:
      'A time, by default the current one, as text in UTC or another zone (“Europe/Prague”, “+02:00”), by the format letters of PHP.',
    arity: [1, 3],
    call: ([format, timestamp, zone], env) =>
      formatDate(
        textOf(format),
        timestamp === undefined ? nowSeconds(env) : secondsOf(timestamp),
        zone === undefined || zone === null ? undefined : zoneNamed(textOf(zone)),
      ),
  },
  strtotime: {
    usage: 'strtotime(text[, base])',
    description:
      'Seconds since 1970 of a date in words or digits (“-7 days”, “last monday”, “2017-10-21”), in UTC; false when it cannot be read.',
    arity: [1, 2],
    call: ([text, base], env) =>
      strtotime(textOf(text), base === undefined ? nowSeconds(env) : secondsOf(base)),
  },
  base64_encode: {
    usage: 'base64_encode(text)',
    description: 'The Base64 of a text in UTF-8.',
    arity: [1, 1],
    call: ([text]) => Buffer.from(bytesOf(text)).toString('base64'),
  },
  hash_hmac: {
    usage: 'hash_hmac(algorithm, text, key[, raw])',
    description: 'The keyed digest (HMAC) of a text in hexadecimal.',
    arity: [3, 4],
    call: ([algorithm, text, key, raw]) =>
      hexOrRaw(hmac(textOf(algorithm), bytesOf(text), bytesOf(key)), raw),
  },
  hash: {
    usage: 'hash(algorithm, text[, raw])',
    description: 'The digest or checksum of a text in hexadecimal.',
    arity: [2, 3],
    call: ([algorithm, text, raw]) => hexOrRaw(digest(textOf(algorithm), bytesOf(text)), raw),
  },
  sprintf: {
    usage: 'sprintf(format, value, …)',
    description: 'Values put into a text by a format such as “%s-%05d”.',
    arity: [1, Infinity],
    call: ([format, ...values]) => sprintf(textOf(format), values),
  },
  concat: {
    usage: 'concat(value, …)',
    description: 'All values joined as text.',
    arity: [0, Infinity],
    call: (values) =>
      values.some((value) => value instanceof Uint8Array)
        ? Buffer.concat(values.map(bytesOf))
        : values.map(textOf).join(''),
  },
  ifempty: {
    usage: 'ifempty(value, fallback)',
    description: 'The value, or the fallback when it is empty (null, false, 0, "", "0", no items).',
    arity: [2, 2],
    takesNothing: true,
    call: ([value = null, fallback = null]) => (isFalse(value) ? fallback : value),
  },
  implode: {
    usage: 'implode(delimiter, list)',
    description: 'The items of a list joined as text.',
    arity: [1, 2],
    call: (args) => implode(args),
  },
  ...NUMBERS,
  ...EXTREMES,
  ...TEXTS,
  ...DATES,
  ...VALUES,
  ...PYTHON,
  urlencode: {
    usage: 'urlencode(text)',
    description: 'A text encoded for a URL, with + for a space; in placeholders of child jobs only.',
    arity: [1, 1],
    placeholdersOnly: true,
    call: ([text]) => urlencode(bytesOf(text)),
  },
};

function nowSeconds(env: Env): number {
  return Math.floor(env.now() / 1000);
}

function hexOrRaw(bytes: Uint8Array, raw: Argument | undefined): Argument {
  return raw === undefined || isFalse(raw) ? Buffer.from(bytes).toString('hex') : bytes;
}

/** Joins a list to a text; the list may come first, or alone, as in PHP. */
function implode([first, second]: readonly Argument[]): Json {
  const [delimiter, list] = hasItems(first) ? [second, first] : [first, second];
  if (!hasItems(list)) throw new CallError('neither argument is a list');
  return itemsOf(list)
    .map(textOf)
    .join(delimiter === undefined ? '' : textOf(delimiter));
}

function hasItems(value: Argument | undefined): boolean {
  return isListArgument(value) || isMapArgument(value);
}
