import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'rolldown/utils';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Words that hide the subject: a type opens with a noun, a function with a verb in the third person. */
const OPENING = /^(?:[-*] )?(?:What|Of|Who|That|Where|Whether|However|Whose|Whatever|Whoever|Wherever)\b/;

interface Line {
  readonly text: string;
  readonly line: number;
}

/** Yields the texts of comments, each as its lines. Line comments below each other are one text. */
function* commentsIn(file: string, source: string): Generator<readonly Line[]> {
  let open: Line[] = [];
  let [line, at, end] = [1, 0, 0];
  for (const { type, value, start, end: next } of parseSync(file, source).comments) {
    line += source.slice(at, start).split('\n').length - 1;
    at = start;
    const lines = value
      .split('\n')
      .map((text, i) => ({ text: text.replace(/^\s*\*?/, '').trim(), line: line + i }));
    if (type === 'Line' && /^[^\S\n]*\n[^\S\n]*$/.test(source.slice(end, start)) && open.length > 0) {
      open.push(...lines);
    } else {
      yield open;
      open = lines;
    }
    end = type === 'Line' ? next : source.length;
  }
  yield open;
}

/** Returns the lines of a comment that open it, or a sentence of it, with one of the words. */
function openingsIn(lines: readonly Line[]): readonly Line[] {
  return lines.filter(({ text }, i) => {
    const before = lines[i - 1]?.text ?? '';
    return OPENING.test(text) && (before === '' || /[.:!?]["')`]?$/.test(before) || /^[-*] /.test(text));
  });
}

function oddOpenings(file: string, source: string): readonly string[] {
  return [...commentsIn(file, source)].flatMap(openingsIn).map(({ text, line }) => `${file}:${line} ${text}`);
}

test('comments open with a noun or a verb', () => {
  const files = ['src', 'console', 'test', 'bench', 'scripts', 'bin'].flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(?:[cm]?js|tsx?)$/.test(name))
      .map((name) => path.join(folder, name)),
  );
  expect(files.length).toBeGreaterThan(1000);
  const found = files.flatMap((file) => oddOpenings(file, readFileSync(path.join(ROOT, file), 'utf8')));
  expect(found).toEqual([]);
});

test('an odd opening is found in every form of comment', () => {
  const source = [
    "const text = '// What is no comment';",
    '/** What a type has. */',
    '/**',
    ' * Returns a page.',
    ' * Where there is none, nothing,',
    ' * that is all.',
    ' */',
    '// The first line ends here.',
    '// Whether it does is open.',
    'call(); // Of the service.',
    'const a = <b>// Who is text</b>;',
  ].join('\n');
  expect(oddOpenings('a.tsx', source)).toEqual([
    'a.tsx:2 What a type has.',
    'a.tsx:5 Where there is none, nothing,',
    'a.tsx:9 Whether it does is open.',
    'a.tsx:10 Of the service.',
  ]);
});
