import { TemplateError, type Expression } from './jinja/ast.ts';
import type { ManifestComponent } from './component.ts';
import { isMap, isSequence, shown, type ManifestNode } from './node.ts';
import { isObjectText, objectOf } from './request-object.ts';
import { countedPages } from './page-counts.ts';
import { TOKEN, type TokenPlace } from './page-token.ts';
import {
  known,
  noteFixed,
  requestPosition,
  responsePosition,
  translated,
  withSettings,
  type TemplateScope,
} from './scope.ts';
import { conditionOf } from './translate/condition.ts';
import type { TranslatedJson, TemplatePosition } from './translate/position.ts';
import { isNumeric } from '../numeric.ts';
import { call } from './translate/out.ts';
import { valueOf } from './translate/value.ts';

/** The pagination of a job, and the values that every request has besides, such as the size of a page. */
export interface PaginationDraft {
  readonly pagination?: Pagination;
  readonly constants: readonly { readonly place: ManifestNode; readonly value: TranslatedJson }[];
  /** Its values in the body are those of a form. */
  readonly isForm: boolean;
}

type Pagination = Readonly<Record<string, TranslatedJson>>;

/** Reads a paginator. `tokens` are the places that name the token of the next page in templates of the request. */
export function readPagination(
  paginator: ManifestComponent | undefined,
  tokens: readonly TokenPlace[],
  scope: TemplateScope,
): PaginationDraft {
  const firsts = firstValues(tokens, scope);
  const none: PaginationDraft = { constants: firsts, isForm: false };
  if (paginator === undefined || paginator.type === 'NoPagination') return none;
  const { findings } = scope;
  const strategy = paginator.child('pagination_strategy');
  if (paginator.className !== undefined || strategy?.className !== undefined) {
    findings.not(
      strategy?.at ?? paginator.at,
      `Python code: ${strategy?.className ?? paginator.className ?? ''}`,
    );
    return none;
  }
  if (strategy === undefined) return none;
  const draft = findings.attempt(strategy.at, strategy.get('cursor_value') ?? strategy.type, () =>
    draftOf(paginator, strategy, tokens, scope),
  );
  return draft === undefined ? none : { ...draft, constants: [...firsts, ...draft.constants] };
}

/** Returns the values at the places of the token in the first request. */
function firstValues(tokens: readonly TokenPlace[], scope: TemplateScope): PaginationDraft['constants'] {
  return tokens.flatMap(({ place, first, isRead }) => {
    if (first === undefined) return [];
    const value = scope.findings.attempt(
      'the first request',
      undefined,
      () => valueOf(first, requestPosition(scope)).out,
    );
    if (value === undefined) return [];
    // nothing is left out of a JSON body
    const isMade = isRead === true && isMap(value) && ('attr' in value || 'function' in value);
    return [{ place, value: isMade ? call('optional', value) : value }];
  });
}

function draftOf(
  paginator: ManifestComponent,
  strategy: ManifestComponent,
  tokens: readonly TokenPlace[],
  scope: TemplateScope,
): PaginationDraft {
  const size = pageSizeOf(strategy, scope);
  const sizePlace = optionPlace(paginator.child('page_size_option'), scope);
  const constants = sizePlace === undefined || size === undefined ? [] : [{ place: sizePlace, value: size }];
  const option = paginator.child('page_token_option');
  const own = option?.type === 'RequestPath' ? { address: true } : optionPlace(option, scope);
  if (isMap(own) && Object.values(own).includes(''))
    throw new TemplateError('a place of the token without a name');
  const places = [...(own === undefined ? [] : [{ place: own }]), ...tokens];
  const isForm = ['page_token_option', 'page_size_option'].some(
    (key) => paginator.child(key)?.text('inject_into') === 'body_data',
  );
  const draft = { constants, isForm };
  const isCount = strategy.type === 'PageIncrement' || strategy.type === 'OffsetIncrement';
  if (isCount && places.length === 0 && size !== undefined) {
    scope.findings.note(
      `Asked for once, as the number of the page is not sent: the other tool asks for the same rows again as long as there are ${shown(size)} of them.`,
    );
    return { pagination: { method: 'none' }, ...draft };
  }
  if (strategy.type === 'PageIncrement') {
    const first = firstPageOf(strategy, scope);
    if (isPlain(places)) return { pagination: byNumber(strategy, first, size, places), ...draft };
    const next: TranslatedJson = first === 0 ? { answer: 'page' } : call('add', { answer: 'page' }, first);
    return counted(strategy, places, { next, first, size }, scope, draft);
  }
  if (strategy.type === 'OffsetIncrement') {
    if (isPlain(places)) return { pagination: byOffset(strategy, size, places), ...draft };
    return counted(strategy, places, { next: { answer: 'read' }, first: 0, size }, scope, draft);
  }
  if (strategy.type === 'CursorPagination')
    return { pagination: byCursor(strategy, size, places, scope, isForm), ...draft };
  throw new TemplateError(`the pagination ${strategy.type}`);
}

