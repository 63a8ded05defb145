import type { StoredRecord } from './record-file.ts';

/** A change of the number of requests at once to a host, as the recording stores it. */
export interface LimitJson {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly origin: string;
  /** Names the credentials without telling them. */
  readonly credential?: string | undefined;
  /** Requests sent so far. */
  readonly sent: number;
  readonly from: number;
  readonly to: number;
  readonly why: string;
}

export function limitOf({ json }: StoredRecord): LimitJson {
  return JSON.parse(json) as LimitJson; // its check sum is that of what the writer made
}
