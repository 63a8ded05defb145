/** The contexts that a source can name a value of. */
export const CONTEXTS = [
  'attr',
  'time',
  'state',
  'window',
  'parent',
  'placeholder',
  'created',
  'polled',
] as const;
export type SourceContext = (typeof CONTEXTS)[number];

/** Kinds of sources. */
export const KINDS = [
  'path',
  'response',
  'row',
  'first',
  'last',
  'min',
  'max',
  'header',
  'link',
  'request',
  'answer',
  'value',
  'firstOf',
  ...CONTEXTS,
] as const;
export type SourceKind = (typeof KINDS)[number];

/** Kinds of sources that are known with every answer: all but its rows, one of them, and the steps of an export. */
export const ANSWER_KINDS: readonly SourceKind[] = KINDS.filter(
  (kind) => !['row', 'first', 'last', 'min', 'max', 'created', 'polled'].includes(kind),
);

const ALL: ReadonlySet<string> = new Set(KINDS);

export function isKind(key: string): key is SourceKind {
  return ALL.has(key);
}

export function isContext(kind: SourceKind): kind is SourceContext {
  return (CONTEXTS as readonly string[]).includes(kind);
}