function pageSizeOf(strategy: ManifestComponent, scope: TemplateScope): TranslatedJson | undefined {
  const value = strategy.get('page_size');
  if (value === undefined) return undefined;
  const { out, type } = translated(value, strategy, scope, requestPosition(scope));
  if (typeof out === 'string' && /^\d+$/.test(out)) return Number(out);
  return type === 'number' ? out : call('number', out, out);
}

/** Returns the place in the request that a `RequestOption` sets. */
export function optionPlace(
  option: ManifestComponent | undefined,
  scope: TemplateScope,
): ManifestNode | undefined {
  if (option === undefined) return undefined;
  const name = (): string => {
    const { value } = known(option.get('field_name') ?? '', option, scope);
    // a name that is empty is sent as one
    if (typeof value === 'string' || value === undefined) return value ?? '';
    throw new TemplateError('a place in the request without a name');
  };
  const path = option.get('field_path') === undefined ? undefined : option.keys('field_path').join('.');
  switch (option.text('inject_into')) {
    case 'request_parameter':
      return { query: name() };
    case 'header':
      return { header: name() };
    case 'body_data':
    case 'body_json':
      return { body: path ?? name() };
    case 'path':
      return { address: true };
    default:
      throw new TemplateError(`a place “${option.text('inject_into') ?? ''}” in the request`);
  }
}

function isAddress(place: ManifestNode): boolean {
  return isMap(place) && place['address'] === true;
}

/** Tells if a count goes to one place, as it is. */
function isPlain(places: readonly TokenPlace[]): places is readonly [TokenPlace] {
  const [only] = places;
  if (only === undefined) throw new TemplateError('a number of a page that is not sent');
  return places.length === 1 && !isAddress(only.place) && only.with === undefined;
}

function counted(
  strategy: ManifestComponent,
  places: readonly TokenPlace[],
  {
    next,
    first,
    size,
  }: { readonly next: TranslatedJson; readonly first: number; readonly size: TranslatedJson | undefined },
  scope: TemplateScope,
  draft: Pick<PaginationDraft, 'constants' | 'isForm'>,
): PaginationDraft {
  const start = strategy.flag('inject_on_first_request') ? { first } : {};
  const { pagination, constants } = countedPages(places, { next, ...start, size }, scope);
  return { pagination, constants: [...draft.constants, ...constants], isForm: draft.isForm };
}

function firstPageOf(strategy: ManifestComponent, scope: TemplateScope): number {
  const start = strategy.get('start_from_page');
  const first = start === undefined ? 0 : known(start, strategy, scope).value;
  const firstPage = typeof first === 'string' ? Number(first) : first;
  if (typeof firstPage !== 'number') throw new TemplateError('a first page that is known only while it runs');
  return firstPage;
}

function byNumber(
  strategy: ManifestComponent,
  firstPage: number,
  size: TranslatedJson | undefined,
  [{ place }]: readonly [TokenPlace],
): Pagination {
  return {
    method: 'pagenum',
    pageParam: place,
    firstPage,
    firstPageParams: strategy.flag('inject_on_first_request'),
    limitParam: false,
    ...shortPage(size),
  };
}

