/** Longest name of a file, in bytes, on the usual file systems; that of its manifest is nine longer. */
const MAX_BYTES = 255 - '.manifest'.length;
/** Shorter than need be: people read them. */
const SAVED_BYTES = 200;
const MAX_EXTENSION = 20;

/** Explains why a text cannot be the name of a file in `in/tables`; undefined when it can. */
export function fileNameProblem(name: string): string | undefined {
  if (!isFileName(name)) return 'it must be a name without slashes';
  if (name.endsWith('.manifest')) return 'names that end in .manifest are those of manifests';
  return Buffer.byteLength(name) > MAX_BYTES ? `it is longer than ${MAX_BYTES} bytes` : undefined;
}

/** Tells whether a name stays within its folder. */
export function isFileName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !UNSAFE.test(name);
}

/** Returns `{id}_{name}`, as files are saved: no slashes, no control characters, no `..`, 200 bytes at most. */
export function savedName(id: number, name: string): string {
  const safe = name
    .toWellFormed()
    .replaceAll(UNSAFE_ALL, '_')
    .replaceAll(/\.{2,}/g, '_');
  const whole = `${id}_${safe}`;
  if (Buffer.byteLength(whole) <= SAVED_BYTES) return whole;
  const extension = /\.[^.]+(?:\.gz)?$/.exec(whole)?.[0] ?? '';
  const kept = extension.length <= MAX_EXTENSION ? extension : '';
  return cut(whole.slice(0, whole.length - kept.length), SAVED_BYTES - Buffer.byteLength(kept)) + kept;
}

/**
 * Returns names for the slices of a file whose order is that of the manifest: their own if these have that order
 * already, else with a number in front.
 */
export function sliceNames(names: readonly string[]): string[] {
  const safe = names.map((name) => (isFileName(name) ? name : name.replaceAll(UNSAFE_ALL, '_')));
  const isSorted = safe.every((name, i) => isFileName(name) && (i === 0 || (safe[i - 1] ?? '') < name));
  if (isSorted) return safe;
  const digits = String(names.length).length;
  return safe.map((name, i) => `${String(i + 1).padStart(digits, '0')}_${name}`);
}

/** Slashes and control characters. */
const UNSAFE = /[/\\\p{Cc}]/u;
const UNSAFE_ALL = new RegExp(UNSAFE, 'gu');

/** Cuts a text to as many whole characters as fit. */
function cut(text: string, bytes: number): string {
  let kept = '';
  let size = 0;
  for (const character of text) {
    size += Buffer.byteLength(character);
    if (size > bytes) break;
    kept += character;
  }
  return kept;
}
