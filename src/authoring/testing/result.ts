import type { JobReport } from '../../engine/completeness/index.ts';

/** What became of one fixture. */
export interface FixtureResult {
  /** Name of its folder. */
  readonly name: string;
  readonly folder: string;
  readonly passed: boolean;
  /** What differs, ready to be printed; empty when it passed. */
  readonly problems: readonly string[];
  /** Every request that was made, in order: `GET /books?page=2`. */
  readonly requests: readonly string[];
  /** Whether each job had everything. */
  readonly jobs: readonly JobReport[];
  readonly durationMs: number;
}
