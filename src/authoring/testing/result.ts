import type { JobReport } from '../../engine/completeness/index.ts';

/** Result of one fixture. */
export interface FixtureResult {
  /** Name of its folder. */
  readonly name: string;
  readonly folder: string;
  readonly passed: boolean;
  /** Differences, ready to be printed; empty when it passed. */
  readonly problems: readonly string[];
  /** Every request that was made, in order: `GET /books?page=2`. */
  readonly requests: readonly string[];
  /** Completeness of each job. */
  readonly jobs: readonly JobReport[];
  readonly durationMs: number;
}
