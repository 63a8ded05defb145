/** A step that gives fields of a record other names. */
type Step =
  | { readonly kind: 'snake' }
  | { readonly kind: 'replace'; readonly old: string; readonly new: string }
  | {
      readonly kind: 'lift';
      readonly path: FieldPath;
      readonly prefix: string;
      readonly suffix: string;
      readonly replaces: boolean;
    }
  /** A list whose items are left with some of their fields. */
  | { readonly kind: 'cut'; readonly name: string; readonly keys: ReadonlySet<string> }
  /** It has a value that is not known here. */
  | { readonly kind: 'made'; readonly name: string }
  | { readonly kind: 'unknown' };

type FieldPath = readonly (string | number)[];

/** Most forms of a name that are looked for; more would be slow for each row. */
const MAX_PATHS = 12;

/** Names that the fields of a record get one after the other: a field is followed back to where the API has it. */
export class FieldNames {
  readonly #steps: Step[] = [];

  get isChanged(): boolean {
    return this.#steps.length > 0;
  }

  add(step: Step): void {
    this.#steps.push(step);
  }

  /**
   * Returns the places of the answer in which a field may be: it is the first of them that is there.
   *
   * @returns undefined where the place can't be told
   */
  pathsOf(keys: FieldPath): readonly FieldPath[] | undefined {
    let paths: readonly FieldPath[] = [keys];
    for (const step of this.#steps.toReversed()) {
      if (step.kind === 'unknown') return undefined;
      if (step.kind === 'made') {
        if (paths.some(([first]) => first === step.name)) return undefined;
        continue;
      }
      if (step.kind === 'cut') {
        const { name, keys: left } = step;
        const isGone = ([first, , key]: FieldPath): boolean => first === name && !left.has(String(key ?? ''));
        if (paths.some(isGone)) return undefined;
        continue;
      }
      const before = paths.flatMap((path) => beforeStep(path, step));
      paths = before.filter((path, index) => before.findIndex((other) => isSame(path, other)) === index);
      if (paths.length > MAX_PATHS) return undefined;
    }
    return paths;
  }
}

function isSame(a: FieldPath, b: FieldPath): boolean {
  return a.length === b.length && a.every((key, index) => key === b[index]);
}

function beforeStep(
  path: FieldPath,
  step: Exclude<Step, { kind: 'unknown' | 'made' | 'cut' }>,
): readonly FieldPath[] {
  if (step.kind === 'lift') return beforeLift(path, step);
  // items of lists keep the names of their fields
  const inList = path.findIndex((key) => typeof key === 'number');
  const renamed = inList === -1 ? path : path.slice(0, inList);
  const forms = (key: string | number): readonly (string | number)[] =>
    typeof key === 'number'
      ? [key]
      : step.kind === 'snake'
        ? beforeSnake(key)
        : beforeReplacing(key, step.old, step.new);
  const made = renamed.reduce<readonly FieldPath[]>(
    (paths, key) => paths.flatMap((before) => forms(key).map((form) => [...before, form])),
    [[]],
  );
  return made.map((before) => [...before, ...path.slice(renamed.length)]);
}

/** Fields of an object that are put beside it: none of them is, where one has a name that is there already. */
function beforeLift(path: FieldPath, step: Extract<Step, { kind: 'lift' }>): readonly FieldPath[] {
  const [first = '', ...rest] = path;
  const name = String(first);
  const { prefix, suffix } = step;
  const isLifted =
    name.startsWith(prefix) && name.endsWith(suffix) && name.length > prefix.length + suffix.length;
  if (!isLifted) return [path];
  const inside = [...step.path, name.slice(prefix.length, name.length - suffix.length), ...rest];
  return step.replaces ? [inside, path] : [path, inside];
}

/** Returns the usual ways to write a name in words: `updated_at` may have been `updatedAt`. */
function beforeSnake(key: string): readonly string[] {
  const words = key.split('_');
  const titled = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  const pascal = titled.join('');
  const camel = `${words[0] ?? ''}${titled.slice(1).join('')}`;
  return [
    ...new Set([camel, pascal, key, titled.join('_'), titled.join(' '), words.join('-'), key.toUpperCase()]),
  ];
}

function beforeReplacing(key: string, old: string, by: string): readonly string[] {
  if (old === '') return [key];
  const before = by === '' ? [] : [key.split(by).join(old)];
  const kept = key.includes(old) ? [] : [key];
  return [...new Set([...before, ...kept])];
}
