import { Type } from 'typebox';
import {
  AsyncQuery,
  Bucket,
  BucketCreate,
  BucketsQuery,
  BucketUpdate,
  DeleteQuery,
} from '../../protocol/bucket.ts';
import { namesOf } from '../../protocol/common.ts';
import { bucketId, storageNameProblem } from '../../../names.ts';
import { Answer, type Reply } from '../answer.ts';
import { asJob, doneJob } from '../asking.ts';
import { authorOf } from '../caller.ts';
import type { DataContext } from '../data-context.ts';
import { encodeReply } from '../encode-reply.ts';
import { badRequest, notFound } from '../errors.ts';
import {
  findBucket,
  findBucketByDisplayName,
  insertBucket,
  listBuckets,
  updateBucket,
  type MeasuredBucket,
} from '../meta/buckets.ts';
import type { Meta } from '../meta/database.ts';
import { recordFinishedJob } from '../meta/jobs.ts';
import { listMetadata } from '../meta/metadata.ts';
import { listTables } from '../meta/stored-tables.ts';
import { requireBucketRow } from '../operations/table-place.ts';
import { mayUseBucket, requireBucket, requireBucketManagement } from '../permissions.ts';
import { route, type Route } from '../route.ts';
import { bucketReply } from '../shapes/bucket.ts';
import { jobReply } from '../shapes/job.ts';
import { metadataReply } from '../shapes/metadata.ts';
import { tableReply } from '../shapes/table.ts';
import { requireNameLength } from '../table-input.ts';
import { isoTime } from '../time.ts';

const tag = 'Buckets';

/** Buckets (storage 1.2). */
export function bucketRoutes(context: DataContext): Route[] {
  return [...readRoutes(context), ...writeRoutes(context)];
}

function readRoutes(context: DataContext): Route[] {
  const { meta } = context;
  return [
    route({
      method: 'GET',
      path: '/buckets',
      summary: 'The buckets that the token may read',
      tag,
      query: BucketsQuery,
      response: Type.Array(Bucket),
      handle: async ({ query, caller, branch, origin }) => {
        const include = namesOf(query.include);
        const buckets = (await listBuckets(meta, branch.id)).filter(({ id }) =>
          mayUseBucket(caller, id, 'read'),
        );
        return await Promise.all(
          buckets.map(async (bucket) => ({
            ...bucketReply(bucket, origin),
            ...(include.includes('metadata') ? { metadata: await metadataOf(meta, bucket) } : {}),
            ...(include.includes('linkedBuckets') ? { linkedBy: [] } : {}),
          })),
        );
      },
    }),
    route({
      method: 'GET',
      path: '/buckets/:bucket',
      summary: 'A bucket with its tables',
      tag,
      query: BucketsQuery,
      response: Bucket,
      handle: async ({ params, caller, branch, origin }) => {
        requireBucket(caller, params.bucket, 'read');
        const bucket = await requireBucketRow(meta, context, branch.id, params.bucket);
        return await bucketDetail(meta, bucket, origin);
      },
    }),
    route({
      method: 'GET',
      path: '/buckets/:bucket/owner',
      summary: 'The owner of a bucket: there is none',
      tag,
      handle: async ({ params, caller, branch }) => {
        requireBucket(caller, params.bucket, 'read');
        await requireBucketRow(meta, context, branch.id, params.bucket);
        throw notFound('The bucket has no owner.', 'storage.bucket.ownerNotFound');
      },
    }),
  ];
}

