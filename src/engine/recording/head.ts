import { createHmac } from 'node:crypto';
import {
  encodeExact,
  entriesOf,
  isList,
  isObject,
  objectOf,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import type { Env } from '../../lib/env.ts';
import type { Secrets } from '../../lib/secrets.ts';
import { VERSION } from '../../lib/version.ts';
import { FORMAT_VERSION } from './format.ts';

/** How a recording begins: what it is a recording of. */
export interface RecordingHead {
  readonly format: typeof FORMAT_VERSION;
  /** Version of the program. */
  readonly version: string;
  /** Milliseconds since 1970; the time of the run for its functions and its state. */
  readonly startedAt: number;
  /** Id of the row, if there are rows. */
  readonly row?: string;
  /** Makes the digests differ from recording to recording, so that they cannot be looked up. */
  readonly salt: string;
  /** Path and digest of each value of the configuration. Absent in a recording that was made to be sent away. */
  readonly keys?: readonly (readonly [path: string, digest: string])[];
  /** The state that the run began with: exact JSON, secret values replaced. */
  readonly state: string;
  readonly stateDigest: string;
  /** The stretch of time that the run fills again, in milliseconds since 1970. */
  readonly period?: Period;
}

/** From a moment to before another one, in milliseconds since 1970. */
export interface Period {
  readonly from: number;
  readonly to: number;
}

/** Inputs of a run: runs over the same inputs have the same answers to the same requests. */
export interface Subject {
  readonly row: string | undefined;
  /** Root and row merged. */
  readonly configuration: AnyObject;
  readonly state: AnyObject;
  /** A stretch of time that is filled again; undefined for a run that goes on from the state. */
  readonly period?: Period | undefined;
}

/** Creates the head of a recording that begins now. */
export function makeHead(
  { row, configuration, state, period }: Subject,
  { env, secrets }: { readonly env: Env; readonly secrets: Secrets },
): RecordingHead {
  const salt = Buffer.from(env.randomBytes(16)).toString('base64url');
  return {
    format: FORMAT_VERSION,
    version: VERSION,
    startedAt: env.now(),
    ...(row === undefined ? {} : { row }),
    salt,
    keys: digestsOf(configuration, salt),
    state: encodeExact(withoutSecrets(state, secrets)),
    stateDigest: digestOf(encodeExact(state), salt),
    ...(period === undefined ? {} : { period }),
  };
}

function withoutSecrets(value: Json, secrets: Secrets): Json {
  if (typeof value === 'string') return secrets.redact(value);
  if (isList(value)) return value.map((item) => withoutSecrets(item, secrets));
  if (!isObject(value)) return value;
  return objectOf(entriesOf(value).map(([key, item]) => [key, withoutSecrets(item, secrets)] as const));
}

/** Describes the difference between the inputs of a recording and those of a run; undefined when there is none. */
export function difference(head: RecordingHead, subject: Subject): string | undefined {
  const { configuration, state, period } = subject;
  if (head.version !== VERSION) return `it was made by version ${head.version}, and this is ${VERSION}`;
  if (head.period?.from !== period?.from || head.period?.to !== period?.to)
    return head.period === undefined ? 'this one fills a period again' : 'it filled another period again';
  const path = changedKey(head, configuration);
  if (path !== undefined) return `the configuration has changed since, first at “${path}”`;
  return changedState(head, state);
}

/** Describes a change of the state since the recording; undefined when there is none. */
export function changedState({ stateDigest, salt }: RecordingHead, state: AnyObject): string | undefined {
  return stateDigest === digestOf(encodeExact(state), salt) ? undefined : 'the state has changed since';
}

/** Returns the first key of a configuration whose value has changed; undefined when there is none, or it is unknown. */
export function changedKey({ keys, salt }: RecordingHead, configuration: AnyObject): string | undefined {
  if (keys === undefined) return undefined;
  const known = new Map(keys);
  const now = digestsOf(configuration, salt);
  const changed = now.find(([path, digest]) => known.get(path) !== digest)?.[0];
  const names = new Set(now.map(([path]) => path));
  return changed ?? keys.find(([path]) => !names.has(path))?.[0];
}

/**
 * Returns a digest of each value: a change can then be named, and no value is kept. The mappings of the storage are
 * left out, because they change no answer, and so are the credentials of an authorization, which a platform renews for
 * every run.
 */
function digestsOf(configuration: AnyObject, salt: string): readonly (readonly [string, string])[] {
  const found: [string, string][] = [];
  const visit = (value: Json, path: string): void => {
    if (LEFT_OUT.has(path)) return;
    const items = isList(value)
      ? value.map((item, i) => [`[${i}]`, item] as const)
      : isObject(value)
        ? entriesOf(value).map(([key, item]) => [path === '' ? key : `.${key}`, item] as const)
        : [];
    if (items.length === 0) found.push([path, digestOf(encodeExact(value), salt)]);
    for (const [step, item] of items) visit(item, path + step);
  };
  visit(configuration, '');
  return found;
}

const LEFT_OUT: ReadonlySet<string> = new Set(['storage', 'authorization.oauth_api.credentials']);

function digestOf(text: string, salt: string): string {
  return createHmac('sha256', salt).update(text).digest('base64url').slice(0, 16);
}
