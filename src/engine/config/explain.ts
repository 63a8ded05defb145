import { digKeys, isNumber, isObject, isScalar, keysOf, toText, type Json } from '../../lib/json/index.ts';
import { nearest } from '../../lib/suggest.ts';
import { keysOfPointer, type SchemaError } from './check.ts';
import { isSecretKey } from './secrets.ts';
import { kindOf } from '../../lib/read-settings.ts';

/** A mistake in one place, in plain words. */
export interface ExplainedFinding {
  readonly keys: readonly string[];
  readonly message: string;
  /** Description of a correct value, without the sentence around it. */
  readonly expected: string;
  /** Actual value; never that of a secret. */
  readonly found: string;
  /** A word that may have been meant. */
  readonly suggestion?: string;
}

/**
 * Explains the validator's errors in one sentence for each place. Errors of the branches of a choice are merged: if the
 * value is of the kind of one branch, only that branch counts; else the kinds are listed.
 *
 * @param value the configuration that was checked
 */
export function explain(errors: readonly SchemaError[], value: Json): readonly ExplainedFinding[] {
  const places = new Map<string, SchemaError[]>();
  for (const error of fold(errors)) {
    const id =
      error.keyword === 'required' ? `${error.instancePath} ${missingOf(error)}` : error.instancePath;
    places.set(id, [...(places.get(id) ?? []), error]);
  }
  const findings: ExplainedFinding[] = [];
  for (const group of places.values()) {
    const finding = findingOf(group, value);
    if (finding !== undefined) findings.push(finding);
  }
  return findings;
}

/** Drops `if` and the choices themselves, and of a choice's branches those that are of another kind. */
function fold(errors: readonly SchemaError[]): readonly SchemaError[] {
  const kept: SchemaError[] = [];
  for (const error of errors) {
    if (error.keyword === 'if') continue;
    if (error.keyword !== 'anyOf' && error.keyword !== 'oneOf') {
      kept.push(error);
      continue;
    }
    const branches: SchemaError[] = [];
    while (isInside(kept.at(-1)?.instancePath, error.instancePath)) branches.unshift(...kept.splice(-1));
    const deeper = branches.filter(
      (branch) => branch.keyword !== 'type' || branch.instancePath !== error.instancePath,
    );
    kept.push(...(deeper.length > 0 ? deeper : branches));
  }
  return kept;
}

function isInside(path: string | undefined, place: string): boolean {
  return path !== undefined && (path === place || path.startsWith(`${place}/`));
}

/** The keyword that says most about a place comes first. */
const PRIORITY = ['type', 'enum', 'const', 'required', 'minProperties', 'minItems', 'minLength'];

function findingOf(group: readonly SchemaError[], root: Json): ExplainedFinding | undefined {
  const [first] = [...group].sort((a, b) => rank(a.keyword) - rank(b.keyword));
  if (first === undefined) return undefined;
  const keys = keysOfPointer(first.instancePath);
  const value = digKeys(keys, root);
  if (first.keyword === 'required') return missing(keys, missingOf(first), value);
  const same = group.filter(({ keyword }) => keyword === first.keyword);
  const expected = expectedBy(first.keyword, same);
  const found = foundText(keys, value);
  const suggestion = first.keyword === 'enum' ? nearestWord(value, allowedBy(same)) : undefined;
  const meant = suggestion === undefined ? emptyEndpoint(keys, value) : ` Did you mean “${suggestion}”?`;
  return {
    keys,
    message: `${nameOf(keys)} must be ${expected}, and it is ${found}.${meant}`,
    expected,
    found,
    ...(suggestion === undefined ? {} : { suggestion }),
  };
}

/** Tells whoever wants the base address itself how that is said. */
function emptyEndpoint(keys: readonly string[], value: Json | undefined): string {
  if (keys.at(-1) !== 'endpoint' || value !== '') return '';
  return ' To ask for `api.baseUrl` itself, write its last part here and what is before that there: “users”, and “https://api.example.com/v1/”.';
}

function missing(keys: readonly string[], key: string, value: Json | undefined): ExplainedFinding {
  const present = isObject(value) ? keysOf(value) : [];
  const suggestion = nearest(key, present);
  const meant = suggestion === undefined ? '' : ` Was “${suggestion}” meant for it?`;
  const place = keys.length === 0 ? '' : ` in ${nameOf(keys)}`;
  return {
    keys: [...keys, key],
    message: `\`${key}\` is missing${place}.${meant}`,
    expected: `\`${key}\``,
    found: 'nothing',
    ...(suggestion === undefined ? {} : { suggestion }),
  };
}

function rank(keyword: string): number {
  const index = PRIORITY.indexOf(keyword);
  return index < 0 ? PRIORITY.length : index;
}

