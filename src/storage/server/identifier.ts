import { ulid } from 'ulid';
import type { Env } from '../../env.ts';

/** A ULID, for generated configuration and row ids and for version identifiers. */
export function newIdentifier(env: Env): string {
  return ulid(env.now(), () => (env.randomBytes(1)[0] ?? 0) / 256);
}
