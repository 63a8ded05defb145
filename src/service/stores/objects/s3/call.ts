import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Env } from '../../../../lib/env.ts';
import type { ObjectFolder } from '../folder/folder.ts';
import { queryValue, type ObjectAddress } from './address.ts';
import type { ObjectPermission } from './authorize.ts';
import type { Signer } from './authenticate.ts';

/** One request on its way through an operation: the caller, the address, and how to answer. */
export interface S3Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly address: ObjectAddress;
  readonly signer: Signer;
  readonly folder: ObjectFolder;
  readonly bucket: string;
  readonly region: string;
  readonly maxUploadBytes: number;
  readonly aliveMs: number;
  readonly env: Env;
  /** The body as it comes from the wire; asks a waiting client to send it (`Expect: 100-continue`). */
  readonly source: () => AsyncIterable<Uint8Array>;
}

/** One kind of request. The first of the list that fits is run. */
export interface S3Operation {
  readonly name: string;
  readonly method: string;
  readonly level: 'service' | 'bucket' | 'object';
  /** Query parameters that must be there, with or without a value; `list-type=2` asks for that value. */
  readonly params?: readonly string[];
  /** A header that must be there. */
  readonly header?: string;
  readonly action: ObjectPermission;
  /** Key that is read or written; that of the address by default. */
  readonly target?: (call: S3Call) => string;
  readonly run: (call: S3Call) => Promise<void>;
}

export function param(call: S3Call, name: string): string | undefined {
  return queryValue(call.address, name);
}

/** A request header; undefined when it is absent or empty. */
export function header(call: S3Call, name: string): string | undefined {
  const value = call.request.headers[name];
  const text = Array.isArray(value) ? value.join(',') : value;
  return text === undefined || text === '' ? undefined : text;
}