/** Returns the pagination in which a page with fewer rows than requested is the last one. */
function shortPage(size: TranslatedJson | undefined): Pagination {
  if (size === undefined) return {};
  if (typeof size === 'number') return { limit: size };
  return { stopWhen: { value: { answer: 'rows' }, is: 'below', than: size } };
}

function byOffset(
  strategy: ManifestComponent,
  size: TranslatedJson | undefined,
  [{ place }]: readonly [TokenPlace],
): Pagination {
  return {
    method: 'offset',
    offsetParam: place,
    firstPageParams: strategy.flag('inject_on_first_request'),
    limitParam: false,
    advance: 'rows',
    ...(size === undefined ? {} : { stopWhen: { value: { answer: 'rows' }, is: 'below', than: size } }),
  };
}

/** Values that a template takes for nothing. */
const NOTHINGS: readonly TranslatedJson[] = [0, '0', 'None', 'False'];

function byCursor(
  strategy: ManifestComponent,
  size: TranslatedJson | undefined,
  places: readonly TokenPlace[],
  scope: TemplateScope,
  isForm: boolean,
): Pagination {
  const position = responsePosition(scope, size);
  const token = strategy.get('cursor_value');
  if (token === undefined) throw new TemplateError('“cursor_value” is missing');
  const fields = fieldsOf(token, strategy, position);
  const from =
    fields?.[0]?.[1] ??
    made(token, strategy, scope, (expression) => {
      const { out } = valueOf(expression, position);
      // what is rendered is read as a literal: a text that was written as JSON is that text again
      return expression.kind === 'filter' && expression.name === 'tojson' ? call('literal', out) : out;
    });
  const stop = strategy.get('stop_condition');
  const condition =
    stop === undefined || stop === ''
      ? false
      : made(stop, strategy, scope, (expression) => conditionOf(expression, position));
  if (condition === true) return { method: 'none' };
  const stops = condition === false || isNoRow(condition) ? [] : [condition];
  // the end at a page without rows is one that the verdict of a run knows
  const emptyPage: Pagination = isNoRow(condition) ? { emptyPage: 'stop' } : {};
  const address = places.find(({ place }) => isAddress(place));
  if (address !== undefined) {
    if (places.length > 1) throw new TemplateError('a token that is an address and something else');
    return {
      method: 'response.url',
      urlKey:
        address.with === undefined ? from : valueOf(address.with, tokenPosition(from, position, fields)).out,
      includeParams: true,
      ...emptyPage,
      ...stopKey(stops),
    };
  }
  // what ends the pages is the token itself, and it stands first
  const plain = places.filter((place) => place.with === undefined);
  const ordered = [...plain, ...places.filter((place) => place.with !== undefined)];
  if (ordered.length === 0) throw new TemplateError('a token of the next page that is not sent');
  const ends =
    plain.length > 0
      ? []
      : [
          { value: from, is: 'empty' },
          { value: from, is: 'in', than: NOTHINGS },
        ];
  return {
    method: 'response.param',
    set: ordered.flatMap((use) => {
      if (use.with !== undefined) {
        const made = tokenPosition(from, position, fields);
        const place = isMap(use.place) ? use.place['body'] : undefined;
        return use.isRead === true && isObjectText(use.with) && typeof place === 'string'
          ? leavesOf(objectOf(use.with, made), place)
          : [{ from: valueOf(use.with, made).out, to: use.place }];
      }
      const body = isMap(use.place) && !isForm ? use.place['body'] : undefined;
      if (fields === undefined)
        return [{ from: typeof body === 'string' ? numeralRead(from) : from, to: use.place }];
      if (typeof body !== 'string')
        throw new TemplateError('a token of several fields outside of a JSON body');
      return fields.map(([key, value]) => ({ from: value, to: { body: `${body}.${key}` } }));
    }),
    includeParams: true,
    endValues: NOTHINGS,
    ...emptyPage,
    ...stopKey([...ends, ...stops]),
  };
}

