import { nextId } from '../../stores/metadata/counter.ts';
import { findFile, insertFile, type TaggedFile } from '../../stores/metadata/files.ts';
import type { FileRow } from '../../stores/metadata/tables.ts';
import type { Transact } from '../../stores/metadata/transaction.ts';
import { isoTime } from '../../../lib/iso-time.ts';
import type { DataContext } from '../data-context.ts';
import { answerLost } from '../api-error.ts';
import type { Doer } from '../events/system-event.ts';

export interface FileRequest {
  readonly name: string;
  readonly sizeBytes?: number | undefined;
  readonly contentType?: string | undefined;
  readonly isSliced?: boolean | undefined;
  readonly isEncrypted?: boolean | undefined;
  readonly isPublic?: boolean | undefined;
  /** Never swept. */
  readonly isPermanent?: boolean | undefined;
  readonly tags?: readonly string[] | undefined;
}

/** Days that a file is kept unless it is permanent, and one that an export made. */
const MAX_AGE_DAYS = 15;
export const EXPORT_MAX_AGE_DAYS = 2;

const DAY_MS = 86_400_000;

/** A request for a file. */
export interface FileAsker extends Doer {
  readonly transact: Transact;
  /** The file that an earlier attempt of the request made. */
  readonly madeFile: number | undefined;
}

/** Makes a file resource; its bytes are still to come. A request that is repeated under its key gets the file it made. */
export async function newFile(
  context: DataContext,
  owner: FileAsker,
  request: FileRequest,
): Promise<TaggedFile> {
  const { meta, env, project, objects } = context;
  const { transact, madeFile } = owner;
  if (madeFile !== undefined) {
    const known = await findFile(meta, madeFile);
    if (known === undefined) throw answerLost();
    return known;
  }
  const id = await nextId(meta);
  const now = env.now();
  const maxAgeDays = request.isPermanent === true ? null : MAX_AGE_DAYS;
  const day = new Date(now).toISOString().slice(0, 10).replaceAll('-', '/');
  const place = `${project.id}/files/${day}/${id}.${keyName(request.name)}`;
  return await insertFile(
    transact,
    fileRow(
      {
        ...request,
        isEncrypted: request.isEncrypted === true && objects.hasEncryption,
        id,
        key: maxAgeDays === null ? place : `exp-${maxAgeDays}/${place}`,
        maxAgeDays,
        tableId: null,
      },
      owner,
      now,
    ),
    distinct(request.tags ?? []),
  );
}

/** The row of a file. */
export function fileRow(
  file: FileRequest & {
    readonly id: number;
    readonly key: string;
    readonly maxAgeDays: number | null;
    readonly tableId: string | null;
  },
  { branchId, author, runId }: Doer,
  now: number,
): FileRow {
  return {
    id: file.id,
    branch_id: branchId,
    name: file.name,
    object_key: file.key,
    content_type: file.contentType ?? null,
    is_public: file.isPublic === true ? 1 : 0,
    is_sliced: file.isSliced === true ? 1 : 0,
    is_encrypted: file.isEncrypted === true ? 1 : 0,
    size_bytes: file.sizeBytes ?? 0,
    max_age_days: file.maxAgeDays,
    expires: file.maxAgeDays === null ? null : isoTime(now + file.maxAgeDays * DAY_MS),
    run_id: runId,
    run_ids: JSON.stringify(runId === null ? [] : [runId]),
    table_id: file.tableId,
    ...author,
    created: isoTime(now),
  };
}

export function distinct(tags: readonly string[]): string[] {
  return [...new Set(tags)];
}

/** A name as the end of a key: plain letters, so that it is the same in an address; keys have a limit. */
function keyName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9._-]/g, '_').slice(-200);
}
