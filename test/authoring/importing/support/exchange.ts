/** A request as the example APIs see it. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  /** Beginning of links. */
  readonly base: string;
}

export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text or bytes as they are, anything else as JSON. */
  readonly body: unknown;
}

export type Api = (asked: Asked) => Answer;
