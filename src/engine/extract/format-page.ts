import { hash } from 'node:crypto';
import { DEFAULT_FORMAT, isFile, readFormat, type FormatRows } from '../formats/index.ts';
import { bodyBytes, type ApiResponse, type FileRule } from '../shared/message.ts';
import type { Job } from '../jobs/index.ts';
import type { Json } from '../../lib/json/index.ts';
import type { BodySpool } from '../recording/exchanges.ts';
import { RecordError } from '../../lib/errors.ts';
import type { Page } from '../records/page.ts';
import { readRows, type RowsOptions } from '../records/read-rows.ts';
import { turn } from '../../lib/turn.ts';

/** The answer as far as its rows are concerned. */
export type FileAnswer = Pick<ApiResponse, 'body' | 'large' | 'unpacked' | 'headers' | 'url' | 'status'>;

/** Rows of a body up to this size stay decoded from the first reading to the last. */
const KEPT_BYTES = 1 << 19;

/** Returns the rule for receiving the bodies of a job. */
export function fileRule({ format = DEFAULT_FORMAT }: Job, spool: BodySpool): FileRule {
  return {
    takes: (headers) => isFile(format, headers),
    compression: format.compression,
    member: format.member,
    ...spool,
  };
}

/** The rows of an answer in another format than JSON; undefined for JSON. */
export function formatRows(job: Job, answer: FileAnswer, options: RowsOptions): FormatRows | undefined {
  const { format = DEFAULT_FORMAT } = job;
  const { headers, unpacked, large, body } = answer;
  if (unpacked === undefined && !isFile(format, headers)) return undefined;
  const bytes = large ?? { bytes: body.length, read: (at, length) => body.subarray(at, at + length) };
  if (bytes.bytes === 0 && unpacked?.members === undefined) return undefined;
  const rows = readFormat(bytes, {
    settings: format,
    about: answer,
    dataField: job.dataField,
    isExact: options.isExact === true,
    redact: options.redact,
    readJson: (json) => jsonRows(json, options),
  });
  if (rows !== undefined && unpacked?.members === undefined) refuseForms(options);
  return rows;
}

/** Refuses forms of rows that other formats than JSON do not have: their records have one place and one form. */
function refuseForms({ rowsAt, otherFields = [] }: RowsOptions): void {
  if (rowsAt === undefined && otherFields.length === 0) return;
  const what = rowsAt === undefined ? 'Several places of rows' : `Rows at “${rowsAt.form}”`;
  throw new RecordError('response.shape', `${what} are looked for in JSON, and the answer is none`, {
    hint: 'Leave “rowsAt” out, and give one “dataField”; or ask the API for JSON.',
  });
}

/** Returns the page of an answer in another format than JSON, read through once. */
export async function formatPage(rows: FormatRows, answer: FileAnswer): Promise<Page> {
  const isSmall = bodyBytes(answer) <= KEPT_BYTES;
  const steps = rows.measure();
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) if (!isSmall) await turn();
  const { envelope, rows: count, warning, header, text } = step.value;
  const digest = answer.large?.sha1 ?? hash('sha1', answer.body);
  const kept: readonly (readonly Json[])[] | undefined = isSmall ? [...rows.chunks()] : undefined;
  return {
    envelope,
    response: () => envelope,
    pieces: [],
    stream: kept === undefined ? rows : { chunks: () => kept },
    rows: count,
    rowsAt: count === 0 && warning !== undefined ? undefined : [],
    digest,
    rowsDigest: digest,
    ...(header === undefined ? {} : { header }),
    ...(warning === undefined ? {} : { warning }),
    ...(text === undefined ? {} : { text }),
  };
}

function jsonRows(bytes: Uint8Array, options: RowsOptions): FormatRows {
  return {
    *chunks() {
      for (const piece of readRows(bytes, options).pieces) yield piece.decode();
    },
    *measure() {
      const { rows, envelope, warning, text } = readRows(bytes, options);
      yield;
      return { rows, envelope, warning, text };
    },
  };
}