/** Returns what is put to each place of an object in a body. */
function leavesOf(out: TranslatedJson, place: string): readonly TranslatedJson[] {
  if (isSequence(out)) throw new TemplateError('a list with the token of the next page in it');
  if (!isMap(out)) return [{ from: { value: out }, to: { body: place } }];
  const isSource = ['function', 'response', 'attr', 'header'].some((key) => key in out);
  if (isSource) return [{ from: out, to: { body: place } }];
  return Object.entries(out).flatMap(([key, inner]) => {
    if (key.includes('.')) throw new TemplateError('a token in an object whose keys have dots');
    return leavesOf(inner, `${place}.${key}`);
  });
}

/** Conditions that hold after a page without rows alone. */
const NO_ROW: ReadonlySet<string> = new Set(
  [
    { not: { value: { last: '.' }, is: 'true' } },
    { value: { last: '.' }, is: 'absent' },
    { not: { value: { answer: 'rows' }, is: 'true' } },
    { value: { answer: 'rows' }, is: 'equals', than: 0 },
    { value: { answer: 'rows' }, is: 'below', than: 1 },
  ].map((condition) => JSON.stringify(condition)),
);

function isNoRow(condition: TranslatedJson): boolean {
  return NO_ROW.has(JSON.stringify(condition));
}

function stopKey(stops: readonly TranslatedJson[]): Pagination {
  const [only] = stops;
  if (only === undefined) return {};
  return { stopWhen: stops.length === 1 ? only : stops };
}

/** Returns the fields of a token that is an object: an expression of one, or a text that reads as one. */
function fieldsOf(
  token: ManifestNode,
  strategy: ManifestComponent,
  position: TemplatePosition,
): readonly (readonly [string, TranslatedJson])[] | undefined {
  const expression = strategy.expression(token);
  const isText = expression.kind === 'join' && /^\s*\{/.test(shown(token).replace(/\{\{.*$/s, ''));
  if (expression.kind !== 'map' && !isText) return undefined;
  const object =
    expression.kind === 'join' ? objectOf(expression, position) : valueOf(expression, position).out;
  const entries = isMap(object) ? Object.entries(object) : [];
  if (entries.length === 0 || entries.some(([key, value]) => key.includes('.') || !isMap(value)))
    throw new TemplateError('a token that is an object of several levels, or with constants');
  return entries;
}

/** Returns a value that is written and read again: a text of digits becomes a number. */
function numeralRead(out: TranslatedJson): TranslatedJson {
  if (isNumeric(out)) return out;
  return call('if', call('is', out, 'matches', '^-?(?:0|[1-9][0-9]{0,14})$'), call('number', out, out), out);
}

function tokenPosition(
  token: TranslatedJson,
  position: TemplatePosition,
  fields: readonly (readonly [string, TranslatedJson])[] | undefined,
): TemplatePosition {
  return {
    text: position.text,
    reference(name, keys) {
      if (name !== TOKEN) return position.reference(name, keys);
      const [key, ...more] = keys;
      if (key === undefined) return fields === undefined ? { out: token } : undefined;
      if (fields !== undefined) {
        const found = fields.find(([field]) => field === key)?.[1];
        return found === undefined || more.length > 0 ? undefined : { out: found };
      }
      const path = isMap(token) && Object.keys(token).length === 1 ? token['response'] : undefined;
      return typeof path === 'string' && !path.startsWith('$')
        ? { out: { response: [path, ...keys].join('.') } }
        : undefined;
    },
  };
}

/** Converts a template; one without a counterpart is tried with the known settings. */
function made(
  template: ManifestNode,
  strategy: ManifestComponent,
  scope: TemplateScope,
  make: (expression: Expression) => TranslatedJson,
): TranslatedJson {
  const expression = strategy.expression(template);
  try {
    return make(expression);
  } catch (error) {
    const fixed = error instanceof TemplateError ? withSettings(expression, strategy, scope) : undefined;
    if (fixed === undefined) throw error;
    const out = make(fixed);
    noteFixed(scope, template);
    return out;
  }
}
