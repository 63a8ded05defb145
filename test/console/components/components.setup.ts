// In each test file of components.
import { cleanup, configure } from '@testing-library/preact';
import { afterEach, beforeEach, vi } from 'vitest';
import { queries } from '../../../console/data/query.ts';
import { sessionState } from '../../../console/data/session.ts';

// A second, the default, is less than a busy machine may need.
configure({ asyncUtilTimeout: 40_000 });

beforeEach(() => {
  // The document lays nothing out, and a table draws what there is room for.
  vi.spyOn(HTMLElement.prototype, 'clientWidth', 'get').mockReturnValue(1600);
  vi.spyOn(HTMLElement.prototype, 'clientHeight', 'get').mockReturnValue(900);
});

afterEach(() => {
  cleanup();
  queries.clear();
  sessionState.set(undefined);
  history.replaceState(null, '', '/');
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});
