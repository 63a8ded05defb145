import { constant, Float, TemplateError } from './jinja/ast.ts';
import { readCode } from './code/read-code.ts';
import { codeRequest, type CodeRequest } from './code/requester.ts';
import { literalOf, pythonText, tupleOf } from '../../../lib/python-literal.ts';
import type { ManifestComponent } from './component.ts';
import { isMap, isSequence, shown, type ManifestNode } from './node.ts';
import { propertiesOut } from './query-properties.ts';
import { isObjectText, objectOf, outOf } from './request-object.ts';
import {
  known,
  noteFixed,
  readAsText,
  readingOf,
  requestPosition,
  translated,
  withSettings,
  type TemplateScope,
} from './scope.ts';
import type { Expression } from './jinja/ast.ts';
import { firstAlone, isPageToken, tokenUse, type TokenPlace } from './page-token.ts';
import { accessOf, type TranslatedJson, type TemplatePosition, type Typed } from './translate/position.ts';
import { isPlainText, isReckoned, refuseFraction } from './translate/field-value.ts';
import { call, isFieldOfParent, orNone, textOut } from './translate/out.ts';
import { isGroup } from './translate/calls.ts';
import { valueOf } from './translate/value.ts';
import { endpointOf, type RequestAddress } from './address.ts';

/** A request of a job, and where the token of the next page goes. */
export interface RequestDraft {
  readonly address: RequestAddress;
  readonly method: 'GET' | 'POST';
  readonly query: Readonly<Record<string, TranslatedJson>>;
  readonly headers: Readonly<Record<string, TranslatedJson>>;
  readonly body?: TranslatedJson;
  readonly bodyFormat?: 'json' | 'form' | 'text';
  readonly tokens: readonly TokenPlace[];
  /** Parameters of the first request alone. */
  readonly ofFirst: readonly string[];
  /** There is a list in the query or in a form. */
  readonly hasLists: boolean;
}

/** Reads `HttpRequester`. What can't be said goes to the findings of the scope. */
export function readRequest(requester: ManifestComponent, scope: TemplateScope): RequestDraft {
  const { findings } = scope;
  const position = requestPosition(scope);
  const tokens: TokenPlace[] = [];
  const method = requester.text('http_method')?.toUpperCase() === 'POST' ? 'POST' : 'GET';
  const code = codeOf(requester, scope);
  const ofFirst: string[] = [];
  const query = readMap(requester, 'request_parameters', scope, code, tokens, ofFirst);
  const headers = readMap(requester, 'request_headers', scope, code, tokens);
  if (requester.get('fetch_properties_from_endpoint') !== undefined)
    findings.not(
      requester.place('fetch_properties_from_endpoint'),
      'A list of properties in the request, merged by key',
    );
  const body = codeBody(requester, scope, code, tokens) ?? readBody(requester, scope, position, tokens);
  const sent = [
    ...Object.values(query),
    ...(body.bodyFormat === 'form' && isMap(body.body) ? Object.values(body.body) : []),
  ];
  const hasLists = sent.some((value) => isListOut(value, scope));
  return {
    address: endpointOf(requester, scope, tokens),
    method,
    query,
    headers,
    ...body,
    tokens,
    ofFirst,
    hasLists,
  };
}

/** Returns the parts of a request that a class of Python makes. */
function codeOf(requester: ManifestComponent, scope: TemplateScope): CodeRequest {
  if (requester.className === undefined) return new Map();
  return readCode(requester, scope, (type) => codeRequest(type, requester, scope)) ?? new Map();
}

