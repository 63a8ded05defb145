import type { ManifestComponent } from '../component.ts';
import { get, isMap, isSequence, type ManifestNode } from '../node.ts';
import { constant, isConstant, TemplateError, type Expression } from '../jinja/ast.ts';
import { fold } from '../jinja/fold.ts';
import { isTruthy } from '../jinja/values.ts';
import { noteFixed, type TemplateScope } from '../scope.ts';
import { accessOf } from '../translate/position.ts';
import type { CallArguments } from './builtins.ts';
import type { CodeClass } from './component-code.ts';
import { CodeObject, parametersOf } from './code-object.ts';
import type { BaseClass, CodeRun, Decide } from './code-run.ts';
import { wordsOf } from './explore.ts';
import { isDayText } from './moments.ts';
import { CodeRefused } from './refused.ts';
import { dict, keyOf, type CodeValue } from './values.ts';

/** Decides by the settings as they are now, and notes it. */
export function bySettings(scope: TemplateScope): Decide {
  return (condition) => {
    const now = fold(scope.settings.substituted(condition), new Map());
    const access = accessOf(now);
    if (access?.name === 'config' && scope.settings.hasSecret(access.keys)) {
      noteFixed(scope, `{{ ${wordsOf(condition)} }}`);
      return true;
    }
    if (!isConstant(now) && !isDayText(now))
      throw new TemplateError('a condition that is known only while it runs');
    noteFixed(scope, `{{ ${wordsOf(condition)} }}`);
    return !isConstant(now) || isTruthy(now.value);
  };
}

/** Refuses a class that extends another one than it should, or that has a method besides. */
export function refuseOthers(type: CodeClass, base: string, allowed: (name: string) => boolean): void {
  const [only = '', ...others] = type.bases;
  if (!only.endsWith(`.${base}`) || others.length > 0)
    throw new CodeRefused(`${type.module.path}: a class that extends ${type.bases.join(', ') || 'nothing'}`);
  const odd = [...type.methods.keys()].find((name) => !allowed(name) && !OF_OBJECT.test(name));
  if (odd !== undefined) throw new CodeRefused(`${type.module.path}: ${type.name}.${odd}`);
}

/** Methods by which objects are compared and shown. */
const OF_OBJECT = /^__(?:hash|eq|ne|lt|repr|str)__$/;

/** Attributes of a requester that say what is asked, in the manifest and in the object that is made of it. */
const ADDRESS: readonly string[] = ['url', 'url_base', 'path', 'http_method'];

/** Attributes of a requester that only tell how answers are judged and how fast it goes. */
const KNOWN: ReadonlySet<string> = new Set(
  'logger message_repository use_cache disable_retries authenticator _authenticator api_budget request_options_provider error_handler'.split(
    ' ',
  ),
);

/** Returns an attribute that the class of the other tool has. */
export function requesterAttribute({ component }: CodeRun, name: string): CodeValue | undefined {
  if (name === 'name') return constant(component.text('name') ?? '');
  if (!ADDRESS.includes(name) && !KNOWN.has(name)) return undefined;
  const node = component.get(name);
  if (node === undefined) return constant(null);
  return ADDRESS.includes(name) ? { kind: 'written', node } : { kind: 'given', name };
}

/** Tells if an attribute of the object is what the manifest says, if the code gave it a value at all. */
function isAsWritten({ attributes, component }: CodeRun, name: string): boolean {
  return [name, `_${name}`].every((key) => {
    const value = attributes.get(key);
    if (value === undefined) return true;
    const node = component.get(name);
    if (value.kind === 'written' || value.kind === 'template') return value.node === (node ?? '');
    return value.kind === 'constant' && value.value === null && node === undefined;
  });
}

/** Returns a base whose methods give what they are asked with, so that it is seen whether it was the same. */
function recording(onCall: (name: string, args: CallArguments) => CodeValue | undefined): BaseClass {
  return {
    method: (_, name, args) => (name === '__post_init__' ? constant(null) : onCall(name, args)),
    attribute: () => undefined,
  };
}

