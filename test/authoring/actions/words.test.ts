import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { splitWords } from '../../../src/authoring/actions/curl/words.ts';
import { times } from '../../support/sample.ts';

const words = (command: string): readonly string[] => splitWords(command).words;

describe('words of a command', () => {
  test.each([
    ['a b  c', ['a', 'b', 'c']],
    [`a 'b c' "d e"`, ['a', 'b c', 'd e']],
    [`'it'\\''s'`, [`it's`]],
    [`"a\\"b\\\\c\\$d\\e"`, ['a"b\\c$d\\e']],
    [`a\\ b\\"c`, ['a b"c']],
    [`'' ""`, ['', '']],
    [`a'b'"c"$'d'e`, ['abcde']],
    [`$'a\\tb\\nc\\'d\\\\e\\x41\\u00e9\\101\\xc3\\xa9\\U0001F600\\cA\\q'`, ["a\tb\nc'd\\eAéAé😀\u0001\\q"]],
    ['$"plain"', ['plain']],
    ['a \\\n b', ['a', 'b']],
    ['a\\\nb', ['ab']],
    ['a \\\r\n b', ['a', 'b']],
    ['a \\  \n b', ['a', 'b']],
    ['a `\n -b', ['a', '-b']],
    ['a\n  -b', ['a', '-b']],
    ['a # the rest of the line\n -b', ['a', '-b']],
    ['http://h/#part', ['http://h/#part']],
    ['http://h/?a=1&b=2', ['http://h/?a=1&b=2']],
    ['a "x\ny"', ['a', 'x\ny']],
    ["'a\\b$c`d'", ['a\\b$c`d']],
  ])('%j', (command, expected) => {
    expect(words(command)).toEqual(expected);
  });

  test.each([
    ['curl x | jq .', '| jq .'],
    ['curl x > out.json', '> out.json'],
    ['curl x 2>/dev/null', '2>/dev/null'],
    ['curl x; echo', '; echo'],
    ['curl x && echo', '&& echo'],
    ['curl x &', '&'],
    ['curl x\necho', 'echo'],
  ])('end where the command ends: %j', (command, rest) => {
    expect(splitWords(command)).toMatchObject({ words: ['curl', 'x'], rest });
  });

  test('of the command prompt of Windows have carets, and no single quotes', () => {
    expect(
      words(`curl ^"https://h/?a=1^&b=2^" ^\n  -H ^"a: it's^" ^\n --data ^"^{^\\^"a^\\^":1^}^"`),
    ).toEqual(['curl', 'https://h/?a=1&b=2', '-H', "a: it's", '--data', '{"a":1}']);
    expect(words('curl "https://h/^x" ^\r\n -d "{""a"":\\"b\\"}" -o C:\\dir\\f')).toEqual([
      'curl',
      'https://h/^x',
      '-d',
      '{"a":"b"}',
      '-o',
      'C:\\dir\\f',
    ]);
  });

  test('name the variables of the shell', () => {
    expect(splitWords(`a "$TOKEN" \${HOST} '$NOT' $5`).variables).toEqual(['TOKEN', 'HOST']);
  });

  test.each([
    ["a 'b", "'"],
    ['a "b\\"', '"'],
    ["a $'b\\'", "'"],
    ['curl ^"a', '"'],
  ])('say that a quote is not closed: %j', (command, quote) => {
    expect(() => splitWords(command)).toThrow(`A ${quote} in line 1 of the command is never closed.`);
  });

  test.each(['a $(b)', 'a "`b`"', 'a "$(b c)"'])('cannot be made of a command inside: %j', (command) => {
    expect(() => splitWords(command)).toThrow('another command inside');
  });
});

describe('quoted words are read back', () => {
  test('whatever is in them, in every kind of quotes', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(word, quotes), { maxLength: 6 }), (parts) => {
        const command = parts.map(([text, quote]) => quote(text)).join(' ');
        fc.pre(isPosix(command));
        expect(splitWords(command)).toEqual({ words: parts.map(([text]) => text), rest: '', variables: [] });
      }),
      { numRuns: times(500) },
    );
  });
});

const special = `'"\\$\`^#&|;<>()!*? \t\n\r{}[]=@%~`.split('');
const character = fc.oneof(
  fc.constantFrom(...special),
  fc.string({ minLength: 1, maxLength: 1, unit: 'binary' }),
);
const word = fc.string({ unit: character }).filter((text) => text.isWellFormed());
const quotes = fc.constantFrom(single, double, ansi, bare);

function single(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function double(text: string): string {
  return `"${text.replace(/["\\$`]/g, '\\$&')}"`;
}

function ansi(text: string): string {
  return `$'${text.replace(/['\\]/g, '\\$&').replaceAll('\n', '\\n')}'`;
}

/** A backslash in front of everything; a line's end cannot have one. */
function bare(text: string): string {
  return text === '' ? "''" : text.replace(/[^\w\n]/gu, '\\$&').replaceAll('\n', "'\n'");
}

/** A caret in front of a quote or a line's end is the mark of another shell. */
function isPosix(command: string): boolean {
  return !/\^[ \t]*\r?\n|(?:^|\s)\^"/.test(command);
}
