import { TemplateError } from './jinja/ast.ts';
import { judgesAsBase } from './code/as-base.ts';
import { readCode } from './code/read-code.ts';
import type { ManifestComponent } from './component.ts';
import { isSequence, type ManifestNode } from './node.ts';
import { known, requestPosition, responsePosition, translated, type TemplateScope } from './scope.ts';
import { conditionOf } from './translate/condition.ts';
import type { TranslatedJson } from './translate/position.ts';
import { textOut } from './translate/out.ts';

export type TranslatedReaction = Readonly<Record<string, TranslatedJson>>;

/** Statuses of a busy API, which are retried whatever the handler says. */
const BUSY: TranslatedJson = { status: [408, 429, '500-504'] };

/** Reads an error handler. */
export function readReactions(
  handler: ManifestComponent | undefined,
  scope: TemplateScope,
): readonly TranslatedReaction[] {
  return handler === undefined ? [] : ofHandler(handler, false, scope);
}

/** Returns the handlers of a handler, itself for one without others. */
function handlersIn(handler: ManifestComponent): readonly ManifestComponent[] {
  return handler.type === 'CompositeErrorHandler'
    ? handler.children('error_handlers').flatMap(handlersIn)
    : [handler];
}

/**
 * @param isLater whether another handler saw the answer before: it took every success for one
 * @param pausing that of all handlers together: attempts are those of the first one, and the wait is the first there is
 */
function ofHandler(
  handler: ManifestComponent,
  isLater: boolean,
  scope: TemplateScope,
  pausing: Pauses = pausesOf(handlersIn(handler), scope),
): readonly TranslatedReaction[] {
  const isCode = handler.className !== undefined;
  if (isCode && readCode(handler, scope, (type) => judgesAsBase(type, handler, scope)) === undefined)
    return [];
  if (handler.type === 'CompositeErrorHandler')
    return handler
      .children('error_handlers')
      .flatMap((inner, index) => ofHandler(inner, index > 0, scope, pausing));
  const filters = handler
    .children('response_filters')
    .flatMap((filter) => ofFilter(filter, isLater, pausing, scope));
  const general: TranslatedReaction[] =
    pausing.wait === undefined ? [] : [{ when: BUSY, do: 'retry', ...pauses(pausing) }];
  return [...filters, ...general];
}

function pausesOf(handlers: readonly ManifestComponent[], scope: TemplateScope): Pauses {
  const [first] = handlers;
  const wait = handlers
    .values()
    .map((each) => waitOf(each, scope))
    .find((each) => each !== undefined);
  return { wait, retries: first === undefined ? undefined : retriesOf(first, scope) };
}

interface Pauses {
  readonly wait: TranslatedJson | undefined;
  readonly retries: number | undefined;
}

function pauses({ wait, retries }: Pauses): TranslatedReaction {
  return { ...(wait === undefined ? {} : { wait }), ...(retries === undefined ? {} : { times: retries }) };
}

const ACTIONS: Readonly<Record<string, string>> = {
  // of both, errors have no rows and no next page, and everything else is read as usual
  SUCCESS: 'rows',
  IGNORE: 'rows',
  FAIL: 'fail',
  RETRY: 'retry',
  RATE_LIMITED: 'retry',
  REFRESH_TOKEN_THEN_RETRY: 'login',
  // the same page, as long as it is
  REDUCE_PAGE_SIZE: 'retry',
};

function ofFilter(
  filter: ManifestComponent,
  isLater: boolean,
  pausing: Pauses,
  scope: TemplateScope,
): readonly TranslatedReaction[] {
  const { findings } = scope;
  const action = filter.text('action');
  if (action === undefined) return [];
  const todo = ACTIONS[action];
  if (todo === undefined) {
    findings.not(filter.place('action'), `No counterpart: the action ${action}`);
    return [];
  }
  const predicate = filter.text('predicate') ?? '';
  return (
    findings.attempt(filter.at, predicate === '' ? undefined : predicate, () => {
      const conditions = conditionsOf(filter, scope);
      if (conditions.length === 0) return [];
      const any: TranslatedJson = conditions.length === 1 ? (conditions[0] ?? {}) : { any: conditions };
      if (todo === 'rows') return ignored(any, statusesOf(filter), conditions.length, isLater);
      const when: TranslatedJson = isLater ? { all: [{ status: '300-599' }, any] } : any;
      const message = todo === 'fail' ? messageOf(filter, scope) : undefined;
      return [
        {
          when,
          do: todo,
          ...(todo === 'retry' ? pauses(pausing) : {}),
          ...(message === undefined || message === '' ? {} : { message }),
        },
      ];
    }) ?? []
  );
}

