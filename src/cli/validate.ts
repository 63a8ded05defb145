import path from 'node:path';
import type { Problem } from '../engine/config/index.ts';
import { ConfigError } from '../lib/errors.ts';
import { flag, type Command } from './command.ts';
import { plural } from './format.ts';
import { dataOption, strictOption } from './shared.ts';

export const validateCommand: Command = {
  name: 'validate',
  describe: 'Check the configuration of a data folder: every problem at once, with its place',
  options: {
    data: dataOption,
    strict: strictOption,
    json: flag('Print the problems as JSON'),
  },
  examples: [
    ['gex validate', 'Check ./config.json'],
    ['gex validate --data my-api --strict', 'Let unknown keys be errors, as before a release'],
    ['gex validate --data my-api --json', 'For an editor or a script'],
  ],
  async run(args, io) {
    const { readConfig, validateConfig } = await import('../engine/config/index.ts');
    const isJson = args.isSet('json');
    const document = await readConfig(args.text('data') ?? '.').catch((error: unknown) => {
      if (isJson && error instanceof ConfigError && error.code === 'config.syntax')
        io.print(asJson(error.where.file ?? '', [brokenText(error)]));
      throw error;
    });
    const { decryptorFor } = await import('../runner/decrypt.ts');
    const decrypt = await decryptorFor([document.value], {});
    const problems = await validateConfig(document, {
      strict: args.isSet('strict'),
      env: process.env,
      isElsewhere: true,
      decrypt,
    });
    const errors = problems.filter(({ severity }) => severity === 'error').length;
    const code = errors > 0 ? 1 : 0;
    if (isJson) {
      io.print(asJson(document.file, problems));
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

function asJson(file: string, problems: readonly Problem[]): string {
  const valid = problems.every(({ severity }) => severity !== 'error');
  return JSON.stringify({ valid, file: path.resolve(file), problems }, null, 2);
}

/** Creates the problem of a text that is no JSON, with its place. */
function brokenText({ message, hint, where: { line, column } }: ConfigError): Problem {
  return {
    severity: 'error',
    path: '',
    message,
    ...(hint === undefined ? {} : { hint }),
    ...(line === undefined ? {} : { line }),
    ...(column === undefined ? {} : { column }),
  };
}
