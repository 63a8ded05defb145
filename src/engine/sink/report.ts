import { writeFileAtomic } from './atomic.ts';

/** Writes the completeness of each job (`out/report.json`), and the types of the columns. The same exchanges give the same bytes. */
export function writeReport(
  file: string,
  jobs: readonly unknown[],
  more: { readonly held?: true; readonly types?: readonly unknown[] } = {},
): void {
  const { types, ...marks } = more;
  const ending = types === undefined ? {} : { types };
  writeFileAtomic(file, `${JSON.stringify({ ...marks, jobs, ...ending }, null, 2)}\n`);
}
