import type { IncomingMessage } from 'node:http';
import { ObjectError } from '../errors.ts';
import { isSame, type SignerIdentity, type KeyRing } from '../key-ring.ts';
import { queryValue, type ObjectAddress } from './address.ts';
import {
  ALGORITHM,
  encodePath,
  readTime,
  signRequest,
  UNSIGNED_PAYLOAD,
  type SigningScope,
} from './sigv4.ts';

/** Identity of the caller, and the facts that the signature states about the body. */
export interface Signer {
  readonly identity: SignerIdentity;
  readonly scope: SigningScope;
  readonly signature: string;
  /** `x-amz-content-sha256`: a hash in hexadecimal, `UNSIGNED-PAYLOAD` or `STREAMING-…`. */
  readonly payloadHash: string;
}

export interface AuthenticateOptions {
  readonly keys: KeyRing;
  readonly region: string;
  /** Hosts under which clients know this service, where a proxy replaces `Host`. */
  readonly hosts: readonly string[];
  /** Milliseconds since 1970. */
  readonly now: number;
}

const MAX_SKEW_MS = 15 * 60 * 1000;
const MAX_EXPIRES_SECONDS = 7 * 24 * 3600;

/** Checks a signature in the header or in the query by making it again (AWS Signature Version 4). */
export function authenticate(
  request: IncomingMessage,
  address: ObjectAddress,
  options: AuthenticateOptions,
): Signer {
  const header = request.headers.authorization;
  const isPresigned = queryValue(address, 'X-Amz-Algorithm') !== undefined;
  if (queryValue(address, 'AWSAccessKeyId') !== undefined || header?.startsWith('AWS ') === true)
    throw new ObjectError(
      'InvalidRequest',
      'Signature Version 2 is not supported. Let the client sign with AWS4-HMAC-SHA256 (signature_version s3v4).',
    );
  if (header === undefined && !isPresigned)
    throw new ObjectError('AccessDenied', 'The request is not signed. Anonymous access is not allowed.');
  if (header !== undefined && isPresigned)
    throw new ObjectError('InvalidArgument', 'Only one way of signing is allowed: header or query.');
  const claim = header === undefined ? readQueryClaim(address) : readHeaderClaim(request, header);
  checkScope(claim, options.region);
  const identity = options.keys.find(claim.accessKeyId, claim.sessionToken);
  if (identity === undefined)
    throw new ObjectError('InvalidAccessKeyId', 'The access key is not one of this service.');
  if (identity.scope !== undefined && identity.scope.expiresAt.getTime() <= options.now)
    throw new ObjectError(
      'ExpiredToken',
      'The temporary credentials have expired. Ask for the file again to get new ones.',
    );
  checkTime(claim, options.now);
  checkSignature(request, address, claim, identity, options);
  const { scope, signature, payloadHash } = claim;
  return { identity, scope, signature, payloadHash };
}

interface Claim {
  readonly accessKeyId: string;
  readonly sessionToken: string | undefined;
  readonly scope: SigningScope;
  readonly day: string;
  readonly service: string;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
  readonly payloadHash: string;
  /** Lifetime, for signed addresses only. */
  readonly expiresSeconds?: number;
}

function readHeaderClaim(request: IncomingMessage, header: string): Claim {
  const match =
    /^AWS4-HMAC-SHA256\s+Credential=([^\s,]+)\s*,\s*SignedHeaders=([^\s,]+)\s*,\s*Signature=([0-9a-f]{64})$/.exec(
      header.trim(),
    );
  if (match === null)
    throw new ObjectError(
      'AuthorizationHeaderMalformed',
      `The authorization header must be of the form ${ALGORITHM} Credential=…, SignedHeaders=…, Signature=….`,
    );
  const [, credential = '', signedHeaders = '', signature = ''] = match;
  const date = one(request, 'x-amz-date') ?? dateHeaderTime(request);
  if (date === undefined)
    throw new ObjectError('AccessDenied', 'The request has no valid x-amz-date or Date header.');
  const payloadHash = one(request, 'x-amz-content-sha256');
  if (payloadHash === undefined)
    throw new ObjectError('InvalidRequest', 'The header x-amz-content-sha256 is missing.');
  return {
    ...readCredential(credential, date, 'AuthorizationHeaderMalformed'),
    sessionToken: one(request, 'x-amz-security-token'),
    signedHeaders: signedHeaders.split(';'),
    signature,
    payloadHash,
  };
}

function readQueryClaim(address: ObjectAddress): Claim {
  const value = (name: string): string => {
    const found = queryValue(address, name);
    if (found === undefined)
      throw new ObjectError('AuthorizationQueryParametersError', `The query parameter ${name} is missing.`);
    return found;
  };
  if (value('X-Amz-Algorithm') !== ALGORITHM)
    throw new ObjectError('AuthorizationQueryParametersError', `X-Amz-Algorithm must be ${ALGORITHM}.`);
  const expiresSeconds = Number(value('X-Amz-Expires'));
  if (!Number.isInteger(expiresSeconds) || expiresSeconds < 1 || expiresSeconds > MAX_EXPIRES_SECONDS)
    throw new ObjectError(
      'AuthorizationQueryParametersError',
      'X-Amz-Expires must be between 1 and 604800 seconds.',
    );
  return {
    ...readCredential(value('X-Amz-Credential'), value('X-Amz-Date'), 'AuthorizationQueryParametersError'),
    sessionToken: queryValue(address, 'X-Amz-Security-Token'),
    signedHeaders: value('X-Amz-SignedHeaders').split(';'),
    signature: value('X-Amz-Signature'),
    payloadHash: queryValue(address, 'X-Amz-Content-Sha256') ?? UNSIGNED_PAYLOAD,
    expiresSeconds,
  };
}

