import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Env } from '../../../lib/env.ts';
import { expirationText, type GrantScope, type ObjectCredentials } from './store.ts';

/** Signer of a request: the service itself, or the holder of temporary credentials. */
export interface SignerIdentity {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Scope of temporary credentials; undefined for the service, which may do everything. */
  readonly scope: GrantScope | undefined;
}

/** Makes and recognises the access keys of the embedded store. */
export interface KeyRing {
  /** The keys of the service; they stay the same as long as the secret does. */
  readonly service: SignerIdentity;
  issue(scope: GrantScope): ObjectCredentials;
  /** Undefined for keys that this ring did not make. Expiry is not looked at: the caller knows the time. */
  find(accessKeyId: string, sessionToken: string | undefined): SignerIdentity | undefined;
}

/**
 * A session token holds its own scope and a seal made with the secret, and both keys are derived from it: nothing is
 * stored, and credentials stay valid over restarts until they expire.
 */
export function createKeyRing(secret: Uint8Array, env: Pick<Env, 'randomBytes'>): KeyRing {
  const derive = (purpose: string, text: string): Buffer =>
    createHmac('sha256', secret).update(`${purpose}\n${text}`).digest();
  const service: SignerIdentity = {
    accessKeyId: `AKIA${base32(derive('service id', ''))}`,
    secretAccessKey: derive('service secret', '').subarray(0, 30).toString('base64'),
    scope: undefined,
  };
  const keysOf = (token: string) => ({
    accessKeyId: `ASIA${base32(derive('session id', token))}`,
    secretAccessKey: derive('session secret', token).subarray(0, 30).toString('base64'),
  });
  return {
    service,
    issue(scope) {
      const content = encodeScope(scope, env.randomBytes(9));
      const token = `${content}.${derive('session seal', content).toString('base64url')}`;
      const keys = keysOf(token);
      return {
        AccessKeyId: keys.accessKeyId,
        SecretAccessKey: keys.secretAccessKey,
        SessionToken: token,
        Expiration: expirationText(scope.expiresAt),
      };
    },
    find(accessKeyId, sessionToken) {
      if (sessionToken === undefined) return isSame(accessKeyId, service.accessKeyId) ? service : undefined;
      const [content = '', seal = ''] = sessionToken.split('.');
      if (!isSame(seal, derive('session seal', content).toString('base64url'))) return undefined;
      const keys = keysOf(sessionToken);
      return isSame(accessKeyId, keys.accessKeyId) ? { ...keys, scope: decodeScope(content) } : undefined;
    },
  };
}

/** Compares without telling by its duration how much is right. */
export function isSame(left: string, right: string): boolean {
  const a = Buffer.from(left);
  const b = Buffer.from(right);
  return a.length === b.length && timingSafeEqual(a, b);
}

function encodeScope(scope: GrantScope, nonce: Uint8Array): string {
  const { key, isPrefix, access, requiresEncryption, expiresAt, holder } = scope;
  const content = [key, isPrefix, access, requiresEncryption, Math.floor(expiresAt.getTime() / 1000)];
  const holders = holder === undefined ? [] : [holder.fileId, holder.tokenId];
  const text = JSON.stringify([...content, Buffer.from(nonce).toString('base64url'), ...holders]);
  return Buffer.from(text).toString('base64url');
}

function decodeScope(content: string): GrantScope {
  // The seal was right, so this is what `encodeScope` wrote.
  const [key, isPrefix, access, requiresEncryption, expires, , fileId, tokenId] = JSON.parse(
    Buffer.from(content, 'base64url').toString(),
  ) as [string, boolean, GrantScope['access'], boolean, number, string, number?, number?];
  const holder = fileId === undefined || tokenId === undefined ? undefined : { fileId, tokenId };
  return { key, isPrefix, access, requiresEncryption, expiresAt: new Date(expires * 1000), holder };
}

/** Sixteen characters, as access key ids have after their first four. */
function base32(bytes: Uint8Array): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  return Array.from(bytes.subarray(0, 16), (byte) => letters[byte & 31]).join('');
}
