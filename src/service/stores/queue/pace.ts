import type { Meta } from '../metadata/database.ts';
import { postgresSchema } from '../metadata/dialect.ts';

export interface Pace {
  /** Without a sign of life for that long, a worker is taken for dead. */
  readonly leaseMs: number;
  /** How often work is looked for without being told: half of it is what that of another process waits for on average. */
  readonly pollMs: number;
  /** How often it is looked whether a worker is gone. */
  readonly checkMs: number;
  /** Taken up that often, a job that ends its process is given up. */
  readonly maxInterruptions: number;
  /** How often a job is tried again because what it needs is away; 0: who asked is told at once. */
  readonly maxRetries: number;
}

export const paceOf = (meta: Meta): Pace => (postgresSchema(meta) === undefined ? EMBEDDED : SHARED);

/** Of one process over a folder, which hears of all that is asked for. The person who asked is there, and is told at once of what is in the way. */
export const EMBEDDED: Pace = {
  leaseMs: 30_000,
  pollMs: 1000,
  checkMs: 2000,
  maxInterruptions: 3,
  maxRetries: 0,
};

const SHARED: Pace = {
  leaseMs: 10_000,
  pollMs: 250,
  checkMs: 1000,
  maxInterruptions: 5,
  maxRetries: 60,
};