/** Returns the reactions to answers that are passed over: errors are without rows, and others are read. */
function ignored(
  when: TranslatedJson,
  statuses: readonly number[],
  conditions: number,
  isLater: boolean,
): readonly TranslatedReaction[] {
  if (conditions === 1 && statuses.length > 0) {
    const errors = statuses.filter((status) => status >= 400);
    const others = statuses.filter((status) => status < 400);
    return [
      ...(errors.length === 0 ? [] : [{ when: { status: errors }, do: 'empty' }]),
      // every success was taken for one before
      ...(others.length === 0 || isLater ? [] : [{ when: { status: others }, do: 'rows' }]),
    ];
  }
  const errors: TranslatedReaction = { when: { all: [{ status: '400-599' }, when] }, do: 'empty' };
  return isLater ? [errors] : [errors, { when, do: 'rows' }];
}

function statusesOf(filter: ManifestComponent): readonly number[] {
  const codes = filter.get('http_codes');
  return isSequence(codes) ? codes.map(Number).filter((code) => Number.isInteger(code)) : [];
}

function conditionsOf(filter: ManifestComponent, scope: TemplateScope): readonly TranslatedJson[] {
  const statuses = statusesOf(filter);
  const contains = filter.text('error_message_contains');
  const predicate = filter.text('predicate');
  const condition =
    predicate === undefined || predicate === ''
      ? undefined
      : conditionOf(filter.expression(predicate), responsePosition(scope));
  return [
    ...(statuses.length === 0 ? [] : [{ status: statuses }]),
    ...(condition === undefined || condition === false
      ? []
      : [condition === true ? { status: '100-599' } : condition]),
    // the message of an error is somewhere in its answer
    ...(contains === undefined || contains === ''
      ? []
      : [
          {
            all: [
              { status: '400-599' },
              { value: { response: '.', as: 'text' }, is: 'contains', than: contains },
            ],
          },
        ]),
  ];
}

function messageOf(filter: ManifestComponent, scope: TemplateScope): TranslatedJson | undefined {
  const value = filter.get('error_message');
  if (value === undefined) return undefined;
  try {
    const out = textOut(translated(value, filter, scope, responsePosition(scope)));
    return typeof out === 'string' ? { value: out } : out;
  } catch (error) {
    // only words are lost
    if (error instanceof TemplateError) return undefined;
    throw error;
  }
}

function retriesOf(handler: ManifestComponent, scope: TemplateScope): number | undefined {
  const value = handler.get('max_retries');
  if (value === undefined) return undefined;
  try {
    const count = Number(known(value, handler, scope).value);
    return Number.isInteger(count) && count >= 0 ? count : undefined;
  } catch (error) {
    if (error instanceof TemplateError) return undefined;
    throw error;
  }
}

/** Reads the wait before a retry. One without a counterpart becomes the usual one, which grows. */
function waitOf(handler: ManifestComponent, scope: TemplateScope): TranslatedJson | undefined {
  for (const strategy of handler.children('backoff_strategies')) {
    try {
      const wait = strategyWait(strategy, scope);
      if (wait !== undefined) return wait;
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      scope.findings.note(
        `Pauses between attempts are the usual ones, not those of ${strategy.className ?? strategy.type}.`,
      );
    }
  }
  return undefined;
}

function strategyWait(strategy: ManifestComponent, scope: TemplateScope): TranslatedJson | undefined {
  if (strategy.className !== undefined) throw new TemplateError(`the class ${strategy.className}`);
  const text = (key: string): TranslatedJson =>
    textOut(translated(strategy.get(key) ?? '', strategy, scope, requestPosition(scope)));
  switch (strategy.type) {
    case 'ConstantBackoffStrategy': {
      const seconds = Number(text('backoff_time_in_seconds'));
      if (!Number.isFinite(seconds)) throw new TemplateError('a pause that is known only while it runs');
      return seconds;
    }
    case 'WaitTimeFromHeader':
      return { from: headerSource(text('header'), strategy, text), as: 'seconds' };
    case 'WaitUntilTimeFromHeader':
      return { from: headerSource(text('header'), strategy, text), as: 'epoch' };
    case 'ExponentialBackoffStrategy':
      return undefined;
    default:
      throw new TemplateError(`the pause ${strategy.type}`);
  }
}

function headerSource(
  header: TranslatedJson,
  strategy: ManifestComponent,
  text: (key: string) => TranslatedJson,
): ManifestNode {
  if (typeof header !== 'string') throw new TemplateError('a header that is known only while it runs');
  if (strategy.get('regex') === undefined) return { header };
  const expression = text('regex');
  if (typeof expression !== 'string')
    throw new TemplateError('an expression that is known only while it runs');
  const whole = expression.replaceAll(/\\.|\((?!\?)/g, (found) => (found === '(' ? '(?:' : found));
  return { header, match: `^(${whole})` };
}