function writeRoutes(context: DataContext): Route[] {
  const { meta, env } = context;
  return [
    route({
      method: 'POST',
      path: '/buckets',
      summary: 'Makes a bucket',
      tag,
      status: 201,
      body: BucketCreate,
      response: Bucket,
      validationCode: 'storage.buckets.validation',
      handle: async ({ body, caller, branch, origin }) => {
        requireBucketManagement(caller);
        const { name, stage = 'in', displayName = name } = body;
        requireName('name', name);
        requireName('displayName', displayName);
        const id = bucketId(stage, name);
        const bucket = await meta.transaction().execute(async (tx) => {
          await requireFreeBucket(tx, { branchId: branch.id, stage, id, displayName });
          await insertBucket(tx, {
            branch_id: branch.id,
            id,
            stage,
            name: `c-${name}`,
            display_name: displayName,
            description: body.description ?? '',
            color: body.color ?? null,
            backend: body.backend === undefined || body.backend === '' ? 'snowflake' : body.backend,
            created: isoTime(env.now()),
            last_change: null,
            updated: null,
            ...authorOf(caller),
          });
          return await requireBucketRow(tx, context, branch.id, id);
        });
        return await bucketDetail(meta, bucket, origin);
      },
    }),
    route({
      method: 'PUT',
      path: '/buckets/:bucket',
      summary: 'Changes the name that a bucket is shown under, or its color',
      tag,
      query: AsyncQuery,
      body: BucketUpdate,
      response: Bucket,
      validationCode: 'storage.buckets.validation',
      handle: async ({ params, query, body, caller, branch, origin, runId }) => {
        requireBucket(caller, params.bucket, 'manage');
        const bucket = await meta.transaction().execute(async (tx) => {
          const known = await requireBucketRow(tx, context, branch.id, params.bucket);
          const { displayName } = body;
          if (displayName !== undefined && displayName !== known.display_name) {
            requireName('displayName', displayName);
            await requireFreeBucket(tx, { branchId: branch.id, stage: known.stage, displayName });
          }
          await updateBucket(tx, branch.id, known.id, {
            ...(displayName === undefined ? {} : { display_name: displayName }),
            ...(body.color === undefined ? {} : { color: body.color }),
          });
          return await requireBucketRow(tx, context, branch.id, params.bucket);
        });
        const reply = await bucketDetail(meta, bucket, origin);
        if (query.async !== true) return reply;
        const job = await recordFinishedJob(meta, env, {
          branchId: branch.id,
          operation: 'bucketUpdate',
          params: { id: bucket.id, ...body },
          results: encodeReply(reply),
          runId,
          author: authorOf(caller),
        });
        return new Answer(202, jobReply(job, origin));
      },
    }),
    route({
      method: 'DELETE',
      path: '/buckets/:bucket',
      summary: 'Deletes a bucket, with its tables when forced',
      tag,
      query: DeleteQuery,
      handle: async ({ params, query, ...asker }) => {
        requireBucket(asker.caller, params.bucket, 'manage');
        const bucket = await requireBucketRow(meta, context, asker.branch.id, params.bucket);
        const force = query.force === true;
        if (bucket.tables > 0 && !force) {
          throw badRequest(
            'buckets.deleteNotEmpty',
            `Only empty buckets can be deleted. There are ${bucket.tables} tables in the bucket.`,
          );
        }
        const work = {
          operation: 'bucketDelete',
          params: { id: bucket.id, force },
          lockKey: `bucket/${asker.branch.id}/${bucket.id}`,
        };
        if (query.async === true) return await asJob(context, asker, work);
        await doneJob(context, asker, work);
        return undefined;
      },
    }),
  ];
}

async function bucketDetail(
  meta: Meta,
  bucket: MeasuredBucket,
  origin: string,
): Promise<Record<string, Reply>> {
  const tables = await listTables(meta, bucket.branch_id, bucket.id);
  return {
    ...bucketReply(bucket, origin),
    tables: tables.map((table) => tableReply(table, { origin })),
    attributes: [],
    metadata: await metadataOf(meta, bucket),
    linkedBy: [],
  };
}

async function metadataOf(meta: Meta, bucket: MeasuredBucket): Promise<Reply[]> {
  const owner = { branch_id: bucket.branch_id, scope: 'bucket', owner: bucket.id } as const;
  return (await listMetadata(meta, owner)).map((row) => metadataReply(row, true));
}

function requireName(field: 'displayName' | 'name', name: string): void {
  const problem = storageNameProblem(name);
  if (problem !== undefined)
    throw badRequest('storage.buckets.validation', `Invalid data - ${field}: ${problem}`);
  requireNameLength(name, 'storage.buckets.validation');
}

async function requireFreeBucket(
  meta: Meta,
  wanted: { branchId: number; stage: 'in' | 'out'; id?: string; displayName: string },
): Promise<void> {
  const { branchId, stage, id, displayName } = wanted;
  const shown = await findBucketByDisplayName(meta, {
    branch_id: branchId,
    stage,
    display_name: displayName,
  });
  const known = shown ?? (id === undefined ? undefined : await findBucket(meta, branchId, id));
  if (known === undefined) return;
  throw badRequest(
    'storage.buckets.alreadyExists',
    `The display name "${known.display_name}" already exists in project.`,
  );
}
