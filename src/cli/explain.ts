import { RunError } from '../lib/errors.ts';
import type { Story, JobTrace } from '../engine/explain/trace.ts';
import type { OpenRecording } from '../runner/recordings.ts';
import { flag, valued, type Args, type Command } from './command.ts';
import { countArg, recordingOptions } from './shared.ts';

export const explainCommand: Command = {
  name: 'explain',
  describe: 'Show what the last run asked for, what led from page to page, and why each job ended',
  options: {
    ...recordingOptions,
    job: valued('NAME', 'Only this job'),
    page: valued('N', 'Show the whole request and answer of this page of the job, without secrets'),
    parent: valued('N', 'Of a child: which of its runs, from 1; each row above it starts one'),
    all: flag('Show every page; by default the first and the last ones'),
    json: flag('Print everything as JSON'),
  },
  examples: [
    ['gex explain', 'What the last run over this folder asked for, and why it ended'],
    ['gex explain --data my-api --job books --page 3', 'The third request of a job, and its answer'],
    ['gex explain --recording books.gexr --json', 'Look at the recording of somebody else'],
  ],
  async run(args, io) {
    const { withRecordings } = await import('../runner/recordings.ts');
    const { readStory } = await import('../engine/explain/trace.ts');
    const page = countArg(args, 'page');
    const parent = countArg(args, 'parent');
    const dataFolder = args.text('data') ?? '.';
    const { changesOf, learnSecrets } = await import('./explain-changes.ts');
    await learnSecrets(dataFolder, io.secrets);
    const which = { dataFolder, recording: args.text('recording'), rows: args.list('row') };
    return await withRecordings(which, async (recordings) => {
      const told = recordings.map((recording) => {
        const story = readStory(recording.file, recording.scanned);
        return { recording, story: chosen(story, args, recording) };
      });
      if (page !== undefined) {
        const { describePage } = await import('./explain-page.ts');
        io.print(describePage(told, { page, parent, isJson: args.isSet('json'), secrets: io.secrets }));
      } else if (args.isSet('json')) {
        const { storyJson } = await import('../engine/explain/trace-json.ts');
        const all = told.map(({ recording, story }) => storyJson({ ...recording, story }));
        io.print(JSON.stringify(all, null, 2));
      } else {
        const { describeStory } = await import('./explain-text.ts');
        const shown = { isAll: args.isSet('all'), width: io.width };
        io.print(told.map((each) => describeStory(each, shown)).join('\n\n\n'));
      }
      for (const note of await changesOf(
        recordings,
        args.text('recording') === undefined ? dataFolder : undefined,
      ))
        io.note(note);
      return 0;
    });
  },
};

function chosen(story: Story, args: Args, { source, row }: OpenRecording): Story {
  const name = args.text('job');
  if (name === undefined) return story;
  const jobs = story.jobs.filter((job) => job.name === name);
  if (jobs.length > 0) return { jobs, limits: [] };
  throw new RunError('command.invalid', `The recording has no job “${name}”.`, {
    where: { file: source, ...(row === undefined ? {} : { row }) },
    hint: jobsText(story.jobs),
  });
}

function jobsText(jobs: readonly JobTrace[]): string {
  if (jobs.length === 0) return 'It has no answers at all.';
  return `It has ${[...new Set(jobs.map(({ name }) => `“${name}”`))].join(', ')}.`;
}
