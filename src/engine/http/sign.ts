import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { ConfigError } from '../../lib/errors.ts';
import type { Env } from '../../lib/env.ts';
import { isList, toText, type Json } from '../../lib/json/index.ts';
import { asObject, SettingsReader } from '../../lib/read-settings.ts';
import { parseQuery } from './encode.ts';
import { withHeader, type ApiRequest, type Headers, type SendWrapper } from '../shared/message.ts';
import { targetOf } from './send/target.ts';

const AT = 'parameters.aws.signature.credentials';

/** The key that signs, and what it signs for. */
export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretKey: string;
  /** Code of the service, such as `execute-api`. */
  readonly serviceName: string;
  /** Code of the region, such as `eu-west-1`. */
  readonly regionName: string;
  /** With temporary credentials only. */
  readonly sessionToken?: string;
}

/**
 * Signs every request with AWS Signature Version 4, in headers. Signed are the method, the
 * path, the query, the body, and the headers `host`, `content-type` and `x-amz-*`; others may be changed on the way.
 */
export function signAws(credentials: AwsCredentials, env: Env): SendWrapper {
  const signer = loadSigner(credentials);
  return (next) => async (request, options) => next(await sign(request, await signer(), env), options);
}

/**
 * Reads `parameters.aws`: `signature.credentials` with `accessKeyId`, `#secretKey`, `serviceName`, `regionName`
 * and, for temporary credentials, `#sessionToken`. Undefined when there is nothing to sign with.
 *
 * @throws {ConfigError} naming the key that is missing
 */
export function parseAwsCredentials(aws: Json | undefined): AwsCredentials | undefined {
  const signature = read.map(asObject(aws) ?? {}, 'signature', 'parameters.aws') ?? {};
  const credentials = read.map(signature, 'credentials', 'parameters.aws.signature');
  if (credentials === undefined) return undefined;
  const text = (key: string): string => {
    const value = read.text(credentials, key, AT);
    if (value !== undefined) return value;
    throw invalid(
      `${AT}.${key}`,
      `The AWS signature needs “${key}”.`,
      'Give accessKeyId, #secretKey, serviceName (such as "execute-api") and regionName (such as "eu-west-1").',
    );
  };
  const sessionToken = read.text(credentials, '#sessionToken', AT);
  return {
    accessKeyId: text('accessKeyId'),
    secretKey: text('#secretKey'),
    serviceName: text('serviceName'),
    regionName: text('regionName'),
    ...(sessionToken === undefined ? {} : { sessionToken }),
  };
}

const invalid = (path: string, message: string, hint?: string): ConfigError =>
  new ConfigError('config.invalid', message, { where: { path }, hint });
const read = new SettingsReader(invalid);

/** The part of the signing library that is used here. */
interface Signer {
  sign(
    request: SignableRequest,
    options: { signingDate: Date; unsignableHeaders: Set<string> },
  ): Promise<{ headers: Record<string, string> }>;
}

interface SignableRequest {
  method: string;
  protocol: string;
  hostname: string;
  port?: number;
  path: string;
  query: Record<string, string | string[]>;
  headers: Record<string, string>;
  body?: string | Uint8Array;
}

/** Loads the signer with the first request: few configurations need it. */
function loadSigner(credentials: AwsCredentials): () => Promise<Signer> {
  const load = async (): Promise<Signer> => {
    const { SignatureV4 } = await import('@smithy/signature-v4');
    // S3 takes the path as it is sent and wants the checksum of the body in a header; all others encode it once more.
    const isS3 = /^s3(?:-|$)/.test(credentials.serviceName);
    return new SignatureV4({
      service: credentials.serviceName,
      region: credentials.regionName,
      credentials: {
        accessKeyId: credentials.accessKeyId,
        secretAccessKey: credentials.secretKey,
        ...(credentials.sessionToken === undefined ? {} : { sessionToken: credentials.sessionToken }),
      },
      sha256: Sha256,
      uriEscapePath: !isS3,
      applyChecksum: isS3,
    });
  };
  let signer: Promise<Signer> | undefined;
  return () => (signer ??= load());
}

async function sign(request: ApiRequest, signer: Signer, env: Env): Promise<ApiRequest> {
  // A plus may be read as a space or as a plus; %20 is read in one way only.
  const mark = request.url.indexOf('?');
  const url =
    mark < 0 ? request.url : request.url.slice(0, mark) + request.url.slice(mark).replaceAll('+', '%20');
  const { secure, hostname, port, host, path: target } = targetOf(url);
  const [path = '/'] = target.split('?', 1);
  const headers = withHost(request.headers, host);
  const signed = await signer.sign(
    {
      method: request.method,
      protocol: secure ? 'https:' : 'http:',
      hostname,
      port,
      path,
      query: queryBag(target.slice(path.length + 1)),
      headers: { ...headers },
      ...(request.body === undefined ? {} : { body: request.body }),
    },
    { signingDate: new Date(env.now()), unsignableHeaders: unsigned(headers) },
  );
  let result = request.headers;
  for (const [name, value] of Object.entries(signed.headers)) {
    if (name === 'authorization') result = withHeader(result, 'Authorization', value);
    else if (name.startsWith('x-amz-')) result = withHeader(result, name, value);
  }
  return { ...request, url, headers: result };
}

/** Sets the host that the server sees: a configured `Host` header counts more than the address. */
function withHost(headers: Headers, host: string): Headers {
  const own = Object.keys(headers).find((name) => name.toLowerCase() === 'host');
  return own === undefined ? { ...headers, host } : headers;
}

function unsigned(headers: Headers): Set<string> {
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  return new Set(
    names.filter((name) => name !== 'host' && name !== 'content-type' && !name.startsWith('x-amz-')),
  );
}

/** Returns the decoded parameters of a query; a bare name is signed as an empty value. */
function queryBag(query: string): Record<string, string | string[]> {
  const bag: Record<string, string | string[]> = Object.create(null) as Record<string, string | string[]>;
  for (const [name, value] of parseQuery(query)) {
    bag[name] = isList(value) ? value.map((item) => toText(item)) : toText(value);
  }
  return bag;
}

/** SHA-256 and its HMAC by the runtime, in the shape that the signing library takes. */
class Sha256 {
  readonly #hash: Hash | Hmac;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret));
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(bytesOf(data));
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest());
  }

  reset(): void {
    throw new Error('A hash is used once.');
  }
}

function bytesOf(data: string | ArrayBuffer | ArrayBufferView): Buffer {
  if (typeof data === 'string') return Buffer.from(data);
  return data instanceof ArrayBuffer
    ? Buffer.from(data)
    : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}
