import { Type } from 'typebox';
import {
  AsyncQuery,
  Bucket,
  BucketCreate,
  BucketOwner,
  BucketsQuery,
  BucketUpdate,
  DeleteQuery,
} from '../../../storage/protocol/bucket.ts';
import { namesOf } from '../../../storage/protocol/common.ts';
import { bucketId, storageNameProblem } from '../../../lib/names.ts';
import { Answer } from '../answer.ts';
import type { Reply } from '../../domain/reply.ts';
import { enqueueJob, runJob } from '../enqueue-job.ts';
import type { StorageJobRequest } from '../../domain/jobs/operations/all.ts';
import { authorOf } from '../../domain/tokens/caller.ts';
import type { DataContext } from '../../domain/data-context.ts';
import { doerOf, recordEvent } from '../../domain/events/system-event.ts';
import { encodeReply } from '../../domain/encode-reply.ts';
import { badRequest, notFound } from '../../domain/api-error.ts';
import {
  findBucket,
  findBucketByDisplayName,
  insertBucket,
  listBuckets,
  updateBucket,
  type MeasuredBucket,
} from '../../stores/metadata/buckets.ts';
import { collected, listTableTexts } from '../lists/tables.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import { recordFinishedJob } from '../../stores/metadata/jobs.ts';
import { listMetadata } from '../../stores/metadata/metadata.ts';
import { requireBucketRow } from '../../domain/jobs/operations/table-place.ts';
import { mayUseBucket, requireBucket, requireBucketCreation } from '../../domain/tokens/permissions.ts';
import { routesOf, type Route } from '../route.ts';
import { bucketReply } from '../../domain/presenters/bucket.ts';
import { ADMIN } from '../../domain/presenters/token.ts';
import { jobReply } from '../../domain/presenters/job.ts';
import { metadataReply } from '../../domain/presenters/metadata.ts';
import { requireNameLength } from '../parsing/table.ts';
import { isoTime } from '../../../lib/iso-time.ts';
import { catalogueOf } from '../../stores/metadata/transaction.ts';

const route = routesOf('Buckets');

export function bucketRoutes(context: DataContext): Route[] {
  return [...readRoutes(context), ...writeRoutes(context)];
}

