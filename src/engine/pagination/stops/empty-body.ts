import type { StopRule } from './compose.ts';

/** Stops at a response without a body (status 204, or no bytes): it has no rows and nothing to continue from. */
export const emptyBody: StopRule = {
  key: 'empty',
  needs: {},
  check: (page) =>
    page.status === 204 || page.bytes === 0 ? { stop: { code: 'emptyResponse' } } : { state: null },
};
