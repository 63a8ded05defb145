/** Returns the text of `out/report.json`: the completeness of each job, and the types of the columns. The same exchanges give the same bytes. */
export function reportText(
  jobs: readonly unknown[],
  more: { readonly held?: true; readonly types?: readonly unknown[] } = {},
): string {
  const { types, ...marks } = more;
  const ending = types === undefined ? {} : { types };
  return `${JSON.stringify({ ...marks, jobs, ...ending }, null, 2)}\n`;
}
