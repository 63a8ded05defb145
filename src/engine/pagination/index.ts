export type * from './paginator.ts';
export { createPaginator, guardOptionsOf, type PaginatorContext } from './create.ts';
export { idRange } from './id-range.ts';
export { PAGINATION_METHODS } from './methods.ts';
export { nearMiss } from './missing.ts';
export { PAGINATION_OPTIONS } from './pagination-options.ts';
export { createGuard, DEFAULT_MAX_PAGES, type GuardOptions, type GuardVerdict } from './page-guard.ts';
export type { ParseTime } from './stops/force-stop.ts';
