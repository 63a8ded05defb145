import { parseConfig, type ConfigDocument } from '../../../engine/config/index.ts';
import { StorageError, type ExtractorError } from '../../../lib/errors.ts';
import type { Context } from '../context.ts';
import { encodeReply } from '../encode-reply.ts';
import { ApiError } from '../api-error.ts';
import { findConfiguration, requireAtVersion } from '../configurations/read-configuration.ts';
import { findBranch } from '../../stores/metadata/branches.ts';
import { listBucketIds } from '../../stores/metadata/buckets.ts';
import { keyOf } from '../../stores/metadata/configuration-key.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import { inheritToken, setRunToken } from '../../stores/metadata/run-leases.ts';
import { withLocks, runOf, TOKENS } from '../../stores/metadata/transaction.ts';
import type { RunRow } from '../../stores/metadata/tables.ts';
import {
  createToken,
  deleteToken,
  findRights,
  findToken,
  refreshToken,
  updateToken,
} from '../../stores/metadata/tokens.ts';
import { configurationReply } from '../presenters/configuration.ts';
import { callerOf, isExpired, rightsOfToken, type Rights } from '../tokens/caller.ts';
import { mayUseBucket, mayUseComponent } from '../tokens/permissions.ts';
import type { BucketPermission } from '../../../storage/protocol/token.ts';
import { makersOf, type Maker, type ConfigurationOfRun } from './makers.ts';
import { rightsOf, type RunRights } from './run-permissions.ts';

/**
 * Seconds that the token of a run lasts without its runner. They are counted by the clock of the runner and checked
 * by that of the API, so an hour would not do for machines whose clocks differ.
 */
export const TOKEN_SECONDS = 24 * 3600;

/**
 * Makes the token of a run, or gives its token another secret: by its id the service knows the requests of an earlier
 * attempt, and the old secret is of no use to that attempt.
 *
 * @returns undefined when the run is no longer that of this runner
 * @throws {ExtractorError} when the configuration cannot be run, or its requester lacks a permission that it needs
 */
export async function takeToken(
  context: Context,
  run: RunRow,
): Promise<{ readonly id: number; readonly token: string } | undefined> {
  const { meta, env } = context;
  const { whole, rights, production, holders } = await requireRunRights(context, run);
  const { component_id: component, configuration_id: configuration } = run;
  const mayReadProduction = (holder: Holder, bucket: string): boolean =>
    production !== undefined && mayUseBucket(holder.rights, production, bucket, 'read');
  const fromProduction = rights.reads.filter((bucket) =>
    holders.every((holder) => mayReadProduction(holder, bucket)),
  );
  // An input that the branch does not have yet is read there only with permission: it could be created while the run
  // is at work.
  const fromBranch = rights.reads.filter((bucket) =>
    holders.every((holder) => mayUseBucket(holder.rights, run.branch_id, bucket, 'read')),
  );
  const given = {
    description: `Run ${run.id} of ${component}/${configuration}`,
    canReadAllFileUploads: rights.readsFiles,
    bucketPermissions: permissionsOf({ reads: fromBranch, writes: rights.writes }),
    bucketBranchId: run.branch_id,
    runLimits: {
      run: run.id,
      version: whole.version.version,
      ...keyOf(run),
      tags: rights.tags,
      ...(production === undefined ? {} : { production: { branch_id: production, buckets: fromProduction } }),
    },
  };
  const author = { creator_id: run.creator_id, creator_description: run.creator_description };
  return await withLocks(meta, [TOKENS, runOf(run.id)], async (tx) => {
    const left = run.token_id ?? (await inheritToken(tx, run));
    const known = left === undefined ? undefined : await findToken(tx, left);
    const id = known?.id ?? (await createToken(tx, env, given, author)).row.id;
    if (!(await setRunToken(tx, run, id))) {
      if (known === undefined) await deleteToken(tx, id);
      return undefined;
    }
    await updateToken(tx, id, given);
    return { id, token: await refreshToken(tx, env, id, TOKEN_SECONDS) };
  });
}

/** A run, as far as its rights depend on it. */
export type AskedRun = Pick<
  RunRow,
  | 'approved_id'
  | 'asked'
  | 'branch_id'
  | 'component_id'
  | 'configuration_id'
  | 'creator_description'
  | 'creator_id'
  | 'schedule_id'
  | 'version'
  | 'version_identifier'
> & {
  /** Absent while nobody has asked for it. */
  readonly id?: number;
  readonly attempt?: number;
};

/**
 * Returns what a run needs, and those who have it.
 *
 * @throws {ExtractorError} when the configuration cannot be run, or one of them lacks a permission that it needs
 */
export async function requireRunRights(
  context: Pick<Context, 'env' | 'meta'>,
  run: AskedRun,
): Promise<{
  readonly whole: ConfigurationOfRun;
  readonly rights: RunRights;
  readonly production: number | undefined;
  readonly holders: readonly Holder[];
}> {
  const { meta } = context;
  // Written by this service.
  const { rows } = JSON.parse(run.asked) as { readonly rows?: readonly string[] };
  const { whole, document } = await readWhole(meta, run);
  const { component_id: component, configuration_id: configuration } = run;
  const rights = rightsOf(document, { component, configuration, rows });
  const production = await productionOf(meta, run);
  const holders = [
    await requireAsker(context, run),
    ...(await Promise.all(
      (await makersOf(context, run, { whole, rows: rights.rows })).map(
        async (maker) => await requireMaker(meta, run, { maker, version: whole.version.version }),
      ),
    )),
  ];
  // A bucket of the branch is read there, whatever is in production under its id.
  const own = new Set(await listBucketIds(meta, run.branch_id));
  for (const holder of holders) {
    const reads = rights.reads.filter(
      (bucket) =>
        own.has(bucket) ||
        production === undefined ||
        !mayUseBucket(holder.rights, production, bucket, 'read'),
    );
    requireRights(holder, run, { ...rights, reads });
  }
  return { whole, rights, production, holders };
}

