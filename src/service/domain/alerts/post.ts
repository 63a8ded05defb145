import { createHmac } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { VERSION } from '../../../lib/version.ts';

/** Checks of the hosts that messages go to; each throws for one that is not allowed. */
export interface MessageReach {
  requireHost(hostname: string): void;
  readonly lookup: LookupFunction;
}

export interface PostOptions {
  readonly reach?: MessageReach | undefined;
  /** The key that it is signed with; not signed when undefined. */
  readonly secret?: string | undefined;
  /** Sent as a bearer token. */
  readonly token?: string | undefined;
  readonly signal: AbortSignal;
}

const TIMEOUT_MS = 10_000;

/** Posts a message. Redirects are not followed. @returns the status of the answer */
export async function postMessage(
  url: URL,
  { id, body }: { readonly id: string; readonly body: string },
  { reach, secret, token, signal }: PostOptions,
): Promise<number> {
  reach?.requireHost(url.hostname);
  const { request } = url.protocol === 'https:' ? https : http;
  return await new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method: 'POST',
        lookup: reach?.lookup,
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'user-agent': `generic-extractor/${VERSION}`,
          'x-gex-message': id,
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(secret === undefined
            ? {}
            : { 'x-gex-signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}` }),
        },
      },
      (answer) => {
        answer.resume();
        answer.on('end', () => resolve(answer.statusCode ?? 0));
        answer.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}
