import { ulid } from 'ulid';
import type { Env } from '../../../lib/env.ts';

/** A ULID, for generated configuration and row ids and for version identifiers. */
export function newIdentifier(env: Env): string {
  // All at once: to ask for each of its signs alone takes longer than all else of an identifier.
  const random = env.randomBytes(RANDOM_SIGNS).values();
  return ulid(env.now(), () => (random.next().value ?? 0) / 256);
}

/** Number of random characters in a ULID, after those of its time. */
const RANDOM_SIGNS = 16;

/** A UUID of version 7, which begins with the time: those of events. */
export function newUuid(env: Env): string {
  const hex = Buffer.from(env.randomBytes(10)).toString('hex');
  const time = env.now().toString(16).padStart(12, '0');
  const variant = '89ab'[Number.parseInt(hex.slice(0, 1), 16) % 4] ?? '8';
  return [
    time.slice(0, 8),
    time.slice(8, 12),
    `7${hex.slice(1, 4)}`,
    variant + hex.slice(4, 7),
    hex.slice(7, 19),
  ].join('-');
}
