/** Returns the name of a table as a query has it: `"in.c-main"."users"`. */
export function sqlName(id: string): string {
  const parts = id.split('.');
  return [parts.slice(0, 2).join('.'), parts.slice(2).join('.')].map(quoted).join('.');
}

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
