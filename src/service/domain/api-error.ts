import type { ErrorBody, FieldError } from '../../storage/protocol/error.ts';

/**
 * Answer that refuses a request. Everything in it is shown to the caller: no token, no path of this machine, no text
 * of an unexpected error.
 */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly errors: readonly FieldError[] | undefined;
  readonly params: Readonly<Record<string, string | number>>;
  /** Seconds until asking again makes sense. */
  readonly retryAfter: number | undefined;

  constructor(
    status: number,
    code: string,
    message: string,
    options: {
      errors?: readonly FieldError[];
      params?: Readonly<Record<string, string | number>>;
      retryAfter?: number;
      cause?: unknown;
    } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
    this.errors = options.errors;
    this.params = options.params ?? {};
    this.retryAfter = options.retryAfter;
  }

  toBody(exceptionId: string): ErrorBody {
    return {
      status: 'error',
      error: this.message,
      code: this.code,
      exceptionId,
      params: this.params,
      ...(this.errors === undefined ? {} : { errors: [...this.errors] }),
    };
  }
}

/** Error with all wrong fields of a request. The route defines its code. */
export class InvalidRequest extends Error {
  readonly errors: readonly FieldError[];

  constructor(errors: readonly FieldError[]) {
    super(invalidRequestText(errors));
    this.name = 'InvalidRequest';
    this.errors = errors;
  }
}

export function invalidRequestText(errors: readonly FieldError[]): string {
  return ['Invalid request:', ...errors.map(({ key, message }) => ` - ${key}: "${message}"`)].join('\n');
}

export const badRequest = (code: string, message: string): ApiError => new ApiError(400, code, message);

/** One wrong field, with the list that validation errors have. */
export const invalidField = (code: string, key: string, message: string): ApiError =>
  new ApiError(400, code, invalidRequestText([{ key, message }]), { errors: [{ key, message }] });

/** Refuses a token that changes nothing. */
export const readOnly = (): ApiError => new ApiError(403, 'accessDenied', 'This token may only read.');

export const accessDenied = (): ApiError =>
  new ApiError(403, 'accessDenied', "You don't have access to the resource.");

export const notFound = (message: string, code = 'notFound'): ApiError => new ApiError(404, code, message);

/**
 * Returns the error of an unsupported operation. Clients retry every other status above 499 for many minutes, so it
 * is 501.
 */
export const notImplemented = (what: string): ApiError =>
  new ApiError(501, 'notImplemented', `${what} is not supported by this service.`);

/** Returns the error of a request that was done under its key and is not done again, but whose answer is lost. */
export const answerLost = (): ApiError =>
  new ApiError(
    410,
    'storage.idempotency.answerLost',
    'The request with this Idempotency-Key was done before, and its answer is not kept: look at what it made.',
  );
