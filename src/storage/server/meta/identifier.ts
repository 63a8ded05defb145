import { ulid } from 'ulid';
import type { Env } from '../../../env.ts';

/** A ULID, for generated configuration and row ids and for version identifiers. */
export function newIdentifier(env: Env): string {
  return ulid(env.now(), () => (env.randomBytes(1)[0] ?? 0) / 256);
}

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