/** Arguments with which a requester is asked to send. */
const SENT = [
  'path',
  'stream_state',
  'stream_slice',
  'next_page_token',
  'request_headers',
  'request_params',
  'request_body_data',
  'request_body_json',
  'log_formatter',
];

/** Methods of a requester that give a part of the request. */
export const REQUEST_METHODS: ReadonlySet<string> = new Set([
  'get_request_params',
  'get_request_headers',
  'get_request_body_json',
  'get_request_body_data',
]);

/** Private methods of the class of the other tool, in any of its versions. */
const PRIVATE =
  /^_(?:get_(?:url|request_options|mapping|path|full_url)|request_(?:headers|params|body_data|body_json|session)|join_url|create_prepared_request|send|send_with_retry|validate_response|max_retries|max_time|error_message|backoff_time|should_retry|http_client|authenticator|url_base|url|path)$/;

/**
 * Checks that a requester of Python sends what the one that it extends sends.
 *
 * @throws {CodeRefused} for code that sends anything else
 */
export function sendsAsBase(
  type: CodeClass,
  requester: ManifestComponent,
  scope: TemplateScope,
  retriever: ManifestComponent,
  stream: ManifestComponent,
): true {
  refuseOthers(
    type,
    'HttpRequester',
    (name) =>
      ['__post_init__', 'send_request'].includes(name) ||
      REQUEST_METHODS.has(name) ||
      name === PUT_TOGETHER ||
      (name.startsWith('_') && !PRIVATE.test(name) && !name.startsWith('__')),
  );
  putsTogetherAsBase(type, requester, scope, retriever, stream);
  let isSame = !type.methods.has('send_request');
  const base = recording((name, { positional, named }) => {
    if (name !== 'send_request') return undefined;
    isSame =
      positional.length === 0 &&
      named.size === SENT.length &&
      SENT.every((key) => {
        const value = named.get(key);
        return value?.kind === 'given' && value.name === key;
      });
    return { kind: 'answer' };
  });
  const object = new CodeObject(
    type,
    requester,
    { ...base, attribute: requesterAttribute },
    bySettings(scope),
  );
  if (type.methods.has('__post_init__'))
    object.callMethod(
      '__post_init__',
      { positional: [parametersOf(requester)], named: new Map() },
      undefined,
    );
  if (!ADDRESS.every((name) => isAsWritten(object, name)))
    throw object.refused(type.methods.get('__post_init__')?.node, 'another address');
  const named = new Map(SENT.map((name): [string, CodeValue] => [name, { kind: 'given', name }]));
  const sent = isSame ? undefined : object.callMethod('send_request', { positional: [], named }, undefined);
  if (sent !== undefined && (!isSame || sent.kind !== 'answer'))
    throw object.refused(type.methods.get('send_request')?.node, 'another request');
  return true;
}

function given(name: string): CodeValue {
  return { kind: 'given', name };
}

/** The method that adds the parameters of pages, windows and slices to those of the class. */
const PUT_TOGETHER = '_request_params';

/** Returns the names of all parts of a request that a stream adds to those of its requester. */
function fieldNamesIn(node: ManifestNode): readonly string[] {
  if (isSequence(node)) return [...new Set(node.flatMap(fieldNamesIn))];
  if (!isMap(node)) return [];
  const name = get(node, 'field_name');
  return [
    ...new Set([...(typeof name === 'string' ? [name] : []), ...Object.values(node).flatMap(fieldNamesIn)]),
  ];
}

