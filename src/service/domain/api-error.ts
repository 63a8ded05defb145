import type { ErrorBody, FieldError } from '../../storage/protocol/error.ts';

/**
 * An answer that is a refusal. Everything in it is shown to the caller: no token, no path of this
 * machine, no text of an unexpected error.
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

/** Fields of a request that are wrong, all of them at once. The route says which code they have. */
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

export const accessDenied = (): ApiError =>
  new ApiError(403, 'accessDenied', "You don't have access to the resource.");

export const notFound = (message: string, code = 'notFound'): ApiError => new ApiError(404, code, message);

/** Clients retry every other status above 499 for many minutes, so what is not supported says 501. */
export const notImplemented = (what: string): ApiError =>
  new ApiError(501, 'notImplemented', `${what} is not supported by this service.`);

/** The request was done under that key, so it is not done again; but nobody knows any more what was answered. */
export const answerLost = (): ApiError =>
  new ApiError(
    410,
    'storage.idempotency.answerLost',
    'The request with this Idempotency-Key was done before, and its answer is not kept: look at what it made.',
  );