function readRoutes(context: DataContext): Route[] {
  const { meta } = context;
  return [
    route('GET', '/buckets', {
      isForRuns: true,
      summary: 'The buckets that the token may read',
      query: BucketsQuery,
      response: Type.Array(Bucket),
      handle: async ({ query, caller, branch, origin }) => {
        context.observer.observe(doerOf(branch.id, caller), {
          name: 'bucketsListed',
          message: 'Listed buckets',
        });
        const include = namesOf(query.include);
        const buckets = (await listBuckets(meta, branch.id)).filter(({ id }) =>
          mayUseBucket(caller, branch.id, id, 'read'),
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
    route('GET', '/buckets/:bucket', {
      isForRuns: true,
      summary: 'A bucket with its tables',
      query: BucketsQuery,
      response: Bucket,
      handle: async ({ params, query, caller, branch, origin }) => {
        requireBucket(caller, branch.id, params.bucket, 'read');
        const bucket = await requireBucketRow(meta, context, branch.id, params.bucket);
        return await bucketDetail(meta, bucket, origin, namesOf(query.include).filter(isOfTables));
      },
    }),
    route('GET', '/buckets/:bucket/owner', {
      summary: 'The owner of a bucket',
      handle: async ({ params, caller, branch }) => {
        requireBucket(caller, branch.id, params.bucket, 'read');
        const bucket = await requireBucketRow(meta, context, branch.id, params.bucket);
        if (bucket.owner_id === ADMIN.id) return ADMIN;
        throw notFound('The bucket has no owner.', 'storage.bucket.ownerNotFound');
      },
    }),
  ];
}

function writeRoutes(context: DataContext): Route[] {
  const { meta, env } = context;
  return [
    route('POST', '/buckets', {
      isForRuns: true,
      summary: 'Makes a bucket',
      status: 201,
      body: BucketCreate,
      response: Bucket,
      validationCode: 'storage.buckets.validation',
      handle: async ({ body, caller, branch, origin, transact }) => {
        const { name, stage = 'in', displayName = name } = body;
        const id = bucketId(stage, name);
        requireBucketCreation(caller, branch.id, id);
        requireName('name', name);
        requireName('displayName', displayName);
        const bucket = await transact([catalogueOf(branch.id)], async (tx) => {
          await requireFreeBucket(tx, { branchId: branch.id, stage, id, displayName });
          await insertBucket(tx, {
            branch_id: branch.id,
            id,
            stage,
            name: `c-${name}`,
            display_name: displayName,
            description: body.description ?? '',
            color: body.color ?? null,
            backend: backendOf(body.backend),
            created: isoTime(env.now()),
            last_change: null,
            updated: null,
            owner_id: null,
            ...authorOf(caller),
          });
          await recordEvent(tx, env, doerOf(branch.id, caller), {
            name: 'bucketCreated',
            message: `Created the bucket "${id}"`,
            object: { type: 'bucket', id, name: `c-${name}` },
            params: { stage, name, displayName },
          });
          return await requireBucketRow(tx, context, branch.id, id);
        });
        return await bucketDetail(meta, bucket, origin);
      },
    }),
    route('PUT', '/buckets/:bucket', {
      summary: 'Changes the name that a bucket is shown under, or its color',
      query: AsyncQuery,
      body: BucketUpdate,
      response: Bucket,
      validationCode: 'storage.buckets.validation',
      handle: async ({ params, query, body, caller, branch, origin, runId, transact }) => {
        requireBucket(caller, branch.id, params.bucket, 'manage');
        const bucket = await transact([catalogueOf(branch.id)], async (tx) => {
          const known = await requireBucketRow(tx, context, branch.id, params.bucket);
          const { displayName } = body;
          if (displayName !== undefined && displayName !== known.display_name) {
            requireName('displayName', displayName);
            await requireFreeBucket(tx, { branchId: branch.id, stage: known.stage, displayName });
          }
          await updateBucket(tx, branch.id, known.id, {
            ...(displayName === undefined ? {} : { display_name: displayName }),
            ...(body.color === undefined ? {} : { color: body.color === '' ? null : body.color }),
          });
          await recordEvent(tx, env, doerOf(branch.id, caller), {
            name: 'bucketUpdated',
            message: `Changed the bucket "${known.id}"`,
            object: { type: 'bucket', id: known.id, name: known.name },
            params: { ...body },
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
    route('PUT', '/buckets/:bucket/owner', {
      summary: 'Gives a bucket an owner: the administrator, by id or e-mail address',
      body: BucketOwner,
      response: Bucket,
      validationCode: 'storage.buckets.validation',
      handle: async ({ params, body, caller, branch, origin }) => {
        requireBucket(caller, branch.id, params.bucket, 'manage');
        await requireBucketRow(meta, context, branch.id, params.bucket);
        if (body.id === undefined && body.email === undefined)
          throw badRequest('storage.buckets.validation', 'Give the owner by "id" or by "email".');
        const isAdmin = (body.id ?? ADMIN.id) === ADMIN.id && (body.email ?? ADMIN.email) === ADMIN.email;
        if (!isAdmin) throw notFound('There is no such administrator.', 'storage.bucket.ownerNotFound');
        const changes = { owner_id: ADMIN.id, updated: isoTime(env.now()) };
        await updateBucket(meta, branch.id, params.bucket, changes);
        const bucket = await requireBucketRow(meta, context, branch.id, params.bucket);
        return await bucketDetail(meta, bucket, origin);
      },
    }),
    route('DELETE', '/buckets/:bucket', {
      summary: 'Deletes a bucket, with its tables when forced',
      query: DeleteQuery,
      enqueues: ['bucketDelete'],
      handle: async ({ params, query, ...asker }) => {
        requireBucket(asker.caller, asker.branch.id, params.bucket, 'manage');
        const bucket = await requireBucketRow(meta, context, asker.branch.id, params.bucket);
        const force = query.force === true;
        if (bucket.tables > 0 && !force)
          throw badRequest(
            'buckets.deleteNotEmpty',
            `Only empty buckets can be deleted. There are ${bucket.tables} tables in the bucket.`,
          );
        const work: StorageJobRequest<'bucketDelete'> = {
          operation: 'bucketDelete',
          params: { id: bucket.id, force },
          lockKey: `bucket/${asker.branch.id}/${bucket.id}`,
        };
        if (query.async === true) return await enqueueJob(context, asker, work);
        await runJob(context, asker, work);
        return undefined;
      },
    }),
  ];
}

/** Names of databases in the public API; all of them mean the only one here. */
const BACKENDS: readonly string[] = ['snowflake', 'bigquery', 'redshift', 'synapse', 'exasol', 'teradata'];

function backendOf(given = ''): string {
  if (given === '') return 'snowflake';
  if (BACKENDS.includes(given)) return given;
  throw badRequest(
    'storage.buckets.validation',
    `Invalid data - backend: '${given}' is not one of ${BACKENDS.join(', ')}.`,
  );
}

async function bucketDetail(
  meta: Meta,
  bucket: MeasuredBucket,
  origin: string,
  include: readonly string[] = [],
): Promise<Record<string, Reply>> {
  const of = { branchId: bucket.branch_id, bucketId: bucket.id };
  return {
    ...bucketReply(bucket, origin),
    tables: await collected(listTableTexts(meta, of, { origin, include })),
    attributes: [],
    metadata: await metadataOf(meta, bucket),
    linkedBy: [],
  };
}

/** Tells whether a part of a bucket is shown for its tables as well. */
const isOfTables = (part: string): boolean => ['columns', 'metadata', 'columnMetadata'].includes(part);

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
