// In each test file.
import * as fc from 'fast-check';
import { afterAll } from 'vitest';
import { endFile } from './cleanup.ts';
import { times } from './sample.ts';

afterAll(endFile);
// The number of cases of a property test that gives none.
fc.configureGlobal({ numRuns: times(100) });
