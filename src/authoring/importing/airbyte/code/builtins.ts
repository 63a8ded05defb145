import type { PythonNode } from '../../python/python-file.ts';
import { constant, isConstant, type Expression } from '../jinja/ast.ts';
import { fold } from '../jinja/fold.ts';
import type { ManifestComponent } from '../component.ts';
import { get, isMap } from '../node.ts';
import { durationWords } from '../time-format.ts';
import { dayText } from './moments.ts';
import { signedBy } from './signed-token.ts';
import {
  dict,
  entryExpression,
  isExpression,
  joined,
  keyOf,
  type CodeReader,
  type CodeValue,
} from './values.ts';

/** Arguments of a call. */
export interface CallArguments {
  readonly positional: readonly CodeValue[];
  readonly named: ReadonlyMap<string, CodeValue>;
}

/** Modules and functions whose calls change nothing. */
const SILENT = /(?:^|\.)(?:logger|logging|warnings)\.|^(?:print|super)$/;

const NOW =
  /^(?:pendulum\.(?:now|utcnow)|time\.time|datetime\.datetime\.(?:now|utcnow)|airbyte_cdk\.utils\.datetime_helpers\.ab_datetime_now)$/;

/** Returns what a function of a module or a builtin gives. */
export function callBuiltin(
  object: CodeReader,
  path: string,
  args: CallArguments,
  at: PythonNode,
): CodeValue {
  const { positional, named } = args;
  const [first, second, third] = positional;
  if (path.endsWith('.getLogger')) return { kind: 'module', path: 'logging' };
  if (SILENT.test(path)) return constant(null);
  // what only says how long to wait
  if (/(?:^|\.)\w+BackoffStrategy$/.test(path)) return { kind: 'module', path };
  if (NOW.test(path))
    return {
      kind: 'moment',
      call: object.now,
      ...(path.endsWith('.ab_datetime_now') ? { isIso: true } : {}),
    };
  // what is made by the functions of the other tool has one form, whatever is asked for
  if (path.endsWith('.ab_datetime_format') && first?.kind === 'moment' && first.isIso === true) {
    const text = dayText(first, '%Y-%m-%dT%H:%M:%S.%f+00:00');
    if (text !== undefined) return text;
  }
  // what only sends, says how fast, or parses
  if (SPEED.test(path) || /\.(?:HttpClient|NoAuth|JsonParser)$/.test(path)) return { kind: 'module', path };
  if (path.endsWith('.InterpolatedString.create')) {
    if (first?.kind === 'module' && first.path.endsWith('.EmptyString'))
      return { kind: 'template', node: '' };
    if (first?.kind === 'template') return first;
    if (first?.kind === 'written') return { kind: 'template', node: first.node };
    const text = first === undefined ? undefined : object.textOf(first);
    if (text !== undefined) return { kind: 'template', node: text };
  }
  if (path === 'base64.b64encode' && first !== undefined)
    return call('filter', 'base64encode', object.expressionOf(first, at));
  if (path === 'datetime.timedelta' && positional.length === 0 && named.size === 1) {
    const [[unit = '', count = constant(null)] = []] = named;
    const of = object.expressionOf(count, at);
    const factor = SECONDS.get(unit);
    if (factor === 1) return { kind: 'seconds', seconds: of };
    if (factor !== undefined && isConstant(of) && typeof of.value === 'number')
      return { kind: 'seconds', seconds: constant(of.value * factor) };
  }
  if (/^uuid\.uuid[14]$/.test(path)) return { kind: 'unique' };
  if (path === 'jwt.encode') {
    const signed = signedBy(positional, named, (value) => object.textOf(value));
    if (signed !== undefined) return signed;
  }
  if (path === 'set' && positional.length === 0) return { kind: 'set' };
  if (path === 'set' && first !== undefined) return withoutDoubles(object, first, at);
  if (path === 'bool' && first !== undefined) return constant(object.isTrue(first));
  if ((path === 'str' || path === 'int' || path === 'bytes') && first !== undefined) {
    if (path === 'str' && isExpression(first)) return call('filter', 'string', first);
    return first;
  }
  if (path.endsWith('.BasicHttpAuthenticator')) {
    const [user, password] = ['username', 'password'].map((key) => rendered(object, named.get(key), at));
    if (user !== undefined && password !== undefined) return { kind: 'basic', user, password };
  }
  if (/^(?:isodate\.)?parse_duration$/.test(path) && first !== undefined) {
    const words = durationWords(object.textOf(first) ?? '')?.split(' ') ?? [];
    const [count, unit] = words;
    if (words.length === 2 && unit?.startsWith('second') === true)
      return { kind: 'seconds', seconds: constant(Number(count)) };
  }
  if (path.endsWith('.InterpolatedRequestOptionsProvider')) {
    for (const [name, value] of named) {
      const isOwn = value.kind === 'written' && value.node === object.component.get(name);
      const isNone = value.kind === 'constant' && value.value === null;
      if (!isOwn && !isNone && name !== 'config' && name !== 'parameters') throw object.refused(at);
    }
    return { kind: 'options', keys: new Set(named.keys()) };
  }
  if (path.endsWith('.InterpolatedRequestInputProvider')) {
    const inputs = named.get('request_inputs');
    if (inputs === undefined) return { kind: 'inputs', entries: [] };
    const entries = object
      .entries(inputs, at)
      .map(([name, item]) => [name, templateOf(object, item, at)] as const);
    return { kind: 'inputs', entries };
  }
  if (path === 'pkgutil.get_data' && second !== undefined && object.textOf(second) === 'manifest.yaml')
    return { kind: 'given', name: MANIFEST };
  if (path === 'yaml.safe_load' && first?.kind === 'given' && first.name === MANIFEST)
    return { kind: 'written', node: object.manifest };
  if (path.endsWith('.JsonFileSchemaLoader')) {
    const parameters = named.get('parameters');
    const name = parameters?.kind === 'dict' ? parameters.entries.get('name') : undefined;
    const schema = name === undefined ? undefined : object.schemaOf(object.textOf(name) ?? '');
    if (schema !== undefined) return { kind: 'schema', node: schema };
  }
  if (/(?:^|\.)StreamSlice$/.test(path)) return dict(named);
  if (/^dpath(?:\.util)?\.(?:get|values)$/.test(path) && first !== undefined && second !== undefined) {
    const text = object.textOf(second);
    const keys =
      text === undefined
        ? object.items(second, at).map((key) => object.expressionOf(key, at))
        : text.split('/').map((key) => constant(key));
    // in the versions that such code is written for a decoder gives the answer itself
    const [only = first, ...more] = first.kind === 'items' ? first.values : [];
    const whole = more.length === 0 ? only : first;
    if (path.endsWith('.get')) {
      const of = object.expressionOf(whole, at);
      return keys.reduce<Expression>((inner, key) => ({ kind: 'item', of: inner, key }), of);
    }
    const names = keys.flatMap((key) => {
      const name = object.textOf(key);
      return name === undefined ? [] : [name];
    });
    const isAnswer = isExpression(whole) && whole.kind === 'name' && whole.name === 'response';
    const from = whole.kind === 'entry' ? whole.path : isAnswer ? [] : undefined;
    if (from !== undefined && names.length === keys.length)
      return { kind: 'entry', path: [...from, ...names] };
  }
  if (path === 'dict') return dict([...(first === undefined ? [] : object.entries(first, at)), ...named]);
  if (path === 'len' && (first?.kind === 'dict' || first?.kind === 'items' || first?.kind === 'written'))
    return constant(object.items(first, at).length);
  if (path === 'range' && positional.length === 1 && first?.kind === 'constant') {
    const count = Number(first.value);
    if (count <= MOST_COUNTED)
      return { kind: 'items', values: Array.from({ length: count }, (_, index) => constant(index)) };
  }
  if (path === 'list' && first !== undefined) return { kind: 'items', values: [...object.items(first, at)] };
  if (path === 'isinstance' && first !== undefined && second?.kind === 'module')
    return constant(isOfType(object, first, second.path, at));
  if (path === 'getattr' && third !== undefined && second !== undefined) {
    const isNone = first?.kind === 'constant' && first.value === null;
    // the client that sends is another one here
    if (isNone || object.textOf(second) === '_http_client') return third;
  }
  if (path === 'hasattr' && first?.kind === 'component' && second !== undefined) {
    const name = object.textOf(second);
    if (name !== undefined)
      return constant(first.component.get(name) !== undefined || isOpenPart(object, first.component, name));
  }
  if (/^requests\.(?:get|post|request)$|^requests\.Session$/.test(path)) {
    const made = object.attributes.get(REQUEST);
    if (made !== undefined) throw object.refused(at, 'several requests');
    const method = path.slice('requests.'.length);
    if (method === 'Session') return { kind: 'module', path: 'requests' };
    const [url, body] = method === 'request' ? [second, undefined] : [first, second];
    const entries = new Map(named);
    if (url !== undefined) entries.set('url', url);
    if (body !== undefined) entries.set(method === 'get' ? 'params' : 'data', body);
    const verb = method === 'request' ? (named.get('method') ?? first) : constant(method.toUpperCase());
    if (verb !== undefined) entries.set('method', verb);
    object.attributes.set(REQUEST, dict(entries));
    return { kind: 'answer' };
  }
  throw object.refused(at);
}