function readCredential(
  text: string,
  time: string,
  code: 'AuthorizationHeaderMalformed' | 'AuthorizationQueryParametersError',
): Pick<Claim, 'accessKeyId' | 'scope' | 'day' | 'service'> {
  const [accessKeyId = '', day = '', region = '', service = '', end, ...more] = text.split('/');
  if (end !== 'aws4_request' || more.length > 0 || readTime(time) === undefined)
    throw new ObjectError(code, 'The credential must be <access key>/<date>/<region>/s3/aws4_request.');
  return { accessKeyId, scope: { time, region }, day, service };
}

function checkScope({ scope, day, service, expiresSeconds }: Claim, region: string): void {
  const code =
    expiresSeconds === undefined ? 'AuthorizationHeaderMalformed' : 'AuthorizationQueryParametersError';
  if (scope.region !== region)
    throw new ObjectError(code, `The region of the signature is wrong; expecting '${region}'.`, {
      facts: { Region: region },
    });
  if (service !== 's3') throw new ObjectError(code, "The service of the signature is wrong; expecting 's3'.");
  if (day !== scope.time.slice(0, 8))
    throw new ObjectError(code, 'The date of the credential is not the date of the request.');
}

function checkTime({ scope, expiresSeconds }: Claim, now: number): void {
  const signedAt = readTime(scope.time) ?? 0;
  if (expiresSeconds === undefined) {
    if (Math.abs(now - signedAt) <= MAX_SKEW_MS) return;
    throw new ObjectError(
      'RequestTimeTooSkewed',
      'The clock of the client and the clock of the service differ by more than 15 minutes.',
      {
        facts: {
          RequestTime: scope.time,
          ServerTime: new Date(now).toISOString(),
          MaxAllowedSkewMilliseconds: MAX_SKEW_MS,
        },
      },
    );
  }
  if (signedAt - now > MAX_SKEW_MS)
    throw new ObjectError('AccessDenied', 'The signed address is not valid yet.');
  if (now > signedAt + expiresSeconds * 1000) throw new ObjectError('AccessDenied', 'Request has expired');
}

function checkSignature(
  request: IncomingMessage,
  address: ObjectAddress,
  claim: Claim,
  identity: SignerIdentity,
  { hosts }: AuthenticateOptions,
): void {
  const { signedHeaders } = claim;
  const unsigned = Object.keys(request.headers)
    .filter((name) => name === 'host' || name.startsWith('x-amz-'))
    .find((name) => !signedHeaders.includes(name));
  if (unsigned !== undefined)
    throw new ObjectError(
      'AccessDenied',
      'There were headers present in the request which were not signed.',
      {
        facts: { HeadersNotSigned: unsigned },
      },
    );
  const signedHash = signedHeaders.includes('x-amz-content-sha256')
    ? one(request, 'x-amz-content-sha256')
    : undefined;
  const headersFor = (host: string) =>
    signedHeaders.map((name) => [name, name === 'host' ? host : (joined(request, name) ?? '')] as const);
  const query = address.query.filter(([name]) => name !== 'X-Amz-Signature');
  // Some clients sign the path as they send it, others in its one canonical form.
  const canonicalPath = encodePath(decodeURIComponent(Buffer.from(address.rawPath, 'latin1').toString()));
  for (const host of new Set([request.headers.host ?? '', ...hosts]))
    for (const path of new Set([address.rawPath, canonicalPath])) {
      const made = signRequest(
        {
          method: address.method,
          path,
          query,
          headers: headersFor(host),
          payloadHash: signedHash ?? claim.payloadHash,
        },
        identity.secretAccessKey,
        claim.scope,
      );
      if (isSame(made, claim.signature)) return;
    }
  throw new ObjectError(
    'SignatureDoesNotMatch',
    'The signature is not the one that this request and the secret key give. Check the secret key, and that no proxy changes the host or the path.',
  );
}

/** All values of a header, as they are signed. */
function joined(request: IncomingMessage, name: string): string | undefined {
  return request.headersDistinct[name]?.map((value) => value.trim()).join(',');
}

function one(request: IncomingMessage, name: string): string | undefined {
  return request.headersDistinct[name]?.[0];
}

function dateHeaderTime(request: IncomingMessage): string | undefined {
  const time = Date.parse(request.headers.date ?? '');
  return Number.isNaN(time)
    ? undefined
    : `${new Date(time).toISOString().replaceAll(/[-:]/g, '').slice(0, 15)}Z`;
}
