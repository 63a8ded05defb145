import path from 'node:path';
import { describeError, ExtractorError, MappingError } from '../../../lib/errors.ts';
import { shellWord } from '../../../lib/shell-word.ts';
import type { MappingContext, Pushed } from '../mapping-types.ts';

/** One table or file that was not pushed. */
export interface Failed {
  /** `“users.csv” into in.c-main.users` */
  readonly what: string;
  readonly error: unknown;
}

export interface PushReport {
  readonly pushed: Pushed;
  readonly failed: readonly Failed[];
  /** Tables and files that were not tried after a failure. */
  readonly left: readonly string[];
}

type Context = Pick<MappingContext, 'connection' | 'origin'> & { readonly out: string };

/** Creates the error of a push that failed, with what was pushed and what was not. */
export function pushFailed({ pushed, failed, left }: PushReport, options: Context): MappingError {
  const done = pushed.tables.length + pushed.files.length;
  const all = done + failed.length + left.length;
  const lines = failed.map(
    ({ what, error }) => `- ${what}: ${describeError(error).replaceAll('\n', '\n  ')}`,
  );
  if (left.length > 0) lines.push(`- not tried: ${left.join(', ')}`);
  const [first] = failed;
  const isOurs = failed.some(
    ({ error }) => !(error instanceof ExtractorError) || error.audience === 'application',
  );
  return new MappingError(
    'push.failed',
    `${all - done} of ${all} outputs could not be pushed into ${options.connection.address}${done === 0 ? '' : `, ${done} ${done === 1 ? 'is' : 'are'} done`}:`,
    {
      lines,
      audience: isOurs ? 'application' : 'user',
      cause: first?.error,
      where: { file: options.out },
      hint: `Nothing is lost: the files stay in ${options.out}. Push them again with: gex storage push ${shellWord(dataFolderOf(options))}`,
      details: {
        done: [...pushed.tables, ...pushed.files].map(({ source }) => source),
        failed: failed.map(({ what, error }) => ({ what, ...facts(error) })),
        left,
      },
    },
  );
}

function facts(error: unknown): object {
  return error instanceof ExtractorError ? { code: error.code, ...error.details } : {};
}

/** Returns the data folder of an output: `out/` is in it, or in `rows/<id>` below it. */
function dataFolderOf({ out, origin }: Context): string {
  const folder = path.dirname(out);
  const isRow = origin.row !== undefined && path.basename(path.dirname(folder)) === 'rows';
  return isRow ? path.dirname(path.dirname(folder)) : folder;
}
