import path from 'node:path';
import type { Command } from './command.ts';
import { plural } from './format.ts';
import { dataOption, strictOption } from './shared.ts';

export const validateCommand: Command = {
  name: 'validate',
  describe: 'Check the configuration of a data folder: every problem at once, with its place',
  options: {
    data: dataOption,
    strict: strictOption,
    json: { type: 'boolean', describe: 'Print the problems as JSON' },
  },
  examples: [
    ['gex validate', 'Check ./config.json'],
    ['gex validate --data my-api --strict', 'Let unknown keys be errors, as before a release'],
    ['gex validate --data my-api --json', 'For an editor or a script'],
  ],
  async run(args, io) {
    const { readConfig, validateConfig } = await import('../config/index.ts');
    const document = await readConfig(args.text('data') ?? '.');
    const { decryptorFor } = await import('../runner/decrypt.ts');
    const decrypt = await decryptorFor([document.value], {});
    const problems = await validateConfig(document, {
      strict: args.isSet('strict'),
      env: process.env,
      decrypt,
    });
    const errors = problems.filter(({ severity }) => severity === 'error').length;
    const code = errors > 0 ? 1 : 0;
    if (args.isSet('json')) {
      io.print(JSON.stringify({ valid: errors === 0, file: path.resolve(document.file), problems }, null, 2));
      return code;
    }
    const { describeProblem } = await import('../runner/problems.ts');
    for (const problem of problems) io.print(describeProblem(problem, document.file));
    const warnings = problems.length - errors;
    if (problems.length === 0) io.print(`${document.file} is valid.`);
    else io.note(`${plural(errors, 'error')}, ${plural(warnings, 'warning')}`);
    return code;
  },
};
