import { writeFileAtomic } from './atomic.ts';

/** Writes whether each job has everything (`out/report.json`). The same exchanges give the same bytes. */
export function writeReport(
  file: string,
  jobs: readonly unknown[],
  more: { readonly held?: true } = {},
): void {
  writeFileAtomic(file, `${JSON.stringify({ ...more, jobs }, null, 2)}\n`);
}
