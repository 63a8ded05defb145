/** Functions whose values are numbers, whatever their arguments are. */
const NUMERIC: ReadonlySet<unknown> = new Set(
  'strtotime parse_date add subtract multiply divide mod floor ceil round abs length number time'.split(' '),
);

/** Functions that give one of their arguments, from the one at this place on. */
const PASSING: Readonly<Record<string, number>> = {
  max: 0,
  min: 0,
  coalesce: 0,
  optional: 0,
  ifempty: 0,
  if: 1,
};

/** Tells if a value of a configuration is a number, such as seconds since 1970: it is not read as a date then. */
export function isNumeric(out: unknown): boolean {
  if (typeof out === 'number') return true;
  if (typeof out !== 'object' || out === null || Array.isArray(out)) return false;
  if ('time' in out) return true;
  if (!('function' in out) || !('args' in out)) return false;
  const { function: name, args } = out;
  if (NUMERIC.has(name)) return true;
  const from = typeof name === 'string' && Object.hasOwn(PASSING, name) ? PASSING[name] : undefined;
  return from !== undefined && Array.isArray(args) && args.slice(from).every(isNumeric);
}
