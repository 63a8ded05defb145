import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseExact, toJsonText } from '../../lib/json/index.ts';

/**
 * Compares two folders of files byte for byte.
 *
 * @returns one paragraph for each file that is missing, too many or different
 */
export function compareFolders(expected: string, got: string, label: string): string[] {
  const wanted = filesOf(expected);
  const found = filesOf(got);
  const problems: string[] = [];
  for (const name of [...new Set([...wanted, ...found])].toSorted()) {
    const file = `${label}/${name}`;
    if (!found.includes(name)) problems.push(`${file} was not written.`);
    else if (!wanted.includes(name))
      problems.push(`${file} was written and is not expected:\n${firstLines(got, name)}`);
    else {
      const difference = compareTexts(read(expected, name), read(got, name), file);
      if (difference !== undefined) problems.push(difference);
    }
  }
  return problems;
}

/** Returns the first line that differs; undefined when the texts are equal. */
function compareTexts(expected: string, got: string, label: string): string | undefined {
  if (expected === got) return undefined;
  const wanted = expected.split('\n');
  const found = got.split('\n');
  const at = wanted.findIndex((line, i) => line !== found[i]);
  const line = at < 0 ? wanted.length : at;
  return `${label} differs in line ${line + 1}:\n  expected: ${lineText(wanted[line])}\n  got:      ${lineText(found[line])}`;
}

/** Compares JSON by its values, whatever its layout; the order of keys counts. */
export function compareJson(expected: string, got: string, label: string): string | undefined {
  return compareTexts(jsonLines(expected), jsonLines(got), label);
}

function jsonLines(json: string): string {
  return toJsonText(parseExact(json)).replaceAll(/([,{[])(?=["{[])/g, '$1\n');
}

/** Compares lists of lines, such as the requests that were made. */
export function compareLines(
  expected: readonly string[],
  got: readonly string[],
  label: string,
): string | undefined {
  return compareTexts(expected.join('\n'), got.join('\n'), label);
}

function filesOf(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).filter((name) => !name.startsWith('.')) : [];
}

function read(folder: string, name: string): string {
  return readFileSync(path.join(folder, name), 'latin1');
}

function firstLines(folder: string, name: string): string {
  return read(folder, name)
    .split('\n', 3)
    .map((line) => `  ${lineText(line)}`)
    .join('\n');
}

/** Returns a line as text; files are compared as bytes. */
function lineText(line: string | undefined): string {
  if (line === undefined) return '(the end)';
  const isBytes = !/[^\0-\xff]/.test(line);
  const text = isBytes ? Buffer.from(line, 'latin1').toString('utf8') : line;
  return text.length > 400 ? `${text.slice(0, 400)}…` : text;
}