/** Reads a body that a class of Python makes. */
function codeBody(
  requester: ManifestComponent,
  scope: TemplateScope,
  code: CodeRequest,
  tokens: TokenPlace[],
): Body | undefined {
  const [json, form] = [code.get('request_body_json'), code.get('request_body_data')];
  if (json === undefined && form === undefined) return undefined;
  if (json === undefined || form === undefined || (json.size > 0 && form.size > 0)) {
    // one of both is what the manifest says
    const written = json === undefined ? 'request_body_json' : 'request_body_data';
    if (requester.get(written) === undefined && requester.get('request_body') === undefined)
      return codeBody(requester, scope, new Map([...code, [written, new Map()]]), tokens);
    scope.findings.not(requester.at, 'No counterpart: a body of Python code beside another one');
    return {};
  }
  const [entries, bodyFormat] = form.size > 0 ? [form, 'form' as const] : [json, 'json' as const];
  const body = bodyFormat === 'form' ? fieldsOf(requester, 'request_body_data', form, scope, tokens) : {};
  if (bodyFormat === 'json')
    for (const [name, expression] of entries)
      scope.findings.attempt(requester.at, name, () => {
        if (isPageToken(expression))
          tokens.push(tokenUse(expression, { body: name }, (part) => requester.folded(part)));
        else body[name] = valueOf(expression, requestPosition(scope)).out;
      });
  return Object.keys(body).length === 0 ? {} : { body, bodyFormat };
}

/** Puts values that Python code makes into parameters, headers or a form. */
function fieldsOf(
  requester: ManifestComponent,
  key: string,
  entries: ReadonlyMap<string, Expression>,
  scope: TemplateScope,
  tokens: TokenPlace[],
): Record<string, TranslatedJson> {
  const out: Record<string, TranslatedJson> = {};
  for (const [name, expression] of entries)
    scope.findings.attempt(`${requester.at}.${key}.${name}`, name, () => {
      if (isPageToken(expression)) {
        tokens.push(tokenUse(expression, placeOf(key, name), (part) => requester.folded(part)));
        return;
      }
      const typed = valueOf(expression, requestPosition(scope));
      if (!isNothing(typed)) out[name] = parameterOf(typed, scope);
    });
  return out;
}

function placeOf(key: string, name: string): ManifestNode {
  return key === 'request_parameters'
    ? { query: name }
    : key === 'request_headers'
      ? { header: name }
      : { body: name };
}

/** Reads a map of parameters or headers. Empty ones are left out, as in the original. */
function readMap(
  requester: ManifestComponent,
  key: 'request_parameters' | 'request_headers',
  scope: TemplateScope,
  code: CodeRequest,
  tokens: TokenPlace[],
  ofFirst: string[] = [],
): Record<string, TranslatedJson> {
  const made = code.get(key);
  if (made !== undefined) return fieldsOf(requester, key, made, scope, tokens);
  const value = requester.get(key);
  const { findings } = scope;
  if (value === undefined) return {};
  if (!isMap(value)) {
    const fixed = findings.attempt(requester.place(key), value, () => known(value, requester, scope).value);
    if (typeof fixed === 'string' && fixed.trim() !== '')
      findings.note(`Parameters as one text have no effect: ${fixed}`);
    return {};
  }
  const out: Record<string, TranslatedJson> = {};
  for (const [name, item] of Object.entries(value)) {
    const at = `${requester.place(key)}.${name}`;
    const properties = requester.childOf(key, name);
    if (properties?.type === 'QueryProperties') {
      const list = findings.attempt(at, properties.type, () => propertiesOut(properties, scope));
      if (list !== undefined) out[name] = list;
      continue;
    }
    if (isMap(item)) {
      findings.not(at, `No counterpart: ${shown(item['type'] ?? 'an object')} in the request`);
      continue;
    }
    findings.attempt(at, item, () => {
      const typedName = known(name, requester, scope).value;
      const realName = pythonText(typedName);
      const written = requester.expression(item);
      const alone =
        key === 'request_parameters' && isPageToken(written)
          ? firstAlone(written, (part) => requester.folded(part))
          : undefined;
      const expression = alone ?? written;
      if (isPageToken(expression))
        tokens.push(tokenUse(expression, placeOf(key, realName), (part) => requester.folded(part)));
      else {
        if (alone !== undefined) ofFirst.push(realName);
        const isParameter = key === 'request_parameters';
        const typed =
          alone === undefined
            ? isParameter
              ? parameterIn(item, requester, scope, requestPosition(scope))
              : headerIn(item, requester, scope, requestPosition(scope))
            : valueOf(alone, requestPosition(scope));
        if (isNothing(typed)) return;
        const bare = bareSetting(expression, typed, isParameter ? 'None' : null, scope);
        if (bare !== undefined) {
          out[realName] = bare;
          return;
        }
        const text = (): TranslatedJson => (isParameter ? orNone(textOut(typed)) : textOut(typed));
        const fixed = isObject(typed.out) ? withSettings(expression, requester, scope) : undefined;
        if (fixed !== undefined && isWritten(fixed, isParameter)) out[realName] = pythonText(fixed.value);
        else if (isWritten(expression, isParameter)) out[realName] = pythonText(expression.value);
        else if (typed.type !== 'list') out[realName] = optional(text(), scope);
        else if (isParameter)
          out[realName] = isGroup(typed) ? call('split', typed.out, ',') : listOut(typed.out, scope);
        else throw new TemplateError('a list as a header');
      }
    });
  }
  return out;
}