/** Checks that the parameters that the stream adds are sent as they are. */
function putsTogetherAsBase(
  type: CodeClass,
  requester: ManifestComponent,
  scope: TemplateScope,
  retriever: ManifestComponent,
  stream: ManifestComponent,
): void {
  const method = type.methods.get(PUT_TOGETHER);
  if (method === undefined) return;
  const hasPages = retriever.has('paginator');
  const ofStream = fieldNamesIn(Object.fromEntries(stream.entries()));
  const added = new Map(ofStream.map((name) => [name, given(name)]));
  let isSame = false;
  const base = recording((name, { positional: [state, slice, token, more], named }) => {
    if (name !== PUT_TOGETHER) return undefined;
    const sent = named.get('extra_params') ?? more;
    const [ofState, ofSlice] = [named.get('stream_state') ?? state, named.get('stream_slice') ?? slice];
    const ofPage = named.get('next_page_token') ?? token;
    // without pages there is no token
    const isPage = !hasPages || keyOf(ofPage) === keyOf(given('next_page_token'));
    isSame =
      isPage &&
      keyOf([ofState, ofSlice]) === keyOf([given('stream_state'), given('stream_slice')]) &&
      keyOf(sent) === keyOf(dict(added));
    return given(PUT_TOGETHER);
  });
  const object = new CodeObject(type, requester, base, bySettings(scope));
  const names = ['stream_state', 'stream_slice', 'next_page_token'];
  const named = new Map([
    ...names.map((name): [string, CodeValue] => [name, given(name)]),
    ['extra_params', dict(added)] as const,
  ]);
  const sent = object.call(method, { positional: [], named });
  if (!isSame || sent.kind !== 'given' || sent.name !== PUT_TOGETHER)
    throw object.refused(method.node, 'other parameters');
}

/**
 * Checks that an error handler of Python judges every answer as the one that it extends does; requests without an answer
 * are tried again in any case.
 *
 * @throws {CodeRefused} for code that judges an answer by itself
 */
export function judgesAsBase(type: CodeClass, handler: ManifestComponent, scope: TemplateScope): true {
  refuseOthers(type, 'DefaultErrorHandler', (name) => name === 'interpret_response');
  const answer: CodeValue = { kind: 'answer' };
  const judged: CodeValue = { kind: 'given', name: 'judgement' };
  const base = recording((name, { positional, named }) => {
    const [given = named.get('response_or_exception')] = positional;
    return name === 'interpret_response' && given === answer ? judged : undefined;
  });
  const object = new CodeObject(type, handler, base, bySettings(scope));
  const method = type.methods.get('interpret_response');
  if (method === undefined) return true;
  const result = object.call(method, { positional: [answer], named: new Map() });
  if (result !== judged) throw object.refused(method.node, 'a judgement of its own');
  return true;
}

/** Parameters that a cursor of Python sends. */
export interface CursorParameters {
  /** Those besides the parameters of the class that it extends. */
  readonly added: ReadonlyMap<string, Expression>;
  /** It sends others where there is a state, and these are those of a run without one. */
  readonly isOfFirstRun: boolean;
  readonly times: CursorTimes;
}

/** Times of a cursor of Python, where its code reads or writes them in another way than its formats say. */
export interface CursorTimes {
  /** It reads a time in any form. */
  readonly readsAny: boolean;
  /** It writes times in UTC as ISO 8601, with a fraction where they have one. */
  readonly writesIso: boolean;
}

/**
 * Returns the parameters that a cursor of Python sends besides those of the one that it extends, or in place of them
 * where that one sends none.
 *
 * @throws {CodeRefused} for code that does anything else
 */
export function addedParameters(
  type: CodeClass,
  cursor: ManifestComponent,
  scope: TemplateScope,
): CursorParameters {
  const times = timesOf(type, cursor, scope);
  try {
    const added = parametersWith(given('stream_state'), type, cursor, scope);
    return { added, isOfFirstRun: false, times };
  } catch (error) {
    if (!(error instanceof CodeRefused)) throw error;
    return { added: parametersWith(dict(), type, cursor, scope), isOfFirstRun: true, times };
  }
}

