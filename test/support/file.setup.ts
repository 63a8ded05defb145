// In each test file.
import * as fc from 'fast-check';
import { afterAll } from 'vitest';
import { endFile } from './cleanup.ts';
import { times } from './sample.ts';

afterAll(endFile);
// Where a test does not say how often.
fc.configureGlobal({ numRuns: times(100) });
