import { RunError, StorageError } from '../../../lib/errors.ts';
import { lastId, startIds } from '../../stores/metadata/counter.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import { hasProject } from '../../stores/metadata/projects.ts';
import { compareObjects, copyObjects } from './files.ts';
import { copyMetadata, digestMetadata, type TableDigests } from './metadata.ts';
import { compareRows, copyRows } from './rows.ts';
import { COPIED, type RulePlace } from './rules.ts';
import { forgetSteps, readStep, saveStep } from './steps.ts';
import type { Moving, OpenedStorage } from './storage.ts';

/** Contents of the target, each part with its size. */
export interface MoveResult {
  readonly moved: readonly { readonly what: string; readonly count: number; readonly bytes?: number }[];
  /** Files that have no bytes in the source. */
  readonly emptyFiles: number;
}

/**
 * Copies everything of one storage into another, which is empty or was left by an earlier call for the same source, and
 * compares both. How far it is stands in the target, so it may be killed at any time; no service runs over the target
 * before all of it is there and equal. The source stays as it is. Called by whoever holds both.
 *
 * @throws {RunError} `command.invalid` for a target of something else, `run.locked` while jobs are not finished
 * @throws {StorageError} `storage.differs` when the source has changed since, or the target is not the same
 */
export async function moveStorage(moving: Moving): Promise<MoveResult> {
  const { from, to, signal } = moving;
  const place = {
    hasEncryption: to.objects.hasEncryption,
    endedToken: isOfOneSecret(moving) ? undefined : from.localToken,
  };
  if (moving.mayHaveWork !== true) await refuseUnfinishedJobs(from.meta, from.name);
  const source = await beginOrGoOn(moving, place);
  await copyMetadata(from.meta, to.meta, {
    place,
    signal,
    told: (name, count) => moving.told({ work: 'copy', what: 'metadata', name, count }),
  });
  const problems = await copyRows(moving);
  await copyObjects('files', moving);
  await copyObjects('runs', moving);
  await startIds(to.meta, await lastId(from.meta));
  await agreeOnKey(to.meta, from.encryptionKey);

  const changes = compareMetadata(source, await digestMetadata(from.meta, place, signal));
  if (changes.length > 0) throw differs(`${from.name} was changed meanwhile.`, changes);
  const target = await digestMetadata(to.meta, AS_IT_IS, signal);
  const rows = await compareRows(moving);
  const files = await compareObjects('files', moving);
  const runs = await compareObjects('runs', moving);
  const differences = [
    ...compareMetadata(source, target),
    ...problems,
    ...rows.differences,
    ...files.differences,
    ...runs.differences,
  ];
  if (differences.length > 0) throw differs(`${to.name} is not the same as ${from.name}.`, differences);
  await forgetSteps(to.meta);
  return {
    moved: [
      ...COPIED.map((what) => ({ what: what.replaceAll('_', ' '), count: source[what]?.rows ?? 0 })),
      { what: 'rows of tables', count: rows.rows, bytes: rows.bytes },
      { what: 'objects of files', count: files.objects, bytes: files.bytes },
      { what: 'objects of runs', count: runs.objects, bytes: runs.bytes },
    ],
    emptyFiles: files.empty,
  };
}

/** A service with another key could read no `#` value, and says so at its start. */
export async function agreeOnKey(meta: Meta, value: string | undefined): Promise<void> {
  if (value === undefined) return;
  const name = 'encryption.key';
  await meta
    .insertInto('settings')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute();
}

/** A copy of a folder with the secrets of that folder: what follows from them is right there, too. */
function isOfOneSecret({ from, to }: Moving): boolean {
  return from.secret !== undefined && to.secret !== undefined && Buffer.compare(from.secret, to.secret) === 0;
}

/** Rows of the target are compared as they are. */
export const AS_IT_IS: RulePlace = { hasEncryption: true, endedToken: undefined };

/** Marks an empty target, or ensures that it is of this very source; returns the digests of the source. */
async function beginOrGoOn({ from, to, signal }: Moving, place: RulePlace): Promise<TableDigests> {
  const known = await refuseUsed(to);
  const digests = await digestMetadata(from.meta, place, signal);
  if (known === undefined) {
    await saveStep(to.meta, 'source', digests);
    return digests;
  }
  const changes = compareMetadata(known, digests);
  if (changes.length === 0) return digests;
  throw differs(
    `${to.name} was begun from another storage, or ${from.name} has changed since.`,
    changes.map((change) => change.replace('in the source', 'when it began')),
  );
}

/**
 * @returns what the source had when an earlier call began
 * @throws {RunError} `command.invalid` for a target of something else
 */
export async function refuseUsed({ name, meta }: OpenedStorage): Promise<TableDigests | undefined> {
  const known = (await readStep(meta, 'source')) as TableDigests | undefined; // saved below
  if (known !== undefined || !(await hasProject(meta))) return known;
  throw new RunError('command.invalid', `${name} is not empty: there is a project in it.`, {
    hint: 'Name an empty folder or an empty database.',
  });
}

/** @returns what differs, for people */
export function compareMetadata(wanted: TableDigests, found: TableDigests): string[] {
  return COPIED.flatMap((name) => {
    const [a, b] = [wanted[name], found[name]];
    if (a?.sum === b?.sum && a?.rows === b?.rows) return [];
    const how = a?.rows === b?.rows ? 'other content than' : `${b?.rows ?? 0} rows, and ${a?.rows ?? 0}`;
    return [`${name}: ${how} in the source`];
  });
}

const MAX_LINES = 20;

export function differs(
  message: string,
  differences: readonly string[],
  hint = 'Empty the target and begin again. The source is as it was.',
): StorageError {
  const more = differences.length - MAX_LINES;
  return new StorageError('storage.differs', message, {
    lines: [...differences.slice(0, MAX_LINES), ...(more > 0 ? [`… and ${more} more`] : [])],
    hint,
  });
}

/** Work that waits would be lost, or be done in both. */
async function refuseUnfinishedJobs(meta: Meta, name: string): Promise<void> {
  const { jobs } = await meta
    .selectFrom('jobs')
    .select(({ fn }) => fn.countAll<number>().as('jobs'))
    .where('status', 'in', ['waiting', 'processing'])
    .executeTakeFirstOrThrow();
  if (jobs === 0) return;
  throw new RunError('run.locked', `${name} has ${jobs} jobs that are not finished.`, {
    hint: 'Start its service, wait until gex storage jobs list shows none of them, stop it, and give the command again.',
  });
}
