import { map, option, whole, type OptionSchema } from '../../lib/option.ts';
import { PAGINATION_METHODS } from './methods.ts';
import { DEFAULT_MAX_PAGES } from './page-guard.ts';
import type { PaginationMethod } from './paginator.ts';
import { RESTART } from './restart.ts';
import { COUNT } from './shared-options.ts';
import { EMPTY_PAGE } from './stops/empty-page.ts';
import { FORCE_STOP } from './stops/force-stop.ts';
import { LIMIT_STOP } from './stops/limit-stop.ts';
import { NEXT_PAGE_FLAG } from './stops/next-page-flag.ts';
import { STOP_WHEN } from './stops/stop-when.ts';

/**
 * Name under `definitions` of the schema that {@link PAGINATION_OPTIONS} must have there: the scrollers of `multiple`
 * refer to it by `#/definitions/pagination`.
 */
export const PAGINATION_DEFINITION = 'pagination';

/** JSON Schema (draft 07) of the `pagination` node with the methods of this package. */
export const PAGINATION_OPTIONS = paginationOptions(PAGINATION_METHODS);

/**
 * Builds the JSON Schema of the `pagination` node: the keys of each method by `if`/`then` on `method`, and the shared
 * keys.
 * A key that a method does not know fails `additionalProperties` in its branch.
 */
function paginationOptions(methods: readonly PaginationMethod[]): OptionSchema {
  const common = commonProperties(methods);
  return map('Pagination', 'How the pages after the first are asked for, and when to stop.', {
    maxItems: 0,
    examples: [{ method: 'response.param', responseParam: 'meta.next', queryParam: 'cursor' }],
    properties: common,
    allOf: methods.map((method) => branch(method, common)),
  });
}

type Properties = Readonly<Record<string, OptionSchema>>;

function commonProperties(methods: readonly PaginationMethod[]): Properties {
  return {
    method: option('Method', 'How the next page is found. Without it a job makes one request.', {
      enum: [...methods.map(({ method }) => method), '', null],
      default: 'none',
      examples: ['response.param', 'offset'],
    }),
    limitStop: LIMIT_STOP,
    forceStop: FORCE_STOP,
    nextPageFlag: NEXT_PAGE_FLAG,
    stopWhen: STOP_WHEN,
    emptyPage: EMPTY_PAGE,
    restart: RESTART,
    maxPages: option(
      'Page budget',
      'Number of pages after which a job fails, because a pagination that never ends is a mistake. To end a job after some pages without an error use `forceStop`.',
      { ...COUNT, default: DEFAULT_MAX_PAGES, examples: [5000] },
    ),
    pages: whole('Pages', 'Without effect; kept so that older configurations stay valid.', {
      pattern: '^\\d+$',
      deprecated: true,
      examples: [10],
    }),
  };
}

/** Builds the branch of one method. `none` is also meant when `method` is missing or empty. */
function branch({ method, options }: PaginationMethod, common: Properties): OptionSchema {
  const isDefault = method === 'none';
  const { properties, ...rest } = options;
  const knownKeys = Object.fromEntries(Object.keys(common).map((key) => [key, {}]));
  const condition = {
    type: 'object',
    properties: { method: isDefault ? { enum: [method, '', null] } : { const: method } },
    ...(isDefault ? {} : { required: ['method'] }),
  };
  const keys = {
    ...rest,
    // Shared keys are only named here, because they are checked above; a method's properties are schemas.
    properties: { ...knownKeys, ...(properties as Properties | undefined) },
    additionalProperties: false,
  };
  return { if: condition, then: keys };
}
