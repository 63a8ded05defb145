import type { Secrets } from '../../lib/secrets.ts';
import { oneLine } from '../../lib/shown-text.ts';

/**
 * Gives the first bytes of a body as one line of text for a message. Secrets are hidden before it is cut, so that no half
 * of one is left at the end.
 */
export function bodyStart(body: Uint8Array, bytes: number, secrets: Secrets): string {
  const decoder = new TextDecoder();
  const text = oneLine(
    secrets.redactBeginning(decoder.decode(body.subarray(0, 4 * bytes), { stream: true })).trim(),
  );
  const start = Buffer.from(text).subarray(0, bytes);
  return start.length < bytes ? text : `${new TextDecoder().decode(start, { stream: true })}…`;
}
