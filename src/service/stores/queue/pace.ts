import type { Meta } from '../metadata/database.ts';
import { postgresSchema } from '../metadata/dialect.ts';

export interface Pace {
  /** Milliseconds without a heartbeat after which a worker counts as dead. */
  readonly leaseMs: number;
  /** How often work is looked for without being told: half of it is what that of another process waits for on average. */
  readonly pollMs: number;
  /** How often it is looked whether a worker is gone. */
  readonly checkMs: number;
  /** Taken up that often, a job that ends its process is given up. */
  readonly maxInterruptions: number;
  /** Number of times a job is tried again because a resource is unavailable; 0: it fails at once. */
  readonly maxRetries: number;
}

export const paceOf = (meta: Meta): Pace => (postgresSchema(meta) === undefined ? EMBEDDED : SHARED);

/**
 * Pace of one process over a folder, which is notified of every request. The user who asked is present, and learns of
 * an obstacle at once.
 */
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
