import { createHash } from 'node:crypto';
import { Type } from 'typebox';
import type { DataContext } from '../../data-context.ts';
import { EXPORT_MAX_AGE_DAYS, fileRow } from '../../files/new-file.ts';
import { nextId } from '../../../stores/metadata/counter.ts';
import { findExport, saveExport } from '../../../stores/metadata/exports.ts';
import { findFileRow, insertFileWithin } from '../../../stores/metadata/files.ts';
import type { FileRow, JobRow } from '../../../stores/metadata/tables.ts';
import { fileOf, tableOf } from '../../../stores/metadata/transaction.ts';
import { attachmentOf } from '../../../stores/objects/disposition.ts';
import { readRowQuery, type RowQueryInput } from '../../row-query.ts';
import type { ExportOutcome, TakeSlice } from '../../../stores/tables/engine.ts';
import { resultColumns } from '../../../stores/tables/row-selection.ts';
import type { RowQuery } from '../../../stores/tables/row-query.ts';
import { isoTime } from '../../../../lib/iso-time.ts';
import type { StoredTable } from '../../../stores/metadata/stored-tables.ts';
import { requireVersions } from '../../table-versions.ts';
import { rowsOf } from './alias.ts';
import { exportConverted } from './converted-export.ts';
import { FILE_TYPES, formOf, type ExportFileType } from './export-form.ts';
import { QUEUE } from './load.ts';
import { defineOperation, type Done } from './operation.ts';
import { exportParquet, typesOf } from './parquet-export.ts';
import { engineTable, requireTableRow } from './table-place.ts';

const ExportParams = Type.Object({
  export: Type.Intersect([
    Type.Unsafe<RowQueryInput>({ type: 'object' }),
    Type.Object({
      tableName: Type.String(),
      gzipOutput: Type.Boolean(),
      format: Type.String({ description: 'Only shown: the rows are the same in every one.' }),
      fileType: Type.Enum(FILE_TYPES),
      atVersion: Type.Optional(Type.Integer({ description: 'Version of the rows; default: as they are.' })),
    }),
  ]),
  queue: QUEUE,
});

/** Slices are about that large before compression. */
const SLICE_BYTES = 64 * 1024 * 1024;

/** Exports a table into a sliced file, or finds the file of the same export. */
export const tableExport = defineOperation({
  name: 'tableExport',
  params: ExportParams,
  async run({ export: input }, job, context, signal) {
    const id = job.table_id ?? '';
    const { meta, objects } = context;
    const stored = await requireTableRow(meta, context, job.branch_id, id);
    const rows = await rowsOf(meta, context, stored);
    const query = rows.query(readRowQuery(input, Date.parse(job.created)));
    const { fileType } = input;
    const isGzip = input.gzipOutput && fileType === 'csv';
    const types = fileType === 'csv' ? undefined : typesOf(rows.table);
    const key = {
      branch_id: job.branch_id,
      table_id: id,
      cache_key: cacheKey(query, { fileType, isGzip, types, at: input.atVersion }),
    };
    const known = await findExport(meta, key);
    if (known !== undefined && known.table_revision === rows.table.revision) {
      const cached = await reuse(job, context, known.file_id);
      if (cached !== undefined) return cached;
    }
    const form = formOf(fileType, isGzip);
    const suffix = form.ending;
    const place = id.replace(/^(in|out)\./, '$1/').replace(/\.(?=[^.]*$)/, '/');
    const folder = `exp-${EXPORT_MAX_AGE_DAYS}/${context.project.id}/table-exports/${place}`;
    // One name for each lease: a worker that comes back late cannot write into the export of another.
    const keyOf = (turn: number): string => `${folder}/${job.id}${turn === 1 ? '' : `-${turn}`}${suffix}`;
    const objectKey = keyOf(job.fencing);
    for (let turn = 1; turn <= job.fencing; turn++) await objects.deletePrefix(keyOf(turn));
    try {
      const outcome = await writeSlices(context, rows.table, query, {
        objectKey,
        ...form,
        fileType,
        isGzip,
        types,
        at: input.atVersion,
        signal,
      });
      return {
        results: null,
        moved: { direction: 'export', rows: outcome.rows, bytes: outcome.bytes },
        metrics: {
          outCompressed: isGzip,
          outBytes: outcome.bytes,
          outBytesUncompressed: outcome.plainBytes,
        },
        things: tableOf(job.branch_id, rows.table.id),
        commit: async (tx) => {
          const now = context.env.now();
          const file = fileRow(
            {
              id: await nextId(tx),
              name: `${id}${suffix}`,
              key: objectKey,
              sizeBytes: outcome.bytes,
              isSliced: true,
              isEncrypted: objects.hasEncryption,
              maxAgeDays: EXPORT_MAX_AGE_DAYS,
              tableId: id,
            },
            {
              branchId: job.branch_id,
              author: { creator_id: job.creator_id, creator_description: job.creator_description },
              runId: job.run_id,
            },
            now,
          );
          await insertFileWithin(tx, file, ['table-export']);
          await saveExport(tx, {
            ...key,
            table_revision: rows.table.revision,
            file_id: file.id,
            created: isoTime(now),
          });
          return { file: { id: file.id }, cacheHit: false };
        },
        undo: async () => await objects.deletePrefix(objectKey),
      };
    } catch (error) {
      await objects.deletePrefix(objectKey);
      throw error;
    }
  },
});

