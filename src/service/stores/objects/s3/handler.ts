import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Env } from '../../../../lib/env.ts';
import type { Log } from '../../../../lib/log.ts';
import { errnoOf, ObjectError, toObjectError } from '../errors.ts';
import type { ObjectFolder } from '../folder/folder.ts';
import type { KeyRing } from '../key-ring.ts';
import { discard } from '../../../platform/connections/discard.ts';
import { hasSeveralHosts } from '../../../platform/connections/hosts.ts';
import type { KeyHolder } from '../store.ts';
import { checkKey } from '../keys.ts';
import { queryValue, readAddress, type ObjectAddress } from './address.ts';
import { authenticate } from './authenticate.ts';
import { authorize } from './authorize.ts';
import type { S3Call, S3Operation } from './call.ts';
import { LIST_OPERATIONS } from './list-operations.ts';
import { MULTIPART_OPERATIONS } from './multipart-operations.ts';
import { READ_OPERATIONS } from './read-operations.ts';
import { errorElement } from './reply.ts';
import { WRITE_OPERATIONS } from './write-operations.ts';
import { XML_DECLARATION, xmlText } from './xml.ts';

export interface S3HandlerOptions {
  readonly bucket: string;
  /** The region that clients sign for. */
  readonly region: string;
  readonly env: Env;
  readonly log: Log;
  /** Time after which the answer to a completed multipart upload begins, while its parts are joined; 5 s. */
  readonly aliveMs?: number;
  /** Largest body of one request; 5 GiB, as in S3. */
  readonly maxUploadBytes?: number;
  /** Hosts under which clients know this service, also where a proxy replaces `Host`. Asked for each request. */
  readonly hosts?: () => readonly string[];
  /** Tells whether the file and the token that temporary credentials were given for still exist; default: they do. */
  readonly isHeld?: (holder: KeyHolder) => Promise<boolean>;
}

/**
 * Answers one request. It never rejects. With `mustContinue` (the server's `checkContinue` event) the client waits to
 * be asked for the body, which happens only once its credentials are found right.
 */
export type S3Handler = (
  request: IncomingMessage,
  response: ServerResponse,
  options?: { readonly mustContinue?: boolean },
) => Promise<void>;

const OPERATIONS: readonly S3Operation[] = [
  ...MULTIPART_OPERATIONS,
  ...WRITE_OPERATIONS,
  ...LIST_OPERATIONS,
  ...READ_OPERATIONS,
];

const DEFAULT_MAX_UPLOAD_BYTES = 5 * 1024 ** 3;

/** The S3 protocol over a folder: path-style and virtual-host, every request signed. */
export function createS3Handler(folder: ObjectFolder, keys: KeyRing, options: S3HandlerOptions): S3Handler {
  const { bucket, region, env, log, maxUploadBytes = DEFAULT_MAX_UPLOAD_BYTES, aliveMs = 5000 } = options;
  return async (request, response, { mustContinue = false } = {}) => {
    const requestId = Buffer.from(env.randomBytes(8)).toString('hex').toUpperCase();
    response.setHeader('x-amz-request-id', requestId);
    let operation = '';
    let isWaiting = mustContinue;
    try {
      if (hasSeveralHosts(request))
        throw new ObjectError('InvalidRequest', 'The request has more than one Host header.');
      const hosts = options.hosts?.() ?? [];
      const address = readAddress(request, bucket, hosts);
      const signer = authenticate(request, address, { keys, region, hosts, now: env.now() });
      if (address.bucket !== undefined && address.bucket !== bucket)
        throw new ObjectError('NoSuchBucket', 'The specified bucket does not exist.', {
          facts: { BucketName: address.bucket },
        });
      if (address.key !== '') checkKey(address.key);
      const found = findOperation(request, address);
      operation = found.name;
      const source = (): AsyncIterable<Uint8Array> => {
        if (isWaiting) response.writeContinue();
        isWaiting = false;
        return readSource(request);
      };
      const call: S3Call = {
        request,
        response,
        address,
        signer,
        folder,
        bucket,
        region,
        maxUploadBytes,
        aliveMs,
        env,
        source,
      };
      authorize(signer.identity, found.action, found.target?.(call) ?? address.key);
      const holder = signer.identity.scope?.holder;
      if (holder !== undefined && (await options.isHeld?.(holder)) === false)
        throw new ObjectError(
          'ExpiredToken',
          'The file or the token that these temporary credentials were given for is gone.',
        );
      await found.run(call);
    } catch (error) {
      // A client that was never asked for its body may send it or not: only a new connection is in a known state.
      sendError(request, response, toObjectError(error), requestId, isWaiting);
      report(error, operation, requestId, log);
    }
    discard(request);
  };
}

