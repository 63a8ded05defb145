/** Keys from the root of a document to a value; list items by index (`['jobs', '0', 'endpoint']`). */
export type KeyPath = readonly string[];

/** Joins keys to a text for people: `parameters.config.jobs[0].endpoint`, `mappings.users["a.b"]`. */
export function pathText(keys: KeyPath): string {
  let text = '';
  for (const key of keys) text += step(text, key);
  return text;
}

/** The path of a key or of a list item below `at`, which may be empty. */
export function pathOf(at: string, key: string | number): string {
  return at + step(at, String(key));
}

/** The keys of a path text, in either way of writing an index: `jobs[0]`, `jobs.0`. */
export function keysOfPath(path: string): KeyPath {
  const keys: string[] = [];
  for (const match of path.matchAll(STEP)) {
    const [, quoted, bare] = match;
    if (quoted !== undefined) keys.push(unquote(quoted));
    else if (bare !== undefined) keys.push(bare);
  }
  return keys;
}

const STEP = /\[("(?:[^"\\]|\\.)*"|\d+)\]|([^.[\]]+)/g;

function step(before: string, key: string): string {
  if (/^\d+$/.test(key)) return before === '' ? key : `[${key}]`;
  // most are in ASCII, and need no tables of letters, which the runtime makes at each start
  if (!/^[\w$#@-]+$/.test(key) && !/^[\p{L}\p{N}_$#@-]+$/u.test(key)) return `[${JSON.stringify(key)}]`;
  return before === '' ? key : `.${key}`;
}

function unquote(text: string): string {
  try {
    return String(JSON.parse(text));
  } catch {
    return text;
  }
}
