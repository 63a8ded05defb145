import type { Env } from '../../../lib/env.ts';
import type { Reply } from '../reply.ts';
import { encodeReply } from '../encode-reply.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import { insertEvent, type NewEvent } from '../../stores/metadata/events.ts';
import { newUuid } from '../../stores/metadata/identifier.ts';
import type { Author, JobRow } from '../../stores/metadata/tables.ts';
import { isoTime } from '../../../lib/iso-time.ts';
import { authorOf, type Caller } from '../tokens/caller.ts';

/** Event of an action of the service, which it reports itself. */
export interface SystemEvent {
  /** Such as `bucketCreated`; the API shows it as `storage.bucketCreated`. */
  readonly name: string;
  readonly message: string;
  readonly object?: EventObject;
  readonly params?: Reply;
  readonly results?: Reply;
  readonly configurationId?: string;
  /** Default `info`. */
  readonly type?: 'error' | 'info';
}

/** Object of the action. */
export interface EventObject {
  readonly type:
    | 'bucket'
    | 'column'
    | 'componentConfiguration'
    | 'componentConfigurationRow'
    | 'devBranch'
    | 'table'
    | 'token';
  readonly id: string;
  readonly name: string;
}

/** Author of the action, its branch, and its run. */
export interface Doer {
  readonly branchId: number;
  readonly author: Author;
  readonly runId: string | null;
}

export const doerOf = (branchId: number, caller: Caller): Doer => ({
  branchId,
  author: authorOf(caller),
  runId: caller.runId,
});

export const doerOfJob = (job: JobRow): Doer => ({
  branchId: job.branch_id,
  author: { creator_id: job.creator_id, creator_description: job.creator_description },
  runId: job.run_id,
});

/** Records an event, in the transaction of its action: both are stored, or none. */
export async function recordEvent(tx: Meta, env: Env, doer: Doer, event: SystemEvent): Promise<void> {
  await insertEvent(tx, eventRow(env, doer, event));
}

/** Returns the row of an event that is written later: its number tells its time. */
export function eventRow(env: Env, doer: Doer, event: SystemEvent): NewEvent {
  return {
    uuid: newUuid(env),
    branch_id: doer.branchId,
    event: `storage.${event.name}`,
    component: 'storage',
    type: event.type ?? 'info',
    message: event.message,
    description: '',
    configuration_id: event.configurationId ?? null,
    run_id: doer.runId,
    object_type: event.object?.type ?? null,
    object_id: event.object?.id ?? null,
    object_name: event.object?.name ?? null,
    params: encodeReply(event.params ?? []),
    results: encodeReply(event.results ?? []),
    duration: null,
    token_id: doer.author.creator_id,
    token_description: doer.author.creator_description,
    created: isoTime(env.now()),
  };
}
