import { parseConfig, type ConfigDocument } from '../config/index.ts';
import { StorageError, type ExtractorError } from '../errors.ts';
import type { Context } from '../storage/server/context.ts';
import { encodeReply } from '../storage/server/http/encode-reply.ts';
import { contentOf, findConfiguration, listRows } from '../storage/server/meta/configurations/read.ts';
import { findBranch } from '../storage/server/meta/branches.ts';
import { keyOf } from '../storage/server/meta/configurations/key.ts';
import type { Meta } from '../storage/server/meta/database.ts';
import { inheritToken, setRunToken } from '../storage/server/meta/run-turns.ts';
import { inTurn, runOf, TOKENS } from '../storage/server/meta/transaction.ts';
import type { RunRow } from '../storage/server/meta/tables.ts';
import {
  createToken,
  deleteToken,
  findToken,
  refreshToken,
  updateToken,
} from '../storage/server/meta/tokens.ts';
import { configurationReply } from '../storage/server/shapes/configuration.ts';
import { callerOf, isExpired, type Caller } from '../storage/server/tokens/caller.ts';
import { mayUseBucket, mayUseComponent } from '../storage/server/tokens/permissions.ts';
import type { BucketPermission } from '../storage/protocol/token.ts';
import { rightsOf, type RunRights } from './rights.ts';

/**
 * Seconds that the token of a run lasts without its runner. They are counted by the clock of the runner and looked at by
 * that of the API, so an hour would not do for machines whose clocks differ.
 */
export const TOKEN_SECONDS = 24 * 3600;

/**
 * Makes the token of a run, or gives the one that it has another secret: by its id the service knows what an earlier
 * attempt asked for, and nobody has the old secret who may go on.
 *
 * @returns undefined when the run is not the taker's any more
 * @throws {ExtractorError} when the configuration cannot be run, or who asked for it may not do what it does
 */
export async function takeToken(
  context: Context,
  run: RunRow,
): Promise<{ readonly id: number; readonly token: string } | undefined> {
  const { meta, env } = context;
  // Written by this service.
  const { rows } = JSON.parse(run.asked) as { readonly rows?: readonly string[] };
  const document = await readDocument(meta, run);
  const { component_id: component, configuration_id: configuration } = run;
  const rights = rightsOf(document, { component, configuration, rows });
  const production = await productionOf(meta, run);
  const asker = await requireAsker(context, run);
  const fromProduction =
    production === undefined
      ? []
      : rights.reads.filter((bucket) => mayUseBucket(asker, production, bucket, 'read'));
  requireRights(asker, run, { ...rights, reads: rights.reads.filter((id) => !fromProduction.includes(id)) });
  const given = {
    description: `Run ${run.id} of ${component}/${configuration}`,
    canReadAllFileUploads: rights.readsFiles,
    bucketPermissions: permissionsOf(rights),
    bucketBranchId: run.branch_id,
    runLimits: {
      run: run.id,
      ...keyOf(run),
      tags: rights.tags,
      ...(production === undefined ? {} : { production: { branch_id: production, buckets: fromProduction } }),
    },
  };
  const author = { creator_id: run.creator_id, creator_description: run.creator_description };
  return await inTurn(meta, [TOKENS, runOf(run.id)], async (tx) => {
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

/** The default branch, for a run in another one: what its own lacks is taken from there. */
async function productionOf(meta: Meta, run: RunRow): Promise<number | undefined> {
  const main = await findBranch(meta, 'default');
  return main === undefined || main.id === run.branch_id ? undefined : main.id;
}

function permissionsOf({ reads, writes }: RunRights): Record<string, BucketPermission> {
  return Object.fromEntries([
    ...reads.map((bucket) => [bucket, 'read'] as const),
    ...writes.map((bucket) => [bucket, 'write'] as const),
  ]);
}

async function readDocument(meta: Meta, run: RunRow): Promise<ConfigDocument> {
  const { component_id: component, configuration_id: id } = run;
  const found = await findConfiguration(meta, run);
  if (found === undefined || found.head.is_deleted === 1)
    throw new StorageError('storage.notFound', `The configuration ${id} of ${component} is gone.`, {
      hint: 'It was deleted after the run was asked for.',
    });
  const configuration = await contentOf(meta, found.version);
  const rows = await listRows(meta, found);
  const reply = configurationReply({ ...found, configuration, rows }, { withState: false });
  return parseConfig(encodeReply(reply), `configuration ${id} of ${component}`);
}

/** Who asked for the run, as they are now. */
async function requireAsker({ meta, env }: Context, run: RunRow): Promise<Caller> {
  const token = await findToken(meta, run.creator_id);
  if (token !== undefined && !isExpired(token, env.now())) return callerOf(token);
  throw forbidden(
    run,
    'has been deleted, or has expired',
    run.schedule_id === null
      ? 'Start the run with another token.'
      : 'Change the schedule with another token: its runs then go by that one.',
  );
}

/** A run must not get rights that who asks for it hasn't. */
function requireRights(asker: Caller, run: RunRow, { reads, writes, readsFiles }: RunRights): void {
  const refuse = (why: string): never => {
    throw forbidden(run, why, 'Give it the right, or start the run with another token.');
  };
  const lacks = (buckets: readonly string[], need: BucketPermission): string | undefined =>
    buckets.find((bucket) => !mayUseBucket(asker, run.branch_id, bucket, need));
  if (!mayUseComponent(asker, run.component_id)) refuse(`may not use ${run.component_id}`);
  const [read, write] = [lacks(reads, 'read'), lacks(writes, 'write')];
  if (read !== undefined) refuse(`may not read the bucket ${read}`);
  if (write !== undefined) refuse(`may not write into the bucket ${write}`);
  if (readsFiles && !asker.canReadAllFileUploads) refuse('may not read the files of others');
}

function forbidden(run: RunRow, why: string, hint: string): ExtractorError {
  const message = `The token “${run.creator_description}” that asked for the run ${why}.`;
  return new StorageError('storage.forbidden', message, { hint });
}