function findOperation(request: IncomingMessage, address: ObjectAddress): S3Operation {
  const { method, bucket, key } = address;
  const level = bucket === undefined ? 'service' : key === '' ? 'bucket' : 'object';
  const unsupported = address.query.find(([name]) => UNSUPPORTED.has(name))?.[0];
  if (unsupported !== undefined)
    throw new ObjectError('NotImplemented', `The operation ${method} ?${unsupported} is not supported.`);
  const found = OPERATIONS.find(
    (operation) =>
      operation.method === method &&
      operation.level === level &&
      (operation.header === undefined || request.headers[operation.header] !== undefined) &&
      (operation.params ?? []).every((wanted) => {
        const [name = '', value] = wanted.split('=');
        const given = queryValue(address, name);
        return value === undefined ? given !== undefined : given === value;
      }),
  );
  if (found !== undefined) return found;
  throw new ObjectError('MethodNotAllowed', `${method} is not possible here.`);
}

/** Parts of objects and buckets that this store does not have. Passed over, `PUT key?acl` would write the object. */
const UNSUPPORTED: ReadonlySet<string> = new Set(
  (
    'accelerate acl analytics attributes cors encryption intelligent-tiering inventory legal-hold lifecycle logging ' +
    'metrics notification object-lock ownershipControls policy policyStatus publicAccessBlock replication ' +
    'requestPayment restore retention select tagging torrent versionId versions website'
  ).split(' '),
);

function sendError(
  request: IncomingMessage,
  response: ServerResponse,
  error: ObjectError,
  requestId: string,
  isLast: boolean,
): void {
  if (response.headersSent) {
    // The status line is gone: only a broken connection tells the client that the content is not whole.
    response.destroy();
    return;
  }
  for (const name of response.getHeaderNames()) if (name !== 'x-amz-request-id') response.removeHeader(name);
  if (isLast) response.setHeader('connection', 'close');
  if (error.code === 'NotModified') {
    response.writeHead(304, { etag: String(error.facts['ETag'] ?? '') }).end();
    return;
  }
  if (error.code === 'InvalidRange')
    response.setHeader('content-range', `bytes */${error.facts['ActualObjectSize'] ?? '*'}`);
  const [resource = ''] = (request.url ?? '').split('?');
  const body = Buffer.from(XML_DECLARATION + xmlText(errorElement(error, resource, requestId)));
  response.writeHead(error.status, { 'content-type': 'application/xml', 'content-length': body.length });
  response.end(request.method === 'HEAD' ? undefined : body);
}

/** Logs a failure: one of the client at the debug level, one of ours as an error. */
function report(error: unknown, operation: string, requestId: string, log: Log): void {
  const { code, status, message } = toObjectError(error);
  const hasLeft = ['ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_UNABLE_TO_PIPE', 'EPIPE'].includes(
    errnoOf(error) ?? '',
  );
  if (status < 500 || hasLeft || code === 'NotImplemented') {
    log.debug('An object request was refused or cut off.', { operation, code, message, requestId });
    return;
  }
  const reason =
    error instanceof Error ? (error.cause instanceof Error ? error.cause : error).message : String(error);
  log.error('An object request failed.', { operation, code, reason, requestId });
}

/**
 * The bytes of a request. Leaving it early keeps the connection, unlike a plain `for await` over the request: the
 * client can still be told why.
 */
async function* readSource(request: IncomingMessage): AsyncGenerator<Uint8Array> {
  // A request without encoding yields buffers.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) yield chunk as Buffer;
}
