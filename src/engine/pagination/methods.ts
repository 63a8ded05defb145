import { cursor } from './cursor.ts';
import { linkHeader } from './link-header.ts';
import { multiple } from './multiple.ts';
import { none } from './none.ts';
import { offset } from './offset.ts';
import { pagenum } from './pagenum.ts';
import type { PaginationMethod } from './paginator.ts';
import { responseParam } from './response-param.ts';
import { responseUrl } from './response-url.ts';
import { zendeskResponseUrl } from './zendesk-response-url.ts';

/** Pagination methods of this package. */
export const PAGINATION_METHODS: readonly PaginationMethod[] = [
  none,
  offset,
  pagenum,
  responseUrl,
  zendeskResponseUrl,
  responseParam,
  cursor,
  linkHeader,
  multiple,
];
