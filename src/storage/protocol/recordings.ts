/** What the keys of all objects begin with that are kept of a run. */
export function recordingsOf(run: string): string {
  return `recordings/${run}/`;
}
