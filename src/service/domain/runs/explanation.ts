import type { Readable } from 'node:stream';
import { RawJson, type Reply } from '../reply.ts';
import { DamagedRecord, decompressed } from './damaged-record.ts';

export interface ExplanationPart {
  readonly row?: string | undefined;
  readonly job?: string | undefined;
  readonly offset: number;
  readonly limit: number;
}

/** The line of a recording: those of its requests follow, job by job. */
interface RecordingLine {
  readonly row?: string;
  readonly jobs: readonly { readonly job: string; readonly requests: number }[];
}

/**
 * A part of what `gex run --explanation` wrote. All of it is read through, and no more than the part is in memory.
 *
 * @param file is read to its end
 * @throws an error that {@link isDamagedRecord} knows, when the file is not what was written
 */
export async function readExplanation(
  file: Readable,
  { row, job, offset, limit }: ExplanationPart,
): Promise<Reply> {
  const lines = linesOf(file);
  const recordings: RawJson[] = [];
  const requests: RawJson[] = [];
  let found = 0;
  for await (const line of lines) {
    const recording = recordingIn(line);
    const isMeant = row === undefined || recording.row === row;
    const jobs = recording.jobs.filter((each) => isMeant && (job === undefined || each.job === job));
    if (isMeant)
      recordings.push(new RawJson(job === undefined ? line : JSON.stringify({ ...recording, jobs })));
    for (const each of recording.jobs)
      for (let left = each.requests; left > 0; left--) {
        const { value, done } = await lines.next();
        if (done === true) throw new DamagedRecord('It has fewer requests than it says.');
        if (!jobs.includes(each)) continue;
        if (found >= offset && requests.length < limit) requests.push(new RawJson(value));
        found++;
      }
  }
  const next = Math.min(found, offset) + requests.length;
  return { recordings, requests, next, isEnded: next >= found };
}

function recordingIn(line: string): RecordingLine {
  try {
    const recording = JSON.parse(line) as Partial<RecordingLine> | null; // written by a run of this service
    if (Array.isArray(recording?.jobs)) return recording as RecordingLine;
  } catch {
    // told of below
  }
  throw new DamagedRecord('A line of it is no recording.');
}

const NEWLINE = 10;

/** Other signs that end a line for some readers stand in texts of JSON as they are. */
async function* linesOf(file: Readable): AsyncGenerator<string, undefined> {
  const rest: Buffer[] = [];
  for await (const chunk of decompressed(file)) {
    let from = 0;
    for (let to = chunk.indexOf(NEWLINE); to >= 0; to = chunk.indexOf(NEWLINE, from)) {
      yield Buffer.concat([...rest.splice(0), chunk.subarray(from, to)]).toString('utf8');
      from = to + 1;
    }
    rest.push(chunk.subarray(from));
  }
  return undefined;
}
