import type { SignerIdentity } from '../key-ring.ts';
import {
  ALGORITHM,
  encodePath,
  encodeUri,
  scopeText,
  signRequest,
  timeText,
  UNSIGNED_PAYLOAD,
} from './sigv4.ts';

/** A signed address of one object: GET without any further credentials, until it expires. */
export function presignGet(options: {
  /** Base address that the client reaches, such as `http://127.0.0.1:8101`. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly key: string;
  readonly region: string;
  readonly identity: SignerIdentity;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly expiresInSeconds: number;
}): string {
  const { endpoint, identity, region } = options;
  const base = new URL(endpoint);
  const scope = { time: timeText(options.now), region };
  const query: (readonly [string, string])[] = [
    ['X-Amz-Algorithm', ALGORITHM],
    ['X-Amz-Credential', `${identity.accessKeyId}/${scopeText(scope)}`],
    ['X-Amz-Date', scope.time],
    ['X-Amz-Expires', String(options.expiresInSeconds)],
    ['X-Amz-SignedHeaders', 'host'],
  ];
  const path = encodePath(`/${options.bucket}/${options.key}`);
  const headers = [['host', base.host]] as const;
  const request = { method: 'GET', path, query, headers, payloadHash: UNSIGNED_PAYLOAD };
  const signature = signRequest(request, identity.secretAccessKey, scope);
  const text = query.map(([name, value]) => `${name}=${encodeUri(value)}`).join('&');
  return `${base.protocol}//${base.host}${path}?${text}&X-Amz-Signature=${signature}`;
}