/** Returns the file of an earlier export, when it still exists for some time; the run is noted in it. */
async function reuse(job: JobRow, { meta, env }: DataContext, fileId: number): Promise<Done | undefined> {
  const file = await findFileRow(meta, fileId);
  if (file === undefined || isNearlyOver(file, env.now())) return undefined;
  const runIds = JSON.parse(file.run_ids) as string[]; // written by this service
  return {
    results: { file: { id: file.id }, cacheHit: true },
    things: [fileOf(file.id)],
    commit: async (tx) => {
      if (job.run_id === null || runIds.includes(job.run_id)) return;
      const run_ids = JSON.stringify([...runIds, job.run_id]);
      await tx.updateTable('files').set({ run_ids }).where('id', '=', file.id).execute();
    },
  };
}

/** Time to download it. */
const HOUR_MS = 3_600_000;

function isNearlyOver(file: FileRow, now: number): boolean {
  return file.expires !== null && Date.parse(file.expires) - HOUR_MS <= now;
}

async function writeSlices(
  context: DataContext,
  table: StoredTable,
  query: RowQuery,
  target: {
    readonly objectKey: string;
    readonly ending: string;
    readonly contentType: string;
    readonly fileType: ExportFileType;
    readonly isGzip: boolean;
    /** Types of the columns, for files that have them. */
    readonly types: ReadonlyMap<string, string> | undefined;
    readonly at: number | undefined;
    readonly signal: AbortSignal;
  },
): Promise<{ rows: number; bytes: number; plainBytes: number }> {
  const { engine, objects } = context;
  const reader = target.at === undefined ? engine : (await requireVersions(context)).at(target.at);
  const keys: string[] = [];
  const name = target.objectKey.slice(target.objectKey.lastIndexOf('/') + 1);
  const take: TakeSlice = async (slice, index) => {
    target.signal.throwIfAborted();
    const key = `${target.objectKey}_0_0_${index}${target.ending}`;
    keys.push(key);
    const options = {
      contentType: target.contentType,
      disposition: attachmentOf(`${name}_0_0_${index}${target.ending}`),
      encrypted: true,
    };
    if (slice.kind === 'file') await objects.adopt(key, slice.path, options);
    else await objects.write(key, slice.stream, options);
  };
  const place = engineTable(table.branch_id, table.id);
  const outcome = await written();
  const entries = keys.map((key) => ({
    url: `s3://${objects.bucket}/${objects.root}${key}`,
    mandatory: true,
  }));
  await objects.write(`${target.objectKey}manifest`, Buffer.from(JSON.stringify({ entries })), {
    contentType: 'application/json',
    disposition: attachmentOf(`${name}manifest`),
    encrypted: true,
  });
  return { rows: outcome.rows, bytes: outcome.bytes, plainBytes: target.isGzip ? 0 : outcome.bytes };

  async function written(): Promise<ExportOutcome> {
    const { fileType, types, signal } = target;
    if (types === undefined || fileType === 'csv')
      return await reader.export(place, query, { gzip: target.isGzip, targetBytes: SLICE_BYTES }, take);
    // Those of an earlier version are always named.
    const named = target.at === undefined ? undefined : query.columns;
    const columns = resultColumns(query, named ?? table.columns.map(({ name: column }) => column));
    const rows = { place, query, columns, types };
    return fileType === 'parquet'
      ? await exportParquet(reader, rows, take)
      : await exportConverted(reader, rows, fileType, { take, signal });
  }
}

/** Equal for exports that mean the same, whatever way they were written. */
function cacheKey(
  query: RowQuery,
  {
    fileType,
    isGzip,
    types,
    at,
  }: {
    readonly fileType: ExportFileType;
    readonly isGzip: boolean;
    readonly types: ReadonlyMap<string, string> | undefined;
    readonly at: number | undefined;
  },
): string {
  const asked = types === undefined ? [query, isGzip] : [query, fileType, [...types]];
  return createHash('sha256')
    .update(JSON.stringify(at === undefined ? asked : [...asked, at]))
    .digest('hex');
}