/** Methods of a cursor that read and write times. */
const READS_TIME = 'parse_date';
const WRITES_TIME = '_format_datetime';

/** Functions that read a time in any form. */
const READERS = /^(?:pendulum\.parse|dateutil\.parser\.(?:iso)?parse|airbyte_cdk\..+\.ab_datetime_parse)$/;

const MOMENT_PARTS = ['year', 'month', 'day', 'hour', 'minute', 'second', 'microsecond'];

function isGiven(value: CodeValue | undefined, name: string): boolean {
  return value?.kind === 'given' && value.name === name;
}

/** Reads the methods of a cursor that read a time in any form, and write one as ISO 8601. */
function timesOf(type: CodeClass, cursor: ManifestComponent, scope: TemplateScope): CursorTimes {
  const base: BaseClass = {
    method: () => undefined,
    attribute: (_, name) => (name === '_timezone' ? given('moment.tzinfo') : undefined),
    part: (of, name) => (isGiven(of, 'moment') ? given(`moment.${name}`) : undefined),
    make: (_, path, { positional: [text], named }) => {
      if (READERS.test(path) && isGiven(text, 'date')) return given('moment');
      const isSame =
        path === 'pendulum.datetime' &&
        named.size === MOMENT_PARTS.length + 1 &&
        isGiven(named.get('tz'), 'moment.tzinfo') &&
        MOMENT_PARTS.every((part) => isGiven(named.get(part), `moment.${part}`));
      return isSame ? given('pendulum') : undefined;
    },
    call: (_, of, name) =>
      isGiven(of, 'pendulum') && name === 'to_iso8601_string' ? given('iso') : undefined,
  };
  const isMade = (name: string, of: string, wanted: string): boolean => {
    const method = type.methods.get(name);
    if (method === undefined) return false;
    const object = new CodeObject(type, cursor, base, bySettings(scope));
    const made = object.call(method, { positional: [given(of)], named: new Map() });
    if (isGiven(made, wanted)) return true;
    throw object.refused(method.node, 'a form of times');
  };
  return {
    readsAny: isMade(READS_TIME, 'date', 'moment'),
    writesIso: isMade(WRITES_TIME, 'moment', 'iso'),
  };
}

/** Keys of a cursor that are sent. */
const SENT_BY_CURSOR = ['start_time_option', 'end_time_option'];

function parametersWith(
  state: CodeValue,
  type: CodeClass,
  cursor: ManifestComponent,
  scope: TemplateScope,
): ReadonlyMap<string, Expression> {
  refuseOthers(type, 'DatetimeBasedCursor', (name) =>
    ['__post_init__', 'get_request_params', READS_TIME, WRITES_TIME].includes(name),
  );
  // one that sends nothing need not be asked
  let isAsked = SENT_BY_CURSOR.every((key) => !cursor.has(key));
  const recorded = recording((name) => {
    if (name !== 'get_request_params') return undefined;
    isAsked = true;
    return dict();
  });
  const base: BaseClass = {
    ...recorded,
    attribute: (_, name) => {
      const node = cursor.get(name);
      return typeof node === 'string' && !node.includes('{') ? constant(node) : undefined;
    },
  };
  const object = new CodeObject(type, cursor, base, bySettings(scope));
  if (type.methods.has('__post_init__'))
    object.callMethod(
      '__post_init__',
      { positional: [], named: new Map([['parameters', parametersOf(cursor)]]) },
      undefined,
    );
  const method = type.methods.get('get_request_params');
  if (method === undefined) return new Map();
  const names = ['stream_slice', 'next_page_token'];
  const named = new Map(names.map((name): [string, CodeValue] => [name, given(name)]));
  named.set('stream_state', state);
  const params = object.call(method, { positional: [], named });
  if (params.kind !== 'dict' || !isAsked) throw object.refused(method.node, 'other parameters');
  return new Map([...params.entries].map(([name, value]) => [name, object.expressionOf(value, method.node)]));
}