function missingOf(error: SchemaError): string {
  return String(error.params['missingProperty']);
}

function expectedBy(keyword: string, errors: readonly SchemaError[]): string {
  const [first] = errors;
  const limit = String(first?.params['limit']);
  switch (keyword) {
    case 'type':
      return listWords(kindsOf(errors.flatMap((error) => error.params['type'])));
    case 'enum':
    case 'const':
      return listWords(allowedBy(errors).filter((text) => text !== '“”' && text !== 'null'));
    case 'minProperties':
    case 'minItems':
    case 'minLength':
      return limit === '1' ? 'filled in' : `of at least ${limit} ${unitOf(keyword)}`;
    case 'maxProperties':
    case 'maxItems':
    case 'maxLength':
      return limit === '0' ? 'an object, or empty' : `of at most ${limit} ${unitOf(keyword)}`;
    case 'minimum':
    case 'exclusiveMinimum':
      return `a number ${keyword === 'minimum' ? 'of at least' : 'above'} ${limit}`;
    case 'maximum':
    case 'exclusiveMaximum':
      return `a number ${keyword === 'maximum' ? 'of at most' : 'below'} ${limit}`;
    case 'pattern':
      return patternWords(String(first?.params['pattern']));
    default:
      return 'something else';
  }
}

function unitOf(keyword: string): string {
  if (keyword.endsWith('Properties')) return 'keys';
  return keyword.endsWith('Items') ? 'items' : 'characters';
}

/** Describes usual patterns in words. */
function patternWords(pattern: string): string {
  if (pattern.includes('out)\\.c-'))
    return 'the name of a bucket without “in.c-” or “out.c-” before it and without a slash, such as “my-api”';
  if (pattern.includes('[Gg][Ee][Tt]')) return listWords(METHODS);
  if (pattern.includes('@*:')) return 'a host such as “api.example.com”, “*.example.com” or “localhost:8080”';
  if (/^\^(?:\\s\*)?(?:\[\+-\]\?|-\?)?(?:\\d|\[0-9\])[+*](?:\\s\*)?\$$/.test(pattern))
    return 'a whole number';
  if (pattern.endsWith('|^auto$')) return 'a whole number, or “auto”';
  if (pattern.includes('\\d') || pattern.includes('[0-9]')) return 'a number';
  if (pattern.includes('https?')) return 'an http or https URL';
  return `a text of the form ${pattern}`;
}

const METHODS = ['“GET”', '“POST”', '“FORM”', '“PUT”', '“PATCH”', '“DELETE”'];

/** Returns the kinds worth naming: an empty list may stand for an object, and null for nothing. */
function kindsOf(types: readonly unknown[]): readonly string[] {
  const isMap = types.includes('object');
  const shown = types.filter((name) => name !== 'null' && !(isMap && name === 'array'));
  return unique(shown.map((name) => KINDS[String(name)] ?? String(name)));
}

const KINDS: Readonly<Record<string, string>> = {
  object: 'an object',
  array: 'a list',
  string: 'a text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
};

/** The words that are allowed, as they are shown. */
function allowedBy(errors: readonly SchemaError[]): readonly string[] {
  const values = errors.flatMap(({ params }): readonly unknown[] => {
    const list = params['allowedValues'];
    return Array.isArray(list) ? list : [params['allowedValue']];
  });
  return unique(values.map((item) => (typeof item === 'string' ? `“${item}”` : String(item))));
}

function nearestWord(value: Json | undefined, allowed: readonly string[]): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  const words = allowed.filter((text) => text.startsWith('“')).map((text) => text.slice(1, -1));
  const lower = value.toLowerCase();
  return words.find((word) => word !== '' && word.toLowerCase() === lower) ?? nearest(value, words);
}

const SHOWN = 60;

/** Returns the value itself if it is short and no secret, else its kind. */
function foundText(keys: readonly string[], value: Json | undefined): string {
  if (!isScalar(value) || typeof value === 'boolean' || value === '' || keys.some(isSecretKey))
    return kindOf(value);
  const text = toText(value);
  if (isNumber(value)) return text;
  return `“${text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text}”`;
}

function nameOf(keys: readonly string[]): string {
  const key = keys.at(-1);
  if (key === undefined) return 'The configuration';
  return /^\d+$/.test(key) ? `\`${keys.at(-2) ?? ''}[${key}]\`` : `\`${key}\``;
}

function listWords(words: readonly string[]): string {
  if (words.length < 2) return words[0] ?? 'something else';
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1) ?? ''}`;
}

function unique<T>(items: readonly T[]): readonly T[] {
  return [...new Set(items)];
}
