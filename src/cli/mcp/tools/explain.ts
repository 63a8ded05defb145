import { Type } from 'typebox';
import { readStory, type Story } from '../../../engine/explain/trace.ts';
import { withRecordings, type OpenRecording } from '../../../runner/recordings.ts';
import { RunError } from '../../../lib/errors.ts';
import { describePage } from '../../explain-page.ts';
import { describeStory } from '../../explain-text.ts';
import { valueText } from '../value-text.ts';
import { defineTool } from '../tool.ts';

export const explain = defineTool({
  name: 'explain',
  title: 'Explain a run, a page or a value',
  description:
    'Tells what a trial, or the last run over the data folder, asked for, what led from page to page and why each job ended; with page the whole request and answer of one page; with value where a value came from and where it was sent.',
  input: Type.Object({
    trial: Type.Optional(
      Type.String({
        description:
          'Such as trial-1, or "last run"; by default the last trial, and the last run where there is none.',
      }),
    ),
    row: Type.Optional(Type.String({ description: 'Only this row of the configuration.' })),
    job: Type.Optional(Type.String({ description: 'Only this job.' })),
    page: Type.Optional(
      Type.Integer({ minimum: 1, description: 'The request and the answer of this page.' }),
    ),
    parent: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'Of a child: which of its runs; each row above it starts one.',
      }),
    ),
    value: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'A value of an answer or a request.' }),
    ),
  }),
  works: 'here',
  async run({ trial, row, job, page, parent, value }, { session }) {
    const { dataFolder, secrets, trials } = session;
    const isLastRun = trial === 'last run' || (trial === undefined && trials.isEmpty);
    const recording = isLastRun ? undefined : trials.find(trial).recording;
    const which = { dataFolder, recording, rows: row === undefined ? [] : [row] };
    return await withRecordings(which, async (recordings) => {
      const told = recordings.map((each) => ({
        recording: each,
        story: ofJob(readStory(each.file, each.scanned), job, each),
      }));
      if (value !== undefined) return await Promise.resolve(valueText(told, value, secrets));
      if (page !== undefined) return describePage(told, { page, parent, isJson: false, secrets });
      return told.map((each) => describeStory(each, { isAll: false, width: undefined })).join('\n\n\n');
    });
  },
});

function ofJob(story: Story, name: string | undefined, { row }: OpenRecording): Story {
  if (name === undefined) return story;
  const jobs = story.jobs.filter((job) => job.name === name);
  if (jobs.length > 0) return { jobs, limits: [] };
  throw new RunError('command.invalid', `The recording has no job “${name}”.`, {
    where: row === undefined ? {} : { row },
    hint: `It has ${[...new Set(story.jobs.map((job) => job.name))].join(', ') || 'none'}.`,
  });
}
