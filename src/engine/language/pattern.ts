import type { RE2JS } from 're2js';
import { loadRe2 } from '../../lib/on-demand.ts';
import { remember } from '../../lib/remember.ts';
import { invalidSetting } from './value-settings.ts';
import type { Invalid } from '../../lib/read-settings.ts';

/** Regular expression of a configuration. It takes time in proportion to the text, whatever the expression is. */
export interface Pattern {
  /** As written, for messages. */
  readonly text: string;
  /** Tells whether it is found anywhere in the text. */
  test(text: string): boolean;
  /** Returns the text of its group, or the whole match where it has none; undefined where it is not found. */
  capture(text: string): string | undefined;
}

/**
 * Compiles a regular expression in the syntax of RE2: as in most languages, but without constructs that need
 * backtracking (`\1`, `(?=…)`), so that no text from outside can make it run without end.
 *
 * @throws the error of the stage for an expression that cannot be read, or that has several groups
 */
export function compilePattern(text: string, at: string, invalid: Invalid = invalidSetting): Pattern {
  const compiled = compile(text, at, invalid);
  const groups = compiled.groupCount();
  return {
    text,
    test: (value) => compiled.matcher(value).find(),
    capture(value) {
      const matcher = compiled.matcher(value);
      return matcher.find() ? (matcher.group(groups === 0 ? 0 : 1) ?? undefined) : undefined;
    },
  };
}

/** Compiles a pattern. An expression with counts becomes large, so few of them are kept. */
const compiledOf = remember((text) => loadRe2().RE2JS.compile(text), 100);

function compile(text: string, at: string, invalid: Invalid): RE2JS {
  let compiled: RE2JS;
  try {
    compiled = compiledOf(text);
  } catch (error) {
    const reason =
      error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : String(error);
    throw invalid(
      at,
      `The regular expression “${text}” cannot be read: ${reason}.`,
      'Look-ahead, look-behind and references to groups are not known here, as they can take forever.',
    );
  }
  if (compiled.groupCount() < 2) return compiled;
  throw invalid(
    at,
    `The regular expression “${text}” has ${compiled.groupCount()} groups, and one is needed.`,
    'Write (?:…) for the parts that are not wanted.',
  );
}
