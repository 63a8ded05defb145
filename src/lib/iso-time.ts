/** Formats milliseconds since 1970 as ISO 8601 text in UTC. */
export function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