/** Tells if a value is an object that is known, and no source of one. */
function isObject(out: TranslatedJson): boolean {
  return (
    isMap(out) &&
    ['attr', 'function', 'placeholder', 'parent', 'window', 'time'].every((key) => !(key in out))
  );
}

/** Tells if a value is an object or a list that is sent as Python writes it; a list is several parameters. */
function isWritten(
  expression: Expression,
  isParameter: boolean,
): expression is Expression & { kind: 'constant' } {
  if (expression.kind !== 'constant') return false;
  const { value } = expression;
  const isPlain = typeof value !== 'object' || value === null || value instanceof Float;
  return !isPlain && !(isParameter && Array.isArray(value));
}

/** Returns a header, which is left out where it reads as None. */
function headerIn(
  item: ManifestNode,
  requester: ManifestComponent,
  scope: TemplateScope,
  position: TemplatePosition,
): Typed {
  const typed = translated(item, requester, scope, position, refuseFraction);
  const expression = requester.expression(item);
  const reading = readingOf(expression, scope.settings);
  const isNone = reading !== undefined && reading.value === null;
  return isNone ? { out: null, type: 'any' } : readAsText(expression, typed, scope);
}

function isNothing({ out }: Typed): boolean {
  return out === null || out === '';
}

/** Returns a key of a map, which may be a template, too. */
function keyOf(
  key: string,
  requester: ManifestComponent,
  at: string,
  scope: TemplateScope,
): string | undefined {
  return scope.findings.attempt(at, key, () => pythonText(known(key, requester, scope).value));
}

function parameterIn(
  item: ManifestNode,
  requester: ManifestComponent,
  scope: TemplateScope,
  position: TemplatePosition,
): Typed {
  const list = requester.listOf(item);
  if (list !== undefined) return { out: outOf(list), type: 'list' };
  const typed = translated(item, requester, scope, position, refuseFraction);
  return readAsText(requester.expression(item), typed, scope, (value) => typeof value === 'string');
}

/** Returns a value in a query or a form; a list is a parameter for each of its items. */
function parameterOf(typed: Typed, scope: TemplateScope): TranslatedJson {
  if (typed.type !== 'list') return optional(orNone(textOut(typed)), scope);
  if (scope.sent === undefined) throw new TemplateError('a list in the parameters');
  scope.sent.lists = true;
  if (isSequence(typed.out)) return listOut(typed.out, scope);
  if (isGroup(typed)) return call('split', typed.out, ',');
  // a list of the settings is seen by functions alone
  return isMap(typed.out) && typed.out['attr'] !== undefined ? call('optional', typed.out) : typed.out;
}

/** Leaves out what may be empty: null in a query is nothing. */
function optional(out: TranslatedJson, scope: TemplateScope): TranslatedJson {
  const isSo = isMap(out) && out['function'] === 'optional';
  return !isSo && mayBeEmpty(out, scope) ? call('optional', out) : out;
}

/**
 * Returns the value of a template that is nothing but an optional setting: left out where it is not given, although it
 * is a boolean. One that is taken by `get` is None then, which is a text in a parameter.
 */
