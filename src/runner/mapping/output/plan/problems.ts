import { existsSync } from 'node:fs';
import path from 'node:path';
import { shellWord } from '../../../../lib/shell-word.ts';
import { describeError, ExtractorError, MappingError, type Where } from '../../../../lib/errors.ts';

/** One thing that is wrong with an output, its manifest or its mapping. */
export interface OutputProblem {
  readonly message: string;
  readonly where?: Where;
  /** Hint of one sentence. */
  readonly hint?: string;
}

/**
 * Tells all problems at once.
 *
 * @throws {MappingError} `push.invalid`, when there is a problem
 */
export function refuse(problems: readonly OutputProblem[], out: string): void {
  const [first] = problems;
  if (first === undefined) return;
  const lines = problems.map(({ message, where = {}, hint }) =>
    describeError(new ExtractorError('push.invalid', message, { where: shortened(where, out), hint })),
  );
  const details = { problems: problems.map(({ message, where }) => ({ message, ...where })) };
  if (problems.length === 1)
    throw new MappingError('push.invalid', first.message, {
      where: first.where,
      hint: [first.hint ?? [], kept(out)].flat(2),
      details,
    });
  throw new MappingError('push.invalid', `The output cannot be pushed: it has ${problems.length} problems.`, {
    lines: lines.map((text) => `- ${text.replaceAll('\n', '\n  ')}`),
    where: { file: out },
    hint: kept(out),
    details,
  });
}

function kept(out: string): string[] {
  const journal = path.join(out, 'push.json');
  const stays =
    'Nothing was pushed, and nothing is lost: when it is mended, “gex storage push” or the next run pushes it.';
  return existsSync(journal)
    ? [stays, `To give this output up and ask the API again: ${discardCommand(out)}`]
    : [stays];
}

/** Returns the command that discards an output; `out/` is in the data folder, or in `rows/<id>` below it. */
function discardCommand(out: string): string {
  const folder = path.dirname(out);
  const isRow = path.basename(path.dirname(folder)) === 'rows';
  const row = isRow ? ` --row ${shellWord(path.basename(folder))}` : '';
  const data = isRow ? path.dirname(path.dirname(folder)) : folder;
  return `gex storage push ${shellWord(data)}${row} --discard`;
}

/** Shortens a place to its path below the output's folder, which is named once. */
function shortened(where: Where, out: string): Where {
  return where.file === undefined ? where : { ...where, file: path.relative(path.dirname(out), where.file) };
}
