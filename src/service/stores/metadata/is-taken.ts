/** Tells whether a unique index refused a row, by the message of SQLite or the code of PostgreSQL. */
export function isTaken(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && error.code === '23505') || error.message.startsWith('UNIQUE constraint failed');
}