function bareSetting(
  expression: Expression,
  typed: Typed,
  none: 'None' | null,
  scope: TemplateScope,
): TranslatedJson | undefined {
  const access = accessOf(expression);
  const isBare = access?.name === 'config' && access.fallback === undefined && typed.type !== 'list';
  if (!isBare || !mayBeEmpty(typed.out, scope)) return undefined;
  const isNone = expression.kind === 'call' && none !== null;
  if (!isNone && typed.type !== 'boolean') return undefined;
  if (isNone)
    scope.findings.note('A setting that is not given is sent as “None” in a parameter, as it was there.');
  return call('if', call('is', typed.out, 'notEmpty'), textOut(typed), isNone ? none : null);
}

/** Functions that give a list. */
const LIST_FUNCTIONS: ReadonlySet<unknown> = new Set(['split', 'keys', 'values']);

function isListOut(out: TranslatedJson, scope: TemplateScope): boolean {
  if (isSequence(out)) return true;
  if (!isMap(out)) return false;
  const { attr, function: name, args } = out;
  if (typeof attr === 'string') return scope.settings.isList(attr);
  if (name === 'ifempty' && isSequence(args)) return args.some((part) => isListOut(part, scope));
  return LIST_FUNCTIONS.has(name);
}

/** A list that is not given is an empty text as a setting; one of values that are known later is made by a function. */
function listOut(out: TranslatedJson, scope: TemplateScope): TranslatedJson {
  if (isSequence(out) && out.some((item) => isMap(item)))
    return call(
      'split',
      call('concat', ...out.flatMap((item, i) => (i === 0 ? [item] : ['\n', item]))),
      '\n',
    );
  return mayBeEmpty(out, scope) ? call('ifempty', out, []) : out;
}

/** Functions that are empty where their first argument is. */
const EMPTY_OF_FIRST: ReadonlySet<unknown> = new Set(
  'base64_encode json_encode literal lower match python_text python_value replace substr trim upper urlencode'.split(
    ' ',
  ),
);

function mayBeEmpty(out: TranslatedJson, scope: TemplateScope): boolean {
  if (out === '' || out === null) return true;
  if (!isMap(out)) return false;
  if (typeof out['attr'] === 'string') return scope.settings.mayBeEmpty(out['attr']);
  if (typeof out['placeholder'] === 'string')
    return [...scope.slots.values()].some(
      (slot) => slot.mayBeEmpty === true && isMap(slot.out) && slot.out['placeholder'] === out['placeholder'],
    );
  if (isFieldOfParent(out)) return true;
  const { function: name, args } = out;
  if (!isSequence(args)) return false;
  if (name === 'implode') return true;
  if (name === 'if') return args.length < 3 || args.slice(1).some((part) => mayBeEmpty(part, scope));
  if (name === 'optional') return true;
  if (name === 'ifempty' || name === 'coalesce') return mayBeEmpty(args.at(-1) ?? null, scope);
  if (name === 'concat') return args.every((part) => mayBeEmpty(part, scope));
  return EMPTY_OF_FIRST.has(name) && mayBeEmpty(args[0] ?? null, scope);
}

type Body = Pick<RequestDraft, 'body' | 'bodyFormat'>;

function readBody(
  requester: ManifestComponent,
  scope: TemplateScope,
  position: TemplatePosition,
  tokens: TokenPlace[],
): Body {
  const typed = requester.child('request_body');
  if (typed !== undefined) {
    const value = typed.get('value');
    if (value === undefined) return {};
    const at = typed.place('value');
    if (typed.type === 'RequestBodyUrlEncodedForm' || typed.type === 'RequestBodyPlainText')
      return readData(value, requester, at, scope, position, tokens);
    return readJson(value, requester, at, scope, position, tokens);
  }
  const json = requester.get('request_body_json');
  if (json !== undefined)
    return readJson(json, requester, requester.place('request_body_json'), scope, position, tokens);
  const data = requester.get('request_body_data');
  return data === undefined
    ? {}
    : readData(data, requester, requester.place('request_body_data'), scope, position, tokens);
}

