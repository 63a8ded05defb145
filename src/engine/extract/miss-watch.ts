import type { Json, Path } from '../../lib/json/index.ts';
import type { Source, View } from '../language/index.ts';
import { nearMiss, type Needs, type Observation } from '../pagination/index.ts';

interface Looked {
  found: boolean;
  /** A path of the first response that was probably meant. */
  readonly meant: string | undefined;
  /** It is a fault when it is never there, whatever the response has. */
  readonly isExpected: boolean;
  /** JSON path of the setting. */
  readonly at: string | undefined;
  /** Text that the expression was applied to, in the first response that had it. */
  whole?: string | undefined;
}

/**
 * Remembers, for one job, whether what its paginator looks at was there in any response. A path that never was,
 * although the response has one much like it, is a misspelled one; so is an expression that never matched.
 */
export class UnmatchedPaths {
  readonly #looked = new Map<string, Looked>();

  see(needs: Needs, { values, read }: Observation, view: View, envelope: () => Json): void {
    const isExpected = (one: Path | Source): boolean => needs.expected?.includes(one) === true;
    needs.paths?.forEach((path, i) => {
      this.#note(path.text, values[i], { path, isExpected: isExpected(path), at: undefined }, envelope);
    });
    needs.sources?.forEach((source, i) => {
      const { text, path, at } = source;
      const looked = this.#note(text, read[i], { path, isExpected: isExpected(source), at }, envelope);
      if (looked.found || looked.whole !== undefined) return;
      const whole = source.whole?.(view);
      if (whole !== undefined && whole !== null && whole !== '') looked.whole = excerpt(whole);
    });
  }

  #note(
    text: string,
    value: Json | undefined,
    { path, isExpected, at }: { path: Path | undefined; isExpected: boolean; at: string | undefined },
    envelope: () => Json,
  ): Looked {
    const found = value !== undefined;
    const known = this.#looked.get(text);
    if (known !== undefined) {
      known.found ||= found;
      return known;
    }
    const meant = found || path === undefined ? undefined : nearMiss(path, envelope());
    const looked: Looked = { found, meant, isExpected, at };
    this.#looked.set(text, looked);
    return looked;
  }

  /** Returns one sentence for each path that was never found and has a near miss, or should exist. */
  warnings(): string[] {
    return [...this.#looked].flatMap(([text, { found, meant, isExpected, at, whole }]) => {
      if (found) return [];
      const where = `the path in the pagination${at === undefined ? '' : `: \`${at}\``}`;
      if (whole !== undefined)
        return [`Nothing was ever found for ${text}: what it is a part of was ${whole}. Correct ${where}.`];
      if (meant === undefined && !isExpected) return [];
      const has = meant === undefined ? '' : `; the response has “${meant}”`;
      return [`“${text}” was not found in any response${has}. Correct ${where}.`];
    });
  }
}

function excerpt(value: Json): string {
  const text = typeof value === 'string' ? `“${value}”` : JSON.stringify(value);
  return text.length > 120 ? `${text.slice(0, 119)}…` : text;
}
