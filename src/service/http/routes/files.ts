import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { File, FilePrepare, FileQuery, FilesQuery, FileTag } from '../../../storage/protocol/file.ts';
import { AsyncQuery } from '../../../storage/protocol/bucket.ts';
import { Job } from '../../../storage/protocol/job.ts';
import { enqueueJob } from '../enqueue-job.ts';
import { contentOf } from '../../domain/jobs/operations/slices.ts';
import { authorOf } from '../../domain/tokens/caller.ts';
import type { DataContext } from '../../domain/data-context.ts';
import type { ByteSlice } from '../../stores/tables/engine.ts';
import { badRequest, invalidField } from '../../domain/api-error.ts';
import { newFile } from '../../domain/files/new-file.ts';
import { requireOwnFile, requireReadableFile } from '../../domain/files/permissions.ts';
import { removeFile } from '../../domain/files/remove.ts';
import { parseFileQuery } from '../../stores/metadata/file-query.ts';
import { addTag, listFiles, removeTag } from '../../stores/metadata/files.ts';
import { Answer } from '../answer.ts';
import { attachmentOf } from '../../stores/objects/disposition.ts';
import { routesOf, type Route } from '../route.ts';
import { downloadReply, fileReply, uploadReply } from '../../domain/presenters/file.ts';
import { isoTime } from '../../../lib/iso-time.ts';

const route = routesOf('Files');

export function fileRoutes(context: DataContext): Route[] {
  return [...singleRoutes(context), contentRoute(context), ...tagRoutes(context)];
}

function singleRoutes(context: DataContext): Route[] {
  const { meta, env, objects } = context;
  return [
    route('POST', '/files/prepare', {
      isForRuns: true,
      summary: 'Makes a file, and says where its bytes are to be put',
      status: 201,
      body: FilePrepare,
      response: File,
      handle: async ({ body, caller, branch, ...call }) => {
        // There is no other way to upload slices.
        const isFederated = body.federationToken === true || body.isSliced === true;
        if (body.name.trim() === '')
          throw invalidField('storage.validation', 'name', 'This value should not be blank.');
        const asker = { ...call, branchId: branch.id, author: authorOf(caller) };
        const file = await newFile(context, asker, body);
        return {
          ...(await fileReply(objects, file)),
          ...(isFederated ? await uploadReply(objects, file, { now: env.now(), tokenId: caller.id }) : {}),
        };
      },
    }),
    route('GET', '/files', {
      isForRuns: true,
      summary: 'Files, the newest first',
      query: FilesQuery,
      response: Type.Array(File),
      handle: async ({ query, caller, branch }) => {
        const files = await listFiles(meta, {
          branchId: branch.id,
          creatorId: caller.isMaster || caller.canReadAllFileUploads ? undefined : caller.id,
          tags: query.tags,
          where: parseFileQuery(query.q ?? ''),
          sinceId: query.sinceId,
          maxId: query.maxId,
          runId: query.runId,
          isPublic: query.isPublic,
          aliveAt: query.showExpired === true ? undefined : isoTime(env.now()),
          limit: query.limit ?? 100,
          offset: query.offset ?? 0,
        });
        return await Promise.all(files.map((file) => fileReply(objects, file)));
      },
    }),
    route('GET', '/files/:file', {
      isForRuns: true,
      summary: 'A file, with credentials to read it when asked for',
      query: FileQuery,
      response: File,
      handle: async ({ params, query, caller }) => {
        const file = await requireReadableFile(context, caller, params.file);
        return {
          ...(await fileReply(objects, file)),
          ...(query.federationToken === true
            ? await downloadReply(objects, file, { now: env.now(), tokenId: caller.id })
            : {}),
        };
      },
    }),
    route('DELETE', '/files/:file', {
      isForRuns: true,
      summary: 'Deletes a file and its bytes',
      query: AsyncQuery,
      response: Job,
      status: 202,
      enqueues: ['fileDelete'],
      handle: async ({ params, query, ...asker }) => {
        const file = await requireOwnFile(context, asker.caller, params.file);
        if (query.async === true)
          return await enqueueJob(context, asker, { operation: 'fileDelete', params: { id: file.id } });
        await removeFile(context, file, asker.transact);
        return undefined;
      },
    }),
  ];
}

/**
 * Makes the route of the content of a file, for browsers and simple clients without a client of the object store:
 * they need not reach it.
 */
function contentRoute(context: DataContext): Route {
  return route('GET', '/files/:file/content', {
    summary: 'The bytes of a file as they are stored; of a sliced one, its slices one after the other',

    handle: async ({ params, caller }) => {
      const file = await requireReadableFile(context, caller, params.file);
      const { slices, bytes } = await contentOf(context, file.id, new AbortController().signal, {
        isAsStored: true,
      });
      return new Answer(200, Readable.from(joined(slices), { objectMode: false }), {
        // In any case: a browser saves it, and shows or runs nothing of it.
        'content-type': 'application/octet-stream',
        'content-disposition': attachmentOf(file.name),
        'content-length': String(bytes),
        'cache-control': 'no-store',
        'content-security-policy': "sandbox; default-src 'none'",
        'x-content-type-options': 'nosniff',
      });
    },
  });
}

async function* joined(slices: AsyncIterable<ByteSlice>): AsyncGenerator<Uint8Array> {
  for await (const slice of slices) yield* slice;
}

function tagRoutes(context: DataContext): Route[] {
  const { meta } = context;
  return [
    route('POST', '/files/:file/tags', {
      isForRuns: true,
      summary: 'Adds a tag',
      body: FileTag,
      handle: async ({ params, body, caller, transact }) => {
        const isOfRun = caller.runLimits?.tags.includes(body.tag) === true;
        const required = isOfRun ? requireReadableFile : requireOwnFile;
        const file = await required(context, caller, params.file);
        await addTag(transact, file.id, body.tag);
        return undefined;
      },
    }),
    route('DELETE', '/files/:file/tags/*', {
      summary: 'Removes a tag, which may have slashes in it',
      handle: async ({ params, caller, request }) => {
        // The router names the rest of the path `*`; the type of a path sees the parameter before it only.
        const all: Readonly<Record<string, string>> = params;
        const name = all['*'] ?? '';
        const file = await requireOwnFile(context, caller, all['file'] ?? '');
        if (name === '') throw badRequest('storage.validation', 'The name of the tag is missing.');
        // The router removes a slash at the end, which may be the tag's or one too many.
        const hasSlash = /^[^?]*\/(?:\?|$)/.test(request.url);
        if (!hasSlash || !(await removeTag(meta, file.id, `${name}/`))) await removeTag(meta, file.id, name);
        return undefined;
      },
    }),
  ];
}
