/** What the keys of all objects begin with that are kept of a run. */
export function recordingsOf(run: string): string {
  return `recordings/${run}/`;
}

/** The recording of a run that has ended, as `gex run --record` writes it. */
export function recordingOf(run: string): string {
  return `${recordingsOf(run)}recording.gexr`;
}

/** What that recording tells, as `gex run --explanation` writes it. */
export function explanationOf(run: string): string {
  return `${recordingsOf(run)}explanation`;
}
