export type { FixtureResult } from './result.ts';
export { runFixtures, type FixtureReport, type RunFixturesOptions } from './run-fixtures.ts';
export type { FixtureSettings } from './fixture-settings.ts';
