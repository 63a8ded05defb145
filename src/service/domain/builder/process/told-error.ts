import { adviceIn } from '../../../../storage/protocol/advice.ts';
import { describeError, ExtractorError, type Where } from '../../../../lib/errors.ts';
import type { Secrets } from '../../../../lib/secrets.ts';
import type { ConfigurationProblem } from '../../../../storage/protocol/workshop.ts';
import type { ToldError } from '../builder-types.ts';

/** Returns an error for the page. A bug of this program is described in full, so that the user can report it. */
export function toldError(error: unknown, secrets: Secrets): ToldError {
  if (error instanceof ExtractorError) {
    const { hint } = error;
    const { status, problems } = error.details;
    const advice = adviceIn(error.details);
    return {
      code: error.code,
      message: secrets.redact(error.message + (error.code === 'import.invalid' ? placeOf(error.where) : '')),
      ...(hint === undefined ? {} : { hint: secrets.redact(hint) }),
      audience: error.audience,
      ...(typeof status === 'number' ? { status } : {}),
      ...(advice === undefined ? {} : { advice }),
      // For `config.invalid` they are those of `gex validate`.
      ...(error.code === 'config.invalid' && Array.isArray(problems)
        ? { problems: problems as ConfigurationProblem[] }
        : {}),
    };
  }
  return { code: 'internal', message: secrets.redact(describeError(error)), audience: 'application' };
}

/** Returns the line of a text that was given, which no message repeats. */
function placeOf({ file, line, column }: Where): string {
  return line === undefined ? '' : ` (${file === undefined ? 'line ' : `${file}:`}${line}:${column ?? 1})`;
}