/** Returns the values of a list once each, where they are known; those of a setting are looked at when it is read. */
function withoutDoubles(object: CodeReader, list: CodeValue, at: PythonNode): CodeValue {
  if (isExpression(list) && !isConstant(fold(list, new Map()))) return list;
  const items = object.items(list, at);
  const keys = items.map((item) => keyOf(item));
  return { kind: 'items', values: items.filter((_, index) => keys.indexOf(keys[index] ?? '') === index) };
}

/** Returns a value of the manifest as what its template gives. */
function templateOf(object: CodeReader, value: CodeValue, at: PythonNode): Expression {
  return value.kind === 'written' ? object.component.expression(value.node) : object.expressionOf(value, at);
}

/** Returns a text, or what a template of the manifest gives. */
function rendered(object: CodeReader, value: CodeValue | undefined, at: PythonNode): Expression | undefined {
  if (value === undefined) return undefined;
  return value.kind === 'template' ? object.component.expression(value.node) : object.expressionOf(value, at);
}

/** Classes that say how many requests are sent in some time. */
export const SPEED = /^airbyte_cdk\.sources\.streams\.call_rate\.\w+$/;

/** Seconds of the units of a span of time. */
const SECONDS: ReadonlyMap<string, number> = new Map([
  ['seconds', 1],
  ['minutes', 60],
  ['hours', 3600],
  ['days', 86_400],
  ['weeks', 604_800],
]);

