import type { Args, Io } from '../command.ts';

export const isDatabase = (name: string): boolean => /^postgres(?:ql)?:/i.test(name);

/**
 * Returns one end of a copy: a folder, or a database. An address may come from the environment, because options are
 * visible in lists of processes.
 */
export function placeArg(args: Args, io: Io, end: 'from' | 'to'): string | undefined {
  const text = args.text(end) ?? process.env[`GEX_${end.toUpperCase()}_DATABASE_URL`] ?? '';
  const password = /^[^/]*\/\/[^:@/]*:(?<password>.*)@/.exec(text)?.groups?.['password'] ?? '';
  if (password !== '') io.secrets.add(password);
  return text === '' ? undefined : text;
}
