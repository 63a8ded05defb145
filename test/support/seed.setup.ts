import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    seed: number;
  }
}

/** Before all tests: the seed that is printed, for what is drawn at random, and a word on what is left out. */
export default function setUp(project: TestProject): void {
  const { vitest } = project;
  project.provide('seed', vitest.config.sequence.seed);
  if (vitest.config.env['TEST_ALL'] === '0')
    console.log('Without tests that are tagged “thorough”, and with samples of others: TEST_ALL=1 runs all.');
}
