import { TemplateError, type Arguments, type Expression } from '../jinja/ast.ts';
import { durationWords, phpFormat } from '../time-format.ts';
import { isMap, isSequence } from '../node.ts';
import {
  TYPE_WORDS,
  type TemplatePosition,
  type TranslatedJson,
  type TranslatePart,
  type Typed,
  type ValueType,
} from './position.ts';
import { isNumeric } from '../../numeric.ts';
import { asCall, isDefined, type ValueTest } from './key-there.ts';
import {
  call,
  formatted,
  isField,
  NOW,
  python,
  readsRow,
  readsSetting,
  shifted,
  shownField,
  shownValue,
  textOut,
} from './out.ts';

type Translate = (args: Reader) => Typed;

/** Arguments by their place and name. */
class Reader {
  readonly #args: Arguments;
  readonly #of: TranslatePart;

  constructor(args: Arguments, of: TranslatePart) {
    this.#args = args;
    this.#of = of;
  }

  get count(): number {
    return this.#args.positional.length + Object.keys(this.#args.named).length;
  }

  has(index: number, name = ''): boolean {
    return this.#find(index, name) !== undefined;
  }

  typed(index: number, name = ''): Typed {
    const found = this.#find(index, name);
    if (found === undefined) throw new TemplateError('an argument is missing');
    return this.#of(found);
  }

  out(index: number, name = ''): TranslatedJson {
    return textOut(this.typed(index, name));
  }

  /** @throws {TemplateError} unless it is a text that is known now */
  text(index: number, name = ''): string {
    const found = this.#find(index, name);
    if (found?.kind === 'constant' && typeof found.value === 'string') return found.value;
    throw new TemplateError('an argument that is known only while it runs');
  }