/** Most numbers of a range. */
const MOST_COUNTED = 1000;

/** The file that is imported, where code reads it. */
const MANIFEST = 'manifest';

/** The attribute with the request that the code sends. */
export const REQUEST = ' request';

/** The test of what the manifest does not say of a component: its class in Python, or an attribute. */
export const OF_PART = 'of a part';

function isOpenPart(object: CodeReader, { at }: ManifestComponent, what: string): boolean {
  const of: Expression = { kind: 'name', name: at };
  return object.isTrue({
    kind: 'test',
    name: OF_PART,
    of,
    args: { positional: [constant(what)], named: {} },
  });
}

/** Types by the names that modules have for them. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['List', 'list'],
  ['Dict', 'dict'],
  ['Mapping', 'dict'],
  ['MutableMapping', 'dict'],
]);

/** Tests of templates for types; a text is a sequence for them, too. */
const TESTS: ReadonlyMap<string, string> = new Map([
  ['dict', 'mapping'],
  ['list', 'sequence'],
  ['str', 'string'],
]);

function isOfType(object: CodeReader, given: CodeValue, path: string, at: PythonNode): boolean {
  const type = TYPES.get(path.slice(path.lastIndexOf('.') + 1)) ?? path;
  if (given.kind === 'computed') return object.isTrue({ kind: 'computed', name: `${given.name} as ${type}` });
  const value =
    given.kind === 'entry'
      ? entryExpression(given.path)
      : given.kind === 'written'
        ? constant(given.node)
        : given;
  if (value.kind === 'dict') return type === 'dict';
  if (value.kind === 'items') return type === 'list';
  if (value.kind === 'component') {
    const { className, type: own } = value.component;
    const name = type.slice(type.lastIndexOf('.') + 1);
    if (className === undefined) return own === name;
    return isOpenPart(object, value.component, `is ${name}`);
  }
  // an answer, and no error without one
  if (value.kind === 'answer') return /(?:^|\.)Response$/.test(type);
  if (value.kind === 'constant') {
    const { value: known } = value;
    if (type === 'str') return typeof known === 'string';
    if (type === 'list') return Array.isArray(known);
    if (type === 'dict') return typeof known === 'object' && known !== null && !Array.isArray(known);
  }
  const test = TESTS.get(type);
  if (test !== undefined && isExpression(value) && !isConstant(value))
    return object.isTrue({ kind: 'test', name: test, of: value, args: { positional: [], named: {} } });
  throw object.refused(at, 'the type of a value that is known only while it runs');
}

function call(kind: 'filter', name: string, of: Expression): Expression {
  return fold({ kind, name, of, args: { positional: [], named: {} } }, new Map());
}

