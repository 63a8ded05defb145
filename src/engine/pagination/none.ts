import type { PaginationMethod } from './paginator.ts';
import { requestOf } from './request.ts';

/**
 * No pagination: one request per job.
 *
 * The API answers everything at once:
 *
 *     [{ "id": 1 }, { "id": 2 }]
 *
 * Configuration: no `pagination`, or one without `method`:
 *
 *     { "pagination": {} }
 *
 * Requests:
 *
 *     GET /users
 */
export const none: PaginationMethod = {
  method: 'none',
  options: { type: 'object', properties: {} },
  create: (_options, job, { at }) => ({
    needs: {},
    traits: { kind: 'none', at },
    first: () => ({ request: requestOf(job), state: null }),
    next: () => ({ stop: { code: 'noPagination' } }),
  }),
};
