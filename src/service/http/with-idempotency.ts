import { createHash } from 'node:crypto';
import { encodeExact, type Json } from '../../lib/json/index.ts';
import type { Context } from '../domain/context.ts';
import { File } from '../../storage/protocol/file.ts';
import { Job } from '../../storage/protocol/job.ts';
import { findJob } from '../stores/metadata/jobs.ts';
import {
  claimingTransactions,
  findKey,
  keepAnswer,
  KeyTaken,
  NotRepeatable,
  replayingTransactions,
  type RequestKey,
} from '../stores/metadata/idempotency-keys.ts';
import type { RequestKeyRow } from '../stores/metadata/tables.ts';
import { jobReply } from '../domain/presenters/job.ts';
import { Answer } from './answer.ts';
import { RawJson, type Reply } from '../domain/reply.ts';
import { encodeReply } from '../domain/encode-reply.ts';
import { answerLost, ApiError, badRequest } from '../domain/api-error.ts';
import type { Caller } from '../domain/tokens/caller.ts';
import type { Call, Route } from './route.ts';

type AnyCall = Call<Readonly<Record<string, string>>, unknown, unknown>;

/**
 * Does a request with an `Idempotency-Key` once: the same request again, however late, gets the same answer. The key
 * belongs to the token and to that very request. A refused request has changed nothing, and may be tried again.
 *
 * The key is stored in the transaction that makes the change, so that a service that is killed in between, or a
 * second process of it, never does it again. The result of the transaction is stored with it: from that, the answer
 * is made again for a client that did not get it.
 */
export async function withIdempotency(context: Context, route: Route, call: AnyCall): Promise<unknown> {
  const key = keyOf(route, call);
  if (key === undefined) return await route.handle(call);
  const { meta, env } = context;
  for (;;) {
    const known = await findKey(meta, key);
    if (known !== undefined && !isSame(known, key, 'request')) throw otherRequest();
    const fileId = route.response === File ? (known?.file_id ?? undefined) : undefined;
    if (known !== undefined && fileId === undefined) {
      // A deletion removes permissions for the deleted resource, and its answer has no content.
      if (route.method !== 'DELETE' && !isSame(known, key, 'rights')) throw rightsChanged();
      return await repeated(context, route, { known, call, key });
    }
    const hasSecret = route.makesSecret === true;
    const claim = claimingTransactions(meta, key, {
      now: env.now(),
      hasSecret,
      isKept: fileId !== undefined,
    });
    let answer: unknown;
    try {
      answer = await route.handle({ ...call, transact: claim.transact, madeFile: fileId });
    } catch (error) {
      if (error instanceof KeyTaken) continue;
      if (claim.isKept()) await rememberRefusal(context, key, error);
      // The same request may have been done just before the refusal: that the resource exists now is no error.
      else if (known === undefined && error instanceof ApiError && error.status < 500) {
        if ((await findKey(meta, key)) !== undefined) continue;
      }
      throw error;
    }
    const other = await remember(context, route, { key, answer });
    return other ?? (fileId === undefined ? answer : replayed(route, answer));
  }
}

const HEADER = 'idempotency-key';

function keyOf(route: Route, call: AnyCall): RequestKey | undefined {
  const { request } = call;
  const header = request.headers[HEADER];
  if (header === undefined || route.method === 'GET') return undefined;
  const key = String(header).trim();
  if (!/^[\x20-\x7e]{1,255}$/.test(key))
    throw badRequest('storage.idempotency.invalidKey', 'An Idempotency-Key has 1 to 255 plain signs.');
  // Only open routes are called without one.
  const caller = call.caller as Caller | undefined;
  if (caller === undefined)
    throw badRequest(
      'storage.idempotency.notSupported',
      'This operation takes no Idempotency-Key: it is done without a token, and a key belongs to one.',
    );
  if (route.takesFile === true || (route.isRaw === true && request.isMultipart()))
    throw badRequest(
      'storage.idempotency.notSupported',
      'This operation takes no Idempotency-Key: what it carries is not compared with an earlier request.',
    );
  const digest = createHash('sha256').update(`${route.method} ${request.url}\n`);
  digest.update(encodeExact((request.body ?? null) as Json)); // as the parsers made it
  const rights = caller.runLimits === undefined ? `.${rightsOf(caller)}` : '';
  return { token_id: caller.id, key, digest: `${digest.digest('hex')}${rights}` };
}

/** Returns the permissions of a caller as text, which differs after a change of the same token. */
function rightsOf({ token }: Caller): string {
  const { is_master, can_manage_buckets, can_read_all_files, can_purge_trash, is_read_only } = token;
  const { bucket_permissions, bucket_branch_id, component_access } = token;
  const flags = [is_master, can_manage_buckets, can_read_all_files, can_purge_trash];
  // The text of all others is that of the version before.
  const reading = is_read_only === 1 ? ['reads'] : [];
  const rights = [...flags, bucket_permissions, bucket_branch_id, component_access, ...reading];
  return createHash('sha256').update(JSON.stringify(rights)).digest('hex').slice(0, 32);
}

