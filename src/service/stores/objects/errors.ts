/** Error codes of the S3 protocol that this service gives, with their HTTP status. */
export const OBJECT_ERROR_STATUS = {
  AccessDenied: 403,
  AuthorizationHeaderMalformed: 400,
  AuthorizationQueryParametersError: 400,
  BadDigest: 400,
  BucketAlreadyOwnedByYou: 409,
  EntityTooLarge: 400,
  EntityTooSmall: 400,
  ExpiredToken: 400,
  IncompleteBody: 400,
  InsufficientStorage: 507,
  InternalError: 500,
  InvalidAccessKeyId: 403,
  InvalidArgument: 400,
  InvalidDigest: 400,
  InvalidPart: 400,
  InvalidPartNumber: 416,
  InvalidPartOrder: 400,
  InvalidRange: 416,
  InvalidRequest: 400,
  InvalidURI: 400,
  KeyTooLongError: 400,
  MalformedXML: 400,
  MetadataTooLarge: 400,
  MethodNotAllowed: 405,
  NoSuchBucket: 404,
  NoSuchKey: 404,
  NoSuchUpload: 404,
  NotImplemented: 501,
  NotModified: 304,
  PreconditionFailed: 412,
  RequestTimeTooSkewed: 403,
  RequestTimeout: 400,
  ServiceUnavailable: 503,
  SignatureDoesNotMatch: 403,
  XAmzContentSHA256Mismatch: 400,
} as const;
export type ObjectErrorCode = keyof typeof OBJECT_ERROR_STATUS;

/** Error of any object store. The message is for people and holds no secret; `facts` appear beside it. */
export class ObjectError extends Error {
  readonly code: ObjectErrorCode;
  readonly status: number;
  readonly facts: Readonly<Record<string, string | number>>;
  /** The message together with that of an outside store, which may name addresses: for operators of the service. */
  readonly inFull: string;

  constructor(
    code: ObjectErrorCode,
    message: string,
    options: {
      facts?: Readonly<Record<string, string | number>>;
      words?: string | undefined;
      cause?: unknown;
    } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'ObjectError';
    this.code = code;
    this.status = OBJECT_ERROR_STATUS[code];
    this.facts = options.facts ?? {};
    const { words = '' } = options;
    this.inFull = words === '' ? message : `${message.replace(/\.$/, '')}: ${words}.`;
  }
}

/** The bytes or the metadata of an object are not those that were written: the disk, or a person, changed them. */
export class DamagedObject extends ObjectError {
  /** @param file where it is, for the log alone */
  constructor(file: string) {
    super(
      'InternalError',
      'A file of the object store is damaged: its bytes are not those that were written.',
      {
        cause: new Error(file),
      },
    );
  }
}

export const noSuchUpload = (): ObjectError =>
  new ObjectError(
    'NoSuchUpload',
    'There is no such multipart upload: it was completed, aborted or never begun.',
  );

/** Converts any error to an `ObjectError`: a full disk is named as such, an unexpected error is `InternalError`. */
export function toObjectError(error: unknown): ObjectError {
  if (error instanceof ObjectError) return error;
  const code = errnoOf(error);
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new ObjectError('InsufficientStorage', 'The disk of the object store is full.', { cause: error });
  return new ObjectError('InternalError', 'The object store failed; its log says more.', { cause: error });
}

/** The system's error code (`ENOENT`), if it is such an error. */
export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
