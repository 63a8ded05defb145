import { describe, expect, test } from 'vitest';
import { shownLines, shownText } from '../../src/lib/shown-text.ts';

describe('text from outside', () => {
  test.each([
    ['a line break', 'a\nb\r\nc', String.raw`a\nb\r\nc`],
    ['a tab', 'a\tb', String.raw`a\tb`],
    ['an escape sequence', '\u001B[2J\u001B[1;31mred', String.raw`\u001b[2J\u001b[1;31mred`],
    ['a title of the terminal', '\u001B]0;title\u0007', String.raw`\u001b]0;title\u0007`],
    ['the one-byte form of an escape sequence', '\u009B2J', String.raw`\u009b2J`],
    ['a backspace and a rubout', 'a\b\u007F', String.raw`a\u0008\u007f`],
    ['a null', 'a\0b', String.raw`a\u0000b`],
    ['an override of direction', 'a\u202Egpj.exe\u202C', String.raw`a\u202egpj.exe\u202c`],
    [
      'isolates and marks',
      '\u2066\u2067\u2068\u2069\u200E\u200F\u061C',
      String.raw`\u2066\u2067\u2068\u2069\u200e\u200f\u061c`,
    ],
    ['separators of lines', 'a\u2028b\u2029c\u0085d', String.raw`a\u2028b\u2029c\u0085d`],
  ])('%s is shown escaped', (_what, text, shown) => {
    expect(shownText(text)).toBe(shown);
  });

  test('what is only read stays as it is', () => {
    const text = 'Žluťoučký kůň, ‘שלום’, “日本語”, 👩‍👩‍👧 \\n \u00A0\u00AD\u200B';
    expect(shownText(text)).toBe(text);
    expect(shownLines(text)).toBe(text);
  });

  test('our own lines keep their breaks, and nothing else', () => {
    expect(shownLines('- one\n\t- two\r\u001B[2J\u202E\u2028')).toBe(
      '- one\n\t- two' + String.raw`\r\u001b[2J\u202e\u2028`,
    );
  });
});