  #find(index: number, name: string): Expression | undefined {
    return (
      this.#args.positional[index] ??
      (Object.hasOwn(this.#args.named, name) ? this.#args.named[name] : undefined)
    );
  }
}

/** Returns a value as a time: a number is seconds since 1970, a text is a date. */
function momentOf({ out, type }: Typed, inputFormat?: string): TranslatedJson {
  if (type === 'day') throw new TemplateError('a day where a time or a text is expected');
  if (inputFormat !== undefined) return call('parse_date', out, phpFormat(inputFormat));
  if (type === 'seconds' || type === 'number' || isNumeric(out)) return out;
  if (type === 'text' || !isField(out)) return call('strtotime', out);
  // a number is seconds already
  return call('if', call('is', out, 'matches', '^-?[0-9]+$'), out, call('strtotime', out));
}

/** Methods of values by the types that have them; a value that is read from JSON is never a time. */
const OWNERS: Readonly<Record<string, readonly ValueType[]>> = {
  strftime: ['seconds', 'day'],
  isoformat: ['seconds', 'day'],
  timestamp: ['seconds'],
  values: ['any'],
  keys: ['any'],
};

/** @throws {TemplateError} for a method of another type: the other tool makes nothing of the whole template */
function checkOwner(name: string, { type }: Typed): void {
  const owners = Object.hasOwn(OWNERS, name) ? OWNERS[name] : undefined;
  if (!(owners ?? ['text', 'any']).includes(type))
    throw new TemplateError(`the method ${name} of ${TYPE_WORDS[type]}`);
}

/** Keeps an absent value absent: it has no date. */
function unlessNothing(of: Typed, made: TranslatedJson): TranslatedJson {
  return isField(of.out) ? call('if', call('is', of.out, 'notEmpty'), made, null) : made;
}

const MACROS: Readonly<Record<string, Translate>> = {
  now_utc: () => ({ out: NOW, type: 'seconds' }),
  today_utc: () => ({ out: call('strtotime', 'today', NOW), type: 'day' }),
  today_with_timezone: (args) => ({
    out: call('strtotime', call('date', 'Y-m-d', NOW, args.out(0))),
    type: 'day',
  }),
  json_loads: (args) => ({ out: call('json_decode', args.out(0)), type: 'any' }),
  sanitize_url: (args) => ({ out: quoted(args.out(0), true), type: 'text' }),
  day_delta: (args) => {
    const days = args.typed(0).out;
    if (typeof days !== 'number')
      throw new TemplateError('day_delta of a number that is known only while it runs');
    const format = args.has(1, 'format') ? args.text(1, 'format') : '%Y-%m-%dT%H:%M:%S.%f%z';
    return { out: formatted(shifted(NOW, `${days} days`, false), format), type: 'text' };
  },
  duration: (args) => {
    const words = durationWords(args.text(0));
    if (words === undefined) throw new TemplateError(`“${args.text(0)}” is no duration`);
    return { out: words, type: 'span' };
  },
  timestamp: (args) => {
    const of = notTime('timestamp', args.typed(0));
    if (of.type === 'number') return of;
    if (typeof of.out === 'number') return { out: Math.trunc(of.out), type: 'number' };
    if (typeof of.out === 'string' && /\.\d*[1-9]/.test(of.out))
      throw new TemplateError('a fraction of a second');
    if (!readsRow(of.out)) return { out: momentOf(of), type: 'float' };
    return { out: timestampOf(of), type: 'any' };
  },
  str_to_datetime: (args) => ({
    out: momentOf(notTime('str_to_datetime', args.typed(0))),
    type: 'seconds',
  }),
  format_datetime: (args) => {
    const input = args.has(2, 'input_format') ? args.text(2, 'input_format') : undefined;
    const of = args.typed(0);
    const format = args.text(1, 'format');
    const moment = momentOf(of, input);
    return { out: unlessNothing(of, withFraction(of.out, moment, format)), type: 'text' };
  },
  max: (args) => extreme('max', args),
  min: (args) => extreme('min', args),
};

/** Returns a number of a record as a whole one, and the seconds of a date with their fraction. */
function timestampOf(of: Typed): TranslatedJson {
  const isText = call('is', call('json_encode', of.out), 'startsWith', '"');
  const ofDate = secondsWith(call('strtotime', call('python_text', of.out)), of.out);
  return call('if', isText, ofDate, python('int', of, { out: null, type: 'any' }));
}

/** Returns whole seconds as a number with the fraction that a text of a time has. */
function secondsWith(seconds: TranslatedJson, text: TranslatedJson): TranslatedJson {
  const fraction = call('coalesce', call('match', call('python_text', text), `${FRACTION})`), '.0');
  return call('python', 'float', call('concat', seconds, fraction), null);
}

/** Beginning of the expression that finds the fraction of a second, which a group begins before. */
const FRACTION = ':[0-9]{2}(\\.[0-9]{1,6}';

/** Formats of a time in units below a second, and how many of them a second has. */
const UNITS: Readonly<Record<string, number>> = { '%ms': 1000, '%epoch_microseconds': 1_000_000 };

/** Formats a time that is read from a text, with the fraction of a second that the text has. */
function withFraction(text: TranslatedJson, moment: TranslatedJson, format: string): TranslatedJson {
  const unit = Object.hasOwn(UNITS, format) ? UNITS[format] : undefined;
  if (!readsRow(text) || (unit === undefined && !/%f|%_ms|%s_as_float/.test(format)))
    return formatted(moment, format);
  if (unit !== undefined)
    return call('python_text', call('python', 'int', call('python', '*', secondsWith(moment, text), unit)));
  if (format === '%s_as_float') return call('python_text', secondsWith(moment, text));
  const found = call('match', call('python_text', text), FRACTION.replace('(\\.', '\\.(') + ')');
  const digits = call('concat', call('coalesce', found, ''), '000000');
  const parts = format.split(/(%f|%_ms)/).map((part): TranslatedJson => {
    if (part === '%f') return call('substr', digits, 0, 6);
    if (part === '%_ms') return call('substr', digits, 0, 3);
    return part === '' ? '' : formatted(moment, part);
  });
  return call('concat', ...parts.filter((part) => part !== ''));
}

/** Encodes a text for an address; a tilde stays, and a space is a plus sign where `isPlus`. */
function quoted(text: TranslatedJson, isPlus: boolean): TranslatedJson {
  const encoded = call('replace', call('urlencode', text), '%7E', '~');
  return isPlus ? encoded : call('replace', call('replace', encoded, '+', '%20'), '%2F', '/');
}

/** @throws {TemplateError} for a time, where a text of one is read */
function notTime(name: string, of: Typed): Typed {
  if (of.type === 'seconds') throw new TemplateError(`${name} of a time`);
  return of;
}

function extreme(name: 'max' | 'min', args: Reader): Typed {
  const values = Array.from({ length: args.count }, (_, index) => args.typed(index));
  const [first] = values;
  if (first === undefined || values.length < 2) throw new TemplateError(`${name} of one value`);
  const type = values.every((value) => value.type === first.type) ? first.type : 'any';
  return { out: call(name, ...values.map(({ out }) => out)), type };
}

/** Arguments that methods and filters take; one more would mean something that is not said here. */
const MOST: Readonly<Record<string, number>> = {
  strftime: 1,
  isoformat: 2,
  replace: 2,
  split: 1,
  join: 1,
  strip: 1,
  lstrip: 1,
  rstrip: 1,
  startswith: 1,
  endswith: 1,
  round: 1,
  hash: 2,
  hmac: 2,
  regex_search: 1,
  default: 2,
  d: 2,
  int: 1,
};

function checkCount(name: string, args: Reader): void {
  const most = Object.hasOwn(MOST, name) ? (MOST[name] ?? 0) : 0;
  if (args.count > most) throw new TemplateError(`${name} with ${args.count} arguments`);
}

/** Forms of `isoformat`; a moment is whole seconds here. */
const TIMESPECS: Readonly<Record<string, string>> = {
  auto: 'H:i:s',
  hours: 'H',
  minutes: 'H:i',
  seconds: 'H:i:s',
  milliseconds: 'H:i:s.v',
  microseconds: 'H:i:s.u',
};

/** Methods of texts, moments and lists. */
const METHODS: Readonly<Record<string, (self: Typed, args: Reader) => Typed>> = {
  strftime: (self, args) => ({ out: formatted(self.out, args.text(0)), type: 'text' }),
  isoformat: (self, args) => {
    if (self.type === 'day') return { out: textOut(self), type: 'text' };
    const separator = args.has(0, 'sep') ? args.text(0, 'sep') : 'T';
    const span = args.has(1, 'timespec') ? args.text(1, 'timespec') : 'auto';
    const time = Object.hasOwn(TIMESPECS, span) ? TIMESPECS[span] : undefined;
    if (time === undefined || separator.length !== 1) throw new TemplateError(`isoformat with “${span}”`);
    return { out: call('date', `Y-m-d\\${separator}${time}P`, self.out), type: 'text' };
  },
  timestamp: (self) => ({ out: self.out, type: 'float' }),
  lower: (self) => ({ out: call('lower', textOut(self)), type: 'text' }),
  upper: (self) => ({ out: call('upper', textOut(self)), type: 'text' }),
  strip: (self, args) => ({
    out: call('trim', textOut(self), ...(args.has(0) ? [args.text(0)] : [])),
    type: 'text',
  }),
  lstrip: (self, args) => ({
    out: call('match', textOut(self), `(?s)^${charactersOf(args)}*(.*)$`),
    type: 'text',
  }),
  rstrip: (self, args) => ({
    out: call('match', textOut(self), `(?s)^(.*?)${charactersOf(args)}*$`),
    type: 'text',
  }),
  replace: (self, args) => ({ out: call('replace', textOut(self), args.out(0), args.out(1)), type: 'text' }),
  split: (self, args) => ({ out: call('split', textOut(self), args.text(0)), type: 'list' }),
  join: (self, args) => {
    if (typeof self.out !== 'string') throw new TemplateError('join by what is known only while it runs');
    return joined(args.typed(0), self.out);
  },
  values: (self) => ({ out: call('values', self.out), type: 'list' }),
  keys: (self) => ({ out: call('keys', self.out), type: 'list' }),
  startswith: (self, args) => ({
    out: call('is', textOut(self), 'startsWith', args.out(0)),
    type: 'boolean',
  }),
  endswith: (self, args) => ({ out: call('is', textOut(self), 'endsWith', args.out(0)), type: 'boolean' }),
};

function charactersOf(args: Reader): string {
  return args.has(0) ? `[${args.text(0).replaceAll(/[\\\]^-]/g, '\\$&')}]` : '\\s';
}

/** Translates a call of a macro, or of a method of a value. */
export function callOf(expression: Extract<Expression, { kind: 'call' }>, translate: TranslatePart): Typed {
  const { of, args } = expression;
  const reader = new Reader(args, translate);
  if (of.kind === 'name') {
    const macro = Object.hasOwn(MACROS, of.name) ? MACROS[of.name] : undefined;
    if (macro === undefined) throw new TemplateError(`the function ${of.name}`);
    return macro(reader);
  }
  if (of.kind === 'item' && of.key.kind === 'constant' && typeof of.key.value === 'string') {
    const name = of.key.value;
    const method = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
    if (method === undefined) throw new TemplateError(`the method ${name}`);
    checkCount(name, reader);
    const self = translate(of.of);
    checkOwner(name, self);
    return method(self, reader);
  }
  throw new TemplateError('a call that has no counterpart');
}

const FILTERS: Readonly<Record<string, (self: Typed, args: Reader) => Typed>> = {
  string: ({ out, type }) => {
    // true is written as JSON, and a number stays a text
    if (type === 'boolean') return { out: call('if', out, 'true', 'false'), type: 'text' };
    return { out: type === 'number' ? call('python_text', out) : textOut({ out, type }), type: 'text' };
  },
  safe: (self) => self,
  int: (self, args) => ({
    out: wholeNumber(self, args.has(0, 'default') ? args.typed(0, 'default').out : 0),
    type: 'number',
  }),
  float: (self) => ({ out: call('number', notTime('float', self).out, 0), type: 'any' }),
  abs: (self) => ({ out: call('abs', self.out), type: self.type }),
  round: (self, args) => ({
    out: call('round', self.out, ...(args.has(0) ? [args.typed(0).out] : [])),
    type: 'any',
  }),
  lower: (self) => ({ out: call('lower', textOut(self)), type: 'text' }),
  upper: (self) => ({ out: call('upper', textOut(self)), type: 'text' }),
  trim: (self) => ({ out: call('trim', textOut(self)), type: 'text' }),
  replace: (self, args) => ({ out: call('replace', textOut(self), args.out(0), args.out(1)), type: 'text' }),
  join: (self, args) => joined(self, args.has(0) ? args.text(0) : ''),
  length: lengthOf,
  count: lengthOf,
  first: (self) => ({ out: call('get', self.out, '$[0]'), type: 'any' }),
  last: (self) => ({ out: call('get', self.out, '$[-1]'), type: 'any' }),
  list: (self) => ({ out: self.out, type: 'list' }),
  tojson: (self) => ({ out: call('json_encode', self.out), type: 'text' }),
  urlencode: (self) => ({ out: quoted(textOut(self), false), type: 'text' }),
  base64encode: (self) => ({ out: call('base64_encode', textOut(self)), type: 'text' }),
  base64binascii_decode: (self) => ({ out: call('base64_encode', textOut(self)), type: 'text' }),
  base64decode: (self) => ({ out: call('base64_decode', textOut(self)), type: 'text' }),
  hash: (self, args) => {
    const algorithm = args.has(0, 'hash_type') ? args.text(0, 'hash_type') : 'md5';
    const text = args.has(1, 'salt') ? call('concat', textOut(self), args.out(1, 'salt')) : textOut(self);
    return { out: call('hash', algorithm, text), type: 'text' };
  },
  hmac: (self, args) => ({
    out: call(
      'hash_hmac',
      args.has(1, 'hash_type') ? args.text(1, 'hash_type') : 'sha256',
      textOut(self),
      args.out(0, 'key'),
    ),
    type: 'text',
  }),
  regex_search: (self, args) => ({
    out: call('python', 'or', call('match', textOut(self), oneGroup(args.text(0))), ''),
    type: 'text',
  }),
};

/** Tells if a list is that of several parts in one request, whose values are joined by commas. */
export function isGroup(list: Typed): boolean {
  return list.type === 'list' && isMap(list.out) && list.out['placeholder'] !== undefined;
}

function lengthOf(self: Typed): Typed {
  const of = isGroup(self) ? call('split', self.out, ',') : self.out;
  return { out: call('length', of), type: 'number' };
}

/** Returns joined values; those of several parent rows are joined by commas already. */
function joined(self: Typed, by: string): Typed {
  // a list that is not given is an empty text as a setting
  const isSetting = isMap(self.out) && self.out['attr'] !== undefined;
  const items = isSetting ? call('ifempty', self.out, []) : self.out;
  if (!isGroup(self)) return { out: call('implode', by, items), type: 'text' };
  return { out: by === ',' ? self.out : call('replace', self.out, ',', by), type: 'text' };
}

/** @param isThere whether the value is defined: null is, in a row and an answer */
function defaultOf(self: Typed, args: Reader, isThere: ValueTest | boolean): Typed {
  const fallback: Typed = args.has(0) ? args.typed(0) : { out: '', type: 'text' };
  const isFalsyToo = args.has(1) && args.typed(1).out === true;
  const out = isFalsyToo
    ? call('ifempty', self.out, fallback.out)
    : typeof isThere === 'boolean'
      ? isThere
        ? self.out
        : fallback.out
      : call('if', asCall(isThere), self.out, fallback.out);
  return { out, type: self.type === fallback.type ? self.type : 'any' };
}

/** Returns a whole number. */
function wholeNumber(self: Typed, fallback: TranslatedJson): TranslatedJson {
  const { out, type } = notTime('int', self);
  if (typeof out === 'number') return Math.trunc(out);
  if (isWhole(out)) return out;
  if (type === 'boolean') return call('if', out, 1, 0);
  const number = type === 'number' || type === 'float' ? out : call('number', out, fallback);
  // of a row or a setting, it may be below zero, and is cut there, too
  return readsRow(out) || readsSetting(out)
    ? call('subtract', number, call('mod', number, 1))
    : call('floor', number);
}

const WHOLE: ReadonlySet<unknown> = new Set(['strtotime', 'parse_date', 'floor', 'length']);
/** Functions that give whole numbers for whole numbers. */
const KEEPS_WHOLE: ReadonlySet<unknown> = new Set(['add', 'subtract', 'multiply', 'abs', 'mod']);

/** Tells if a value is a whole number, whatever it is made of. */
export function isWhole(out: TranslatedJson): boolean {
  if (typeof out === 'number') return Number.isInteger(out);
  if (!isMap(out)) return false;
  const { function: name, args } = out;
  if (WHOLE.has(name)) return true;
  const parts = isSequence(args) ? args : [];
  return KEEPS_WHOLE.has(name) && parts.every(isWhole);
}

/** Returns a text as it is, and anything else as JSON in quotes of three signs, which are taken off when it is read. */
function asJsonText({ out }: Typed): Typed {
  const json = call('python', 'json', out);
  const quoted = call('concat', '"""', json, '"""');
  return { out: call('if', call('is', json, 'startsWith', '"'), out, quoted), type: 'text' };
}

/** Filters that go by the type of a value, which is known only while it runs where it is read from a record. */
const OF_RECORDS: Readonly<Record<string, (self: Typed, args: Reader) => Typed>> = {
  int: (self, args) => ({
    out: python('int', self, ...(args.has(0, 'default') ? [args.typed(0, 'default')] : [])),
    type: 'number',
  }),
  float: (self, args) => ({
    out: python('float', self, ...(args.has(0, 'default') ? [args.typed(0, 'default')] : [])),
    type: 'any',
  }),
  abs: (self) => ({ out: python('abs', self), type: 'any' }),
  join: (self, args) => ({
    out: call('python', 'join', self.out, ...(args.has(0) ? [args.text(0)] : [])),
    type: 'text',
  }),
  list: (self) => ({ out: call('python', 'list', self.out), type: 'list' }),
  first: (self) => ({ out: call('python', 'first', self.out), type: 'any' }),
  last: (self) => ({ out: call('python', 'last', self.out), type: 'any' }),
  string: (self) => (self.type === 'text' ? self : asJsonText(self)),
};
const TIMES: ReadonlySet<ValueType> = new Set(['seconds', 'day', 'span']);

/** Returns a pattern with one group, the only one that counts; lookaround cannot be translated. */
function oneGroup(expression: string): string {
  if (/\(\?(?:=|!|<[=!])|\\[1-9]/.test(expression))
    throw new TemplateError('a regular expression that looks around');
  let groups = 0;
  const only = expression.replace(/\\.|\[(?:\\.|[^\]\\])*\]|\((?!\?)|\(\?P?<\w+>/g, (found) => {
    if (!found.startsWith('(')) return found;
    return ++groups === 1 ? '(' : '(?:';
  });
  if (groups === 0) throw new TemplateError('a regular expression without a group');
  return only;
}

/** Filters that make a text of their value first: null is the text `None` in it. */
const OF_TEXTS: ReadonlySet<string> = new Set(
  'upper lower trim replace hash hmac urlencode base64encode'.split(' '),
);
const LENGTHS: ReadonlySet<string> = new Set(['length', 'count']);

export function filterOf(
  expression: Extract<Expression, { kind: 'filter' }>,
  translate: TranslatePart,
  position: TemplatePosition,
): Typed {
  const isDefault = expression.name === 'default' || expression.name === 'd';
  const filter = Object.hasOwn(FILTERS, expression.name) ? FILTERS[expression.name] : undefined;
  if (filter === undefined && !isDefault) throw new TemplateError(`the filter ${expression.name}`);
  const args = new Reader(expression.args, translate);
  checkCount(expression.name, args);
  if (filter === undefined)
    return defaultOf(translate(expression.of), args, isDefined(expression.of, translate));
  const self = translate(expression.of);
  // what is read from a record may be missing, or of another type
  if (position.hasUndefined !== true || !readsRow(self.out)) return filter(self, args);
  if (LENGTHS.has(expression.name))
    return { out: call('coalesce', call('length', self.out), 0), type: 'number' };
  const ofRecord = Object.hasOwn(OF_RECORDS, expression.name) ? OF_RECORDS[expression.name] : undefined;
  if (ofRecord !== undefined && !TIMES.has(self.type)) return ofRecord(self, args);
  if (!OF_TEXTS.has(expression.name)) return filter(self, args);
  if (isField(self.out)) return filter(shownField(expression.of, self), args);
  return filter(
    self.type === 'any' ? { out: shownValue(expression.of, self.out), type: 'text' } : self,
    args,
  );
}
