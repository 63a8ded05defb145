/** Returns the prefix of the keys of all stored objects of a run. */
export function recordingsOf(run: string): string {
  return `recordings/${run}/`;
}

/** The recording of a run that has ended, as `gex run --record` writes it. */
export function recordingOf(run: string): string {
  return `${recordingsOf(run)}recording.gexr`;
}

/** Returns the key of the explanation of that recording, as `gex run --explanation` writes it. */
export function explanationOf(run: string): string {
  return `${recordingsOf(run)}explanation`;
}
