import { TemplateError, type Expression } from './jinja/ast.ts';
import type { Component } from './component.ts';
import type { Node } from './node.ts';
import { isMap } from './node.ts';
import type { TokenPlace } from './page-token.ts';
import { known, responsePosition, translated, withSettings, noteFixed, type Scope } from './scope.ts';
import { conditionOf } from './translate/condition.ts';
import type { Out } from './translate/position.ts';
import { valueOf } from './translate/value.ts';

/** How a job is paged, and what the first request has besides. */
export interface PaginationDraft {
  readonly pagination?: Readonly<Record<string, Out>>;
  /** What every request has: the size of a page. */
  readonly constants: readonly { readonly place: Node; readonly value: Out }[];
}

/** Reads a paginator. `tokens` are the places that name the token of the next page in templates of the request. */
export function readPagination(
  paginator: Component | undefined,
  tokens: readonly TokenPlace[],
  scope: Scope,
): PaginationDraft {
  const none: PaginationDraft = { constants: [] };
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
  return (
    findings.attempt(strategy.at, strategy.node['cursor_value'] ?? strategy.type, () =>
      draftOf(paginator, strategy, tokens, scope),
    ) ?? none
  );
}

function draftOf(
  paginator: Component,
  strategy: Component,
  tokens: readonly TokenPlace[],
  scope: Scope,
): PaginationDraft {
  const size = pageSizeOf(strategy, scope);
  const sizePlace = optionPlace(paginator.child('page_size_option'), scope);
  const constants = sizePlace === undefined || size === undefined ? [] : [{ place: sizePlace, value: size }];
  const places = placesOf(paginator, tokens, scope);
  if (strategy.type === 'PageIncrement')
    return { pagination: byNumber(strategy, size, places, scope), constants };
  if (strategy.type === 'OffsetIncrement') return { pagination: byOffset(strategy, size, places), constants };
  if (strategy.type === 'CursorPagination')
    return { pagination: byCursor(strategy, size, places, scope), constants };
  throw new TemplateError(`the pagination ${strategy.type}`);
}

function pageSizeOf(strategy: Component, scope: Scope): Out | undefined {
  const value = strategy.get('page_size');
  if (value === undefined) return undefined;
  const { out } = translated(value, strategy, scope, responsePosition(scope));
  if (typeof out === 'number') return out;
  if (typeof out === 'string' && /^\d+$/.test(out)) return Number(out);
  return out;
}

/** `{"address": true}` is the address itself. */
function placesOf(paginator: Component, tokens: readonly TokenPlace[], scope: Scope): readonly Node[] {
  const option = paginator.child('page_token_option');
  const own = option?.type === 'RequestPath' ? { address: true } : optionPlace(option, scope);
  return [...(own === undefined ? [] : [own]), ...tokens.map(({ place }) => place)];
}

/** Where a `RequestOption` puts its value. */
export function optionPlace(option: Component | undefined, scope: Scope): Node | undefined {
  if (option === undefined) return undefined;
  const name = (): string => {
    const value = known(option.get('field_name') ?? option.get('field_path') ?? '', option, scope).value;
    if (typeof value === 'string' && value !== '') return value;
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

function onlyPlace(places: readonly Node[]): Node {
  const [place] = places;
  if (place === undefined) throw new TemplateError('a number of a page that is not sent');
  if (places.length > 1) throw new TemplateError('a number of a page in several places');
  if (isMap(place) && place['address'] === true) throw new TemplateError('a number of a page as an address');
  return place;
}

function byNumber(
  strategy: Component,
  size: Out | undefined,
  places: readonly Node[],
  scope: Scope,
): Readonly<Record<string, Out>> {
  const start = strategy.get('start_from_page');
  const first = start === undefined ? 0 : known(start, strategy, scope).value;
  const firstPage = typeof first === 'string' ? Number(first) : first;
  if (typeof firstPage !== 'number') throw new TemplateError('a first page that is known only while it runs');
  return {
    method: 'pagenum',
    pageParam: onlyPlace(places),
    firstPage,
    firstPageParams: strategy.flag('inject_on_first_request'),
    limitParam: false,
    ...shortPage(size),
  };
}

/** A page with fewer rows than were asked for is the last one. */
function shortPage(size: Out | undefined): Readonly<Record<string, Out>> {
  if (size === undefined) return {};
  if (typeof size === 'number') return { limit: size };
  return { stopWhen: { value: { answer: 'rows' }, is: 'below', than: size } };
}

function byOffset(
  strategy: Component,
  size: Out | undefined,
  places: readonly Node[],
): Readonly<Record<string, Out>> {
  return {
    method: 'offset',
    offsetParam: onlyPlace(places),
    firstPageParams: strategy.flag('inject_on_first_request'),
    limitParam: false,
    advance: 'rows',
    ...shortPage(size),
  };
}

function byCursor(
  strategy: Component,
  size: Out | undefined,
  places: readonly Node[],
  scope: Scope,
): Readonly<Record<string, Out>> {
  const position = responsePosition(scope, size);
  const token = strategy.get('cursor_value');
  if (token === undefined) throw new TemplateError('“cursor_value” is missing');
  const from = sourceOf(
    strategy.expression(token),
    strategy,
    token,
    scope,
    (expression) => valueOf(expression, position).out,
  );
  const stop = strategy.get('stop_condition');
  const stopWhen =
    stop === undefined || stop === ''
      ? undefined
      : sourceOf(strategy.expression(stop), strategy, stop, scope, (expression) =>
          conditionOf(expression, position),
        );
  if (stopWhen === true) return { method: 'none' };
  const stops = stopWhen === undefined || stopWhen === false ? {} : { stopWhen };
  if (places.some((place) => isMap(place) && place['address'] === true)) {
    if (places.length > 1) throw new TemplateError('a token that is an address and something else');
    return { method: 'response.url', urlKey: from, includeParams: true, ...stops };
  }
  const [first, ...others] = places;
  if (first === undefined) throw new TemplateError('a token of the next page that is not sent');
  return {
    method: 'response.param',
    set: [first, ...others].map((to) => ({ from, to })),
    includeParams: true,
    // what a template takes for nothing
    endValues: [0, '0', 'None', 'False'],
    ...stops,
  };
}

function sourceOf(
  expression: Expression,
  strategy: Component,
  template: Node,
  scope: Scope,
  make: (expression: Expression) => Out,
): Out {
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
