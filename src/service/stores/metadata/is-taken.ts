/** Tells whether a unique index refused it, in SQLite's words or by PostgreSQL's code. */
export function isTaken(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && error.code === '23505') || error.message.startsWith('UNIQUE constraint failed');
}