function readJson(
  value: ManifestNode,
  requester: ManifestComponent,
  at: string,
  scope: TemplateScope,
  position: TemplatePosition,
  tokens: TokenPlace[],
): Body {
  if (typeof value === 'string')
    return (
      scope.findings.attempt(at, value, (): Body => {
        const expression = requester.expression(value);
        if (expression.kind === 'constant')
          return { body: outOf(literalOf(pythonText(expression.value))), bodyFormat: 'json' };
        if (expression.kind !== 'join') return { body: bodyOut(expression, position), bodyFormat: 'json' };
        // the text is read as an object after everything is put in
        return { body: objectOf(expression, position), bodyFormat: 'json' };
      }) ?? {}
    );
  if (isMap(value) && Object.keys(value).length === 0) return {};
  const body = readNested(value, requester, at, [], scope, position, tokens);
  const isNone = body === undefined || (isMap(body) && Object.keys(body).length === 0);
  return isNone ? { bodyFormat: 'json' } : { body, bodyFormat: 'json' };
}

/** Reads a body in which every text is a template whose result is read as a literal: `"{{ 5 }}"` is the number 5. */
function readNested(
  value: ManifestNode,
  requester: ManifestComponent,
  at: string,
  path: readonly string[],
  scope: TemplateScope,
  position: TemplatePosition,
  tokens: TokenPlace[],
): TranslatedJson | undefined {
  if (isSequence(value))
    return value.map(
      (item, index) =>
        readNested(item, requester, `${at}[${index}]`, [...path, String(index)], scope, position, tokens) ??
        null,
    );
  if (isMap(value)) {
    const entries = Object.entries(value).flatMap(([key, item]): [string, TranslatedJson][] => {
      const name = keyOf(key, requester, at, scope);
      if (name === undefined) return [];
      const inner = readNested(item, requester, `${at}.${key}`, [...path, name], scope, position, tokens);
      return inner === undefined || inner === null ? [] : [[name, inner]];
    });
    return Object.fromEntries(entries);
  }
  if (typeof value !== 'string') return value;
  return scope.findings.attempt(at, value, () => {
    const expression = requester.expression(value);
    if (isPageToken(expression)) {
      const use = tokenUse(expression, { body: path.join('.') }, (part) => requester.folded(part));
      tokens.push({ ...use, isRead: true });
      return undefined;
    }
    if (expression.kind === 'constant') {
      const text = pythonText(expression.value);
      return text === '' ? undefined : outOf(tupleOf(text) ?? literalOf(text));
    }
    try {
      const reading = readingOf(expression, scope.settings);
      if (reading !== undefined && reading.value === null) return undefined;
      const out =
        reading === undefined
          ? bodyOut(expression, position)
          : call('python_value', valueOf(expression, position).out);
      return optional(out, scope);
    } catch (error) {
      const fixed = error instanceof TemplateError ? withSettings(expression, requester, scope) : undefined;
      if (fixed === undefined) throw error;
      const out = bodyOut(fixed, position);
      noteFixed(scope, value);
      return optional(out, scope);
    }
  });
}

function bodyOut(part: Expression, position: TemplatePosition): TranslatedJson {
  if (isReckoned(part)) throw new TemplateError('a number that is reckoned with a fraction');
  return isObjectText(part) ? objectOf(part, position) : literalOut(valueOf(literals(part), position));
}

/** Returns a value that is written and read again: a text of digits becomes a number. */
function literalOut(typed: Typed): TranslatedJson {
  const { out, type } = typed;
  if (isGroup(typed))
    // ids that are numbers are numbers again
    return call('json_decode', call('concat', '[', out, ']'), call('split', out, ','));
  if (['boolean', 'number', 'float', 'list'].includes(type)) return out;
  const text = textOut(typed);
  const { function: name, args } = isMap(text) ? text : {};
  if (type === 'text' && isSequence(args)) {
    if (name === 'concat') return isPlainText(args) ? text : call('python_value', text);
    if (name === 'json_encode') return call('python_value', text);
    if (name === 'date') return isDigits(args[0]) ? call('python_value', text) : text;
  }
  if (!isMap(text)) return text;
  if (READ_AGAIN.has(name)) return isConstantChoice(text) ? text : call('python_value', text);
  return text['attr'] !== undefined || text['placeholder'] !== undefined ? call('literal', text) : text;
}

