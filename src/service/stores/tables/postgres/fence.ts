import { LeaseLost } from '../../queue/endings.ts';
import { literal, quoted } from './names.ts';
import type { TableWriteOptions } from '../engine.ts';
import type { PostgresSession } from './connection.ts';

/**
 * Sees to it that the transaction ends only while its job is still the worker's. Last of all, as the job cannot be
 * changed from here to the end, not even to say that its worker lives.
 *
 * @throws LeaseLost
 */
export async function checkFence(
  session: PostgresSession,
  service: string,
  { fence }: TableWriteOptions,
): Promise<void> {
  if (fence === undefined) return;
  const [job] = await session.rows(
    `SELECT 1 FROM ${quoted(service)}.jobs WHERE id = ${fence.jobId} AND fencing = ${fence.fencing} AND worker = ${literal(fence.worker ?? '')} AND status = 'processing' FOR UPDATE`,
  );
  if (job === undefined) throw new LeaseLost();
}
