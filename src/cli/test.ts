import { flag, listed, type Command } from './command.ts';
import { plural } from './format.ts';

export const testCommand: Command = {
  name: 'test',
  describe: 'Run recorded examples of an API and compare tables and requests with what is expected',
  words: [{ name: 'folder', describe: 'One example, or a folder of examples', isRequired: true }],
  options: {
    only: listed('NAME', 'Run only examples whose name begins so; may be given several times'),
    json: flag('Print the report as JSON'),
  },
  examples: [
    ['gex test fixtures', 'Run every example below fixtures/'],
    ['gex test fixtures --only 001', 'Run those whose name begins with 001'],
  ],
  async run(args, io) {
    const { runFixtures } = await import('../authoring/testing/index.ts');
    const isJson = args.isSet('json');
    const only = args.list('only');
    const report = await runFixtures(args.word('folder'), {
      signal: io.signal,
      ...(only.length === 0 ? {} : { only }),
      onResult({ name, passed, problems, durationMs }) {
        if (isJson) return;
        io.print(`${passed ? 'passed' : 'FAILED'}  ${name} (${Math.round(durationMs)} ms)`);
        for (const problem of problems) io.print(problem.replace(/^/gm, '        '));
      },
    });
    if (isJson) io.print(JSON.stringify(report, null, 2));
    else io.note(`${plural(report.passed, 'example')} passed, ${report.failed} failed`);
    return report.failed === 0 ? 0 : 1;
  },
};
