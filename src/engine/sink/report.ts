import { writeFileAtomic } from './atomic.ts';

/** Writes the completeness of each job (`out/report.json`). The same exchanges give the same bytes. */
export function writeReport(
  file: string,
  jobs: readonly unknown[],
  more: { readonly held?: true } = {},
): void {
  writeFileAtomic(file, `${JSON.stringify({ ...more, jobs }, null, 2)}\n`);
}