/**
 * Compares a part of two requests. A request that an earlier version stored has no permissions. Those of a run's
 * token are not compared: each run gets the permissions that its configuration needs, and finishes the work that the
 * one before it began.
 */
function isSame(
  known: Pick<RequestKeyRow, 'digest'>,
  key: Pick<RequestKey, 'digest'>,
  what: 'request' | 'rights',
): boolean {
  const part = what === 'request' ? 0 : 1;
  const [before, now] = [known, key].map(({ digest }) => digest.split('.')[part]);
  return before === now || (what === 'rights' && (before === undefined || now === undefined));
}

/** Milliseconds that another process may work on the first of two requests, when its answer cannot be made again. */
const PATIENCE_MS = 60_000;

async function repeated(
  context: Context,
  route: Route,
  { known, call, key }: { readonly known: RequestKeyRow; readonly call: AnyCall; readonly key: RequestKey },
): Promise<Answer> {
  const { status, answer, job_id, made, created } = known;
  if (status !== null) return keptAnswer(status, answer);
  const job = job_id === null || route.response !== Job ? undefined : await findJob(context.meta, job_id);
  if (job !== undefined) return new Answer(202, jobReply(job, call.origin), REPLAYED);
  const again = made === null ? undefined : await answerAgain(context, route, { made, call, key });
  if (again !== undefined) return again;
  if (context.env.now() - Date.parse(created) > PATIENCE_MS) throw answerLost();
  throw new ApiError(
    409,
    'storage.idempotency.inProgress',
    'The request with this Idempotency-Key is being done: ask again.',
    { retryAfter: 1 },
  );
}

const keptAnswer = (status: number, answer: string | null): Answer =>
  new Answer(status, answer === null ? undefined : new RawJson(answer), REPLAYED);

const REPLAYED = { 'idempotency-replayed': 'true' } as const;

/** Returns the answer of a request whose change was made; undefined when its resource no longer exists. */
async function answerAgain(
  context: Context,
  route: Route,
  { made, call, key }: { readonly made: string; readonly call: AnyCall; readonly key: RequestKey },
): Promise<Answer | undefined> {
  try {
    const answer = await route.handle({ ...call, transact: replayingTransactions(made) });
    const other = await remember(context, route, { key, answer });
    if (other !== undefined) return other;
    return replayed(route, answer);
  } catch (error) {
    if (error instanceof NotRepeatable || (error instanceof ApiError && error.status < 500)) return undefined;
    throw error;
  }
}

const rightsChanged = (): ApiError =>
  new ApiError(
    403,
    'storage.idempotency.rightsChanged',
    'The request with this Idempotency-Key was done when the token had other rights: its answer is not given again. Look at what it made.',
  );

/** Returns the answer of a handler for a request that was done before. */
function replayed(route: Route, answer: unknown): Answer {
  if (answer instanceof Answer)
    return new Answer(answer.status, answer.body, { ...answer.headers, ...REPLAYED });
  // Any other result of a handler.
  return new Answer(
    answer === undefined ? 204 : (route.status ?? 200),
    answer as Reply | undefined,
    REPLAYED,
  );
}

const otherRequest = (): ApiError =>
  new ApiError(
    422,
    'storage.idempotency.otherRequest',
    'This Idempotency-Key was used before, for a request that was not the same: every request needs its own.',
  );

/** Characters of an answer that is stored; a client that repeats a request with a longer one has to query. */
const MAX_ANSWER_LENGTH = 1024 * 1024;

/** Stores the answer. @returns the answer that the same request got meanwhile: all clients get the same one */
async function remember(
  context: Context,
  route: Route,
  { key, answer }: { readonly key: RequestKey; readonly answer: unknown },
): Promise<Answer | undefined> {
  const given = answer instanceof Answer ? answer.body : answer;
  const status = answer instanceof Answer ? answer.status : (route.status ?? 200);
  // Made again from the job, or the file.
  if ((route.response === Job && status === 202) || route.response === File) return undefined;
  if (route.makesSecret === true) return undefined;
  const text = given === undefined ? null : textOf(given);
  if (text === undefined || (text?.length ?? 0) > MAX_ANSWER_LENGTH) return undefined;
  const { meta, env } = context;
  const kept = { status: given === undefined ? 204 : status, answer: text, now: env.now() };
  if (await keepAnswer(meta, key, kept)) return undefined;
  const other = await findKey(meta, key);
  return other?.status == null ? undefined : keptAnswer(other.status, other.answer);
}

function textOf(body: unknown): string | undefined {
  const isStream = typeof body === 'object' && body !== null && 'pipe' in body;
  return isStream ? undefined : encodeReply(body as Reply); // whatever else a handler answers
}

/** Stores the refusal of a request that had changed something: the same request is refused the same way. */
async function rememberRefusal({ meta, env }: Context, key: RequestKey, error: unknown): Promise<void> {
  if (!(error instanceof ApiError) || error.status >= 500) return;
  const answer = JSON.stringify(error.toBody('exception-repeated'));
  await keepAnswer(meta, key, { status: error.status, answer, now: env.now() });
}