/** Returns what a method of a value gives. */
export function callMethod(
  object: CodeReader,
  of: CodeValue,
  name: string,
  { positional, named }: CallArguments,
  at: PythonNode,
): CodeValue {
  const [first, second] = positional;
  if (name === 'eval' && of.kind === 'written') return object.component.expression(of.node);
  if (name === 'eval_request_inputs' && of.kind === 'inputs') return dict(of.entries);
  // it is read again each time, and code may take something out
  if (name === 'get_json_schema' && of.kind === 'schema') return { kind: 'written', node: of.node };
  if (name === 'get_json_schema' && of.kind === 'component') {
    const schema = of.component.type === 'InlineSchemaLoader' ? of.component.get('schema') : undefined;
    if (schema !== undefined) return { kind: 'written', node: schema };
  }
  if (name === 'stream_slices' && of.kind === 'component') return { kind: 'slices', parent: of.component };
  if (name === 'read_records' && of.kind === 'component') {
    const slice = named.get('stream_slice') ?? positional[3];
    const isSliced = slice?.kind === 'slices' && slice.parent.at === of.component.at;
    if (slice !== undefined && !isSliced && slice.kind !== 'constant' && slice.kind !== 'dict')
      throw object.refused(at);
    return { kind: 'records', parent: of.component, isSliced };
  }
  if (name === 'eval' && of.kind === 'template') return object.component.expression(of.node);
  // texts and bytes are one, in UTF-8
  if (name === 'encode' || name === 'decode') return of;
  if (of.kind === 'basic' && name === 'get_auth_header') {
    const pair = call('filter', 'base64encode', joined([of.user, constant(':'), of.password]));
    return dict([['Authorization', joined([constant('Basic '), pair])]]);
  }
  // base64 has no white space
  if (name === 'strip' && of.kind === 'filter' && of.name === 'base64encode') return of;
  if (of.kind === 'answer' && name === 'json') return { kind: 'name', name: 'response' };
  if (of.kind === 'answer' && name === 'raise_for_status') return constant(null);
  if (name === 'update' && of.kind === 'dict') {
    for (const [key, value] of [...(first === undefined ? [] : object.entries(first, at)), ...named])
      of.entries.set(key, value);
    return constant(null);
  }
  if (name === 'get' && first !== undefined && of.kind === 'dict')
    return object.itemOf(of, first) ?? second ?? constant(null);
  if (name === 'get' && first !== undefined && of.kind === 'written' && isMap(of.node)) {
    const found = get(of.node, object.textOf(first) ?? '');
    return found === undefined ? (second ?? constant(null)) : { kind: 'written', node: found };
  }
  if (name === 'get' && first !== undefined && of.kind === 'entry') {
    const key = object.textOf(first);
    if (key !== undefined) return { kind: 'entry', path: [...of.path, key] };
  }
  if (name === 'pop' && first !== undefined && of.kind === 'dict') {
    const found = object.itemOf(of, first);
    of.entries.delete(object.textOf(first) ?? '');
    return found ?? second ?? constant(null);
  }
  if (name === 'keys' && positional.length === 0)
    return { kind: 'items', values: object.entries(of, at).map(([key]) => constant(key)) };
  if (name === 'remove' && of.kind === 'items' && first !== undefined) {
    const wanted = object.textOf(first);
    const index = of.values.findIndex((value) => object.textOf(value) === wanted);
    if (wanted === undefined || index === -1) throw object.refused(at);
    of.values.splice(index, 1);
    return constant(null);
  }
  if (name === 'items' && positional.length === 0)
    return {
      kind: 'items',
      values: object
        .entries(of, at)
        .map(([key, value]): CodeValue => ({ kind: 'items', values: [constant(key), value] })),
    };
  if ((name === 'append' || name === 'extend') && of.kind === 'items' && first !== undefined) {
    of.values.push(...(name === 'append' ? [first] : object.items(first, at)));
    return constant(null);
  }
  if (name === 'join' && first !== undefined) {
    const separator = object.expressionOf(of, at);
    const parts = object.items(first, at).map((item) => object.expressionOf(item, at));
    return joined(parts.flatMap((part, index) => (index === 0 ? [part] : [separator, part])));
  }
  const format = first === undefined ? undefined : object.textOf(first);
  if (name === 'strftime' && of.kind === 'moment' && format !== undefined) {
    const text = dayText(of, format);
    if (text !== undefined) return text;
  }
  if (name === 'add' && of.kind === 'moment' && named.size === 1) {
    const seconds = named.get('seconds');
    if (seconds !== undefined && of.plus === undefined)
      return { ...of, plus: object.expressionOf(seconds, at) };
  }
  if (METHODS.has(name) && (isExpression(of) || of.kind === 'entry')) {
    const args = positional.map((arg) => object.expressionOf(arg, at));
    if (named.size > 0) throw object.refused(at);
    return fold(
      {
        kind: 'call',
        of: { kind: 'item', of: object.expressionOf(of, at), key: constant(name) },
        args: { positional: args, named: {} },
      },
      new Map(),
    );
  }
  throw object.refused(at);
}

/** Methods that templates have, too. */
const METHODS: ReadonlySet<string> = new Set([
  'get',
  'strip',
  'lower',
  'upper',
  'replace',
  'split',
  'startswith',
  'endswith',
]);
