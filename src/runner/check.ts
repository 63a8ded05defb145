import { validateConfig, type ConfigDocument, type Problem, type RowPlan } from '../engine/config/index.ts';
import type { Decrypt } from '../lib/encryption/cipher.ts';
import { ConfigError } from '../lib/errors.ts';
import type { AuthType } from '../engine/http/auth/index.ts';
import type { Log } from '../lib/log.ts';
import type { PaginationMethod } from '../engine/pagination/index.ts';
import { describeProblem, problemText } from './problems.ts';

export interface CheckRunOptions {
  /** `refuse` ends the run for an error; `warn` only tells of it, and the run finds out. */
  readonly onError: 'refuse' | 'warn';
  readonly strict: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly decrypt?: Decrypt | undefined;
  readonly methods?: readonly PaginationMethod[] | undefined;
  readonly authTypes?: readonly AuthType[] | undefined;
  readonly log: Log;
}

/**
 * Validates the rows that are to run. Warnings are logged.
 *
 * @throws {ConfigError} with every error, when errors are to be refused
 */
export async function checkConfiguration(
  document: ConfigDocument,
  plan: RowPlan,
  options: CheckRunOptions,
): Promise<void> {
  const { log, strict, environment, decrypt, methods, authTypes } = options;
  const rows = plan.runs.flatMap(({ id }) => (id === undefined ? [] : [id]));
  const problems = await validateConfig(document, {
    strict,
    env: environment,
    decrypt,
    rows,
    methods,
    authTypes,
  });
  const errors = problems.filter(({ severity }) => severity === 'error');
  const refused = options.onError === 'refuse' && errors.length > 0;
  for (const problem of problems) {
    if (refused && problem.severity === 'error') continue;
    const { path } = problem;
    log.warn(`${path === '' ? '' : `${path}: `}${problemText(problem)}`, placeOf(problem, document));
  }
  if (refused) throw allOf(errors, document);
}

function placeOf({ path, line, column, row }: Problem, { file }: ConfigDocument): Record<string, unknown> {
  const position = line === undefined ? file : `${file}:${line}:${column ?? 1}`;
  return { at: position, path, ...(row === undefined ? {} : { row }) };
}

function allOf(errors: readonly Problem[], document: ConfigDocument): ConfigError {
  const count = errors.length === 1 ? 'a mistake' : `${errors.length} mistakes`;
  const lines = errors.map((problem) => describeProblem(problem, document.file));
  return new ConfigError('config.invalid', `The configuration has ${count}:`, {
    lines,
    details: { problems: errors },
  });
}