/** Returns the default branch, for a run in another one: inputs missing there are taken from the default branch. */
async function productionOf(meta: Meta, run: AskedRun): Promise<number | undefined> {
  const main = await findBranch(meta, 'default');
  return main === undefined || main.id === run.branch_id ? undefined : main.id;
}

function permissionsOf({
  reads,
  writes,
}: Pick<RunRights, 'reads' | 'writes'>): Record<string, BucketPermission> {
  return Object.fromEntries([
    ...reads.map((bucket) => [bucket, 'read'] as const),
    ...writes.map((bucket) => [bucket, 'write'] as const),
  ]);
}

/** The configuration that a run goes by: of the version that was there when it was asked for. */
async function readWhole(
  meta: Meta,
  run: AskedRun,
): Promise<{ readonly whole: ConfigurationOfRun; readonly document: ConfigDocument }> {
  const { component_id: component, configuration_id: id } = run;
  const gone = (how: string, hint: string): StorageError =>
    new StorageError('storage.notFound', `The configuration ${id} of ${component} ${how}.`, { hint });
  const found = await findConfiguration(meta, run);
  if (found === undefined || found.head.is_deleted === 1)
    throw gone('is gone', 'It was deleted after the run was asked for.');
  const whole = await requireAtVersion(meta, run, run.version ?? found.head.version).catch(
    (error: unknown) => {
      throw error instanceof ApiError ? gone(ANOTHER, START_AGAIN) : error;
    },
  );
  // Versions of one that is made again under the same id begin with 1.
  if (run.version_identifier !== null && run.version_identifier !== whole.version.identifier)
    throw gone(ANOTHER, START_AGAIN);
  const reply = configurationReply(whole, { withState: false });
  return { whole, document: parseConfig(encodeReply(reply), `configuration ${id} of ${component}`) };
}

const ANOTHER = 'is another one by now: it was purged, and made again';
const START_AGAIN = 'Start the run again: it then goes by what is there now.';

/** Holder of permissions that a run needs. */
interface Holder {
  readonly rights: Rights;
  /** Returns the error when they lack one. */
  readonly refuse: (why: string) => ExtractorError;
}

/** Returns the token that asked for the run, with its current permissions. */
async function requireAsker({ meta, env }: Pick<Context, 'env' | 'meta'>, run: AskedRun): Promise<Holder> {
  const who = run.id === undefined ? '' : ' that asked for the run';
  const refuse = (why: string, hint = 'Give it the right, or start the run with another token.') =>
    forbidden(`The token “${run.creator_description}”${who} ${why}.`, hint);
  const token = await findToken(meta, run.creator_id);
  if (token !== undefined && !isExpired(token, env.now())) return { rights: callerOf(token), refuse };
  const goesOn =
    (run.attempt ?? 1) > 1 ? ' The next run goes on where the earlier attempts of this one were.' : '';
  throw refuse(
    token === undefined ? 'has been deleted' : 'has expired',
    run.schedule_id === null
      ? `Start the run with another token.${goesOn}`
      : `Change the schedule with another token: its runs then go by that one.${goesOn}`,
  );
}

/** Returns the author of a part of the run, with current or last permissions: their part is still there. */
async function requireMaker(
  meta: Meta,
  run: AskedRun,
  { maker, version }: { readonly maker: Maker; readonly version: number },
): Promise<Holder> {
  const hint =
    run.schedule_id === null
      ? START_AGAIN
      : `A schedule gives no rights to who changes what it runs. Look at the configuration; who may do all that it does approves it, in the console or by PUT …/schedules/${run.schedule_id} with {"ifVersion": ${version}}.`;
  const refuse = (why: string): ExtractorError =>
    forbidden(`The token “${maker.creator_description}”, which ${maker.did}, ${why}.`, hint);
  const token = await findRights(meta, maker.creator_id);
  if (token === undefined) throw refuse('is gone, and nothing is known of what it was allowed');
  return { rights: rightsOfToken(token), refuse };
}

/** Refuses a run that needs permissions which one of its holders lacks. */
function requireRights(
  { rights, refuse }: Holder,
  run: AskedRun,
  { reads, writes, readsFiles }: RunRights,
): void {
  const lacks = (buckets: readonly string[], need: BucketPermission): string | undefined =>
    buckets.find((bucket) => !mayUseBucket(rights, run.branch_id, bucket, need));
  if (!mayUseComponent(rights, run.component_id)) throw refuse(`may not use ${run.component_id}`);
  const [read, write] = [lacks(reads, 'read'), lacks(writes, 'write')];
  if (read !== undefined) throw refuse(`may not read the bucket ${read}`);
  if (write !== undefined) throw refuse(`may not write into the bucket ${write}`);
  if (readsFiles && !rights.canReadAllFileUploads) throw refuse('may not read the files of others');
}

const forbidden = (message: string, hint: string): ExtractorError =>
  new StorageError('storage.forbidden', message, { hint });