/** Functions that give a text as it was given to them, or a part of it. */
const READ_AGAIN: ReadonlySet<unknown> = new Set(
  'if ifempty coalesce lower upper trim substr replace split get match'.split(' '),
);

/** Tells if a choice is between constants, which are read already. */
function isConstantChoice({ function: name, args }: Readonly<Record<string, TranslatedJson>>): boolean {
  return name === 'if' && isSequence(args) && args.slice(1).every((part) => !isMap(part));
}

/** Returns an expression whose constants are read as literals: of `'1' if x else '0'` the numbers. */
function literals(expression: Expression): Expression {
  if (expression.kind === 'constant' && typeof expression.value === 'string')
    return constant(literalOf(expression.value));
  if (expression.kind !== 'choose') return expression;
  const { otherwise } = expression;
  return {
    ...expression,
    then: literals(expression.then),
    ...(otherwise === undefined ? {} : { otherwise: literals(otherwise) }),
  };
}

/** Tells if a format of a time gives a number, and none that begins with a zero. */
function isDigits(format: TranslatedJson | undefined): boolean {
  return typeof format === 'string' && /^[UYy][UuvYymdHis]*$/.test(format);
}

/** Reads a form, or a text that is sent as it is. A text that reads as an object is sent as a form. */
function readData(
  value: ManifestNode,
  requester: ManifestComponent,
  at: string,
  scope: TemplateScope,
  position: TemplatePosition,
  tokens: TokenPlace[],
): Body {
  const { findings } = scope;
  if (isMap(value)) {
    const form: Record<string, TranslatedJson> = {};
    for (const [key, item] of Object.entries(value)) {
      findings.attempt(`${at}.${key}`, item, () => {
        const name = keyOf(key, requester, at, scope) ?? key;
        const expression = requester.expression(item);
        if (isPageToken(expression)) {
          tokens.push(tokenUse(expression, { body: name }, (part) => requester.folded(part)));
          return;
        }
        const typed = parameterIn(item, requester, scope, position);
        if (!isNothing(typed))
          form[name] = bareSetting(expression, typed, 'None', scope) ?? parameterOf(typed, scope);
      });
    }
    return Object.keys(form).length === 0 ? { bodyFormat: 'form' } : { body: form, bodyFormat: 'form' };
  }
  return (
    findings.attempt(at, value, (): Body => {
      const object = objectIn(requester.expression(value), position);
      if (object !== undefined) return isMap(object) ? { body: object, bodyFormat: 'form' } : {};
      const typed = translated(value, requester, scope, position);
      const text = textOut(typed);
      if (text === '' || text === null) return {};
      if (typeof text !== 'string')
        return { body: isCall(text) ? text : call('concat', text), bodyFormat: 'text' };
      const literal = literalOf(text);
      if (typeof literal === 'string') return { body: literal, bodyFormat: 'text' };
      // of what reads as something else, only an object is sent
      return typeof literal === 'object' && literal !== null && !Array.isArray(literal)
        ? { body: outOf(literal), bodyFormat: 'form' }
        : {};
    }) ?? {}
  );
}

/** Returns an object or a list that a template is the text of; undefined for any other text. */
function objectIn(expression: Expression, position: TemplatePosition): TranslatedJson | undefined {
  if (expression.kind === 'map') return valueOf(expression, position).out;
  if (!isObjectText(expression)) return undefined;
  try {
    return objectOf(expression, position);
  } catch (error) {
    if (error instanceof TemplateError) return undefined;
    throw error;
  }
}

function isCall(out: TranslatedJson): boolean {
  return isMap(out) && out['function'] !== undefined;
}
