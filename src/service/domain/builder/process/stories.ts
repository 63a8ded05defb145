import type { Story } from '../../../../engine/explain/trace.ts';
import type { OpenRecording } from '../../../../runner/recordings.ts';
import type { Secrets } from '../../../../lib/secrets.ts';
import type { TriedRecording, TriedTable } from '../builder-types.ts';
import type { RowsRead } from './rows-read.ts';

/** Characters of an answer without rows, such as an error message of the API. */
const ANSWER_LETTERS = 4000;
/** A secret that begins within those letters is whole in these. */
const ANSWER_BYTES = 64_000;

interface Seen {
  readonly read: RowsRead;
  readonly tables: readonly TriedTable[];
  readonly secrets: Secrets;
}

/**
 * Returns the requests, as `gex explain` describes them, and their answers; nothing when the run failed before its
 * first request.
 */
export async function storiesOf(
  dataFolder: string,
  recording: string,
  seen: Seen,
): Promise<TriedRecording[]> {
  const { withRecordings } = await import('../../../../runner/recordings.ts');
  const { readStory } = await import('../../../../engine/explain/trace.ts');
  const { storyJson } = await import('../../../../engine/explain/trace-json.ts');
  return await withRecordings(
    { dataFolder, recording },
    async (recordings) =>
      await Promise.resolve(
        recordings.map((each) => {
          const story = readStory(each.file, each.scanned);
          // The written trace has these fields, and more.
          const told = storyJson({ ...each, source: '', story }) as TriedRecording;
          return withAnswers(told, story, each, seen);
        }),
      ),
  ).catch(() => []);
}

/** Adds to each request the rows that it brought; where there are none, its answer. */
function withAnswers(
  told: TriedRecording,
  story: Story,
  { row, file }: OpenRecording,
  { read, tables, secrets }: Seen,
): TriedRecording {
  const pages = story.jobs.map(({ runs }) => runs.map((run) => run.pages));
  return {
    ...told,
    jobs: told.jobs.map((job, j) => ({
      ...job,
      runs: job.runs.map((run, r) => ({
        ...run,
        pages: run.pages.map((page, p) => {
          const known = pages[j]?.[r]?.[p];
          if (known === undefined) return page;
          const rows = read.of(row, known.exchange.position, tables);
          if (rows !== undefined && rows.count > 0) return { ...page, took: rows };
          const { at, bytes } = known.body;
          const body = file.bytes(at, Math.min(bytes, ANSWER_BYTES));
          const answer = secrets.redactBody(Buffer.from(body).toString('utf8')).slice(0, ANSWER_LETTERS);
          return { ...page, ...(rows === undefined ? {} : { took: rows }), answer: answer.toWellFormed() };
        }),
      })),
    })),
  };
}
