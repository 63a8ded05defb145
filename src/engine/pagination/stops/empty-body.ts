import type { StopRule } from './compose.ts';

/** A response without a body has no rows and nothing to go on from (status 204, or no bytes). */
export const emptyBody: StopRule = {
  key: 'empty',
  needs: {},
  check: (page) =>
    page.status === 204 || page.bytes === 0 ? { stop: { code: 'emptyResponse' } } : { state: null },
};
