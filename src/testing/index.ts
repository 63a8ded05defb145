export { runFixtures, type FixtureReport, type FixtureResult, type RunFixturesOptions } from './run-fixtures.ts';
export type { FixtureSettings } from './settings.ts';
