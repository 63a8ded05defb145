import type { Json } from '../json/index.ts';
import { nearMiss, type Needs, type Observation } from '../pagination/index.ts';

interface Looked {
  found: boolean;
  /** A path of the first response that was probably meant. */
  readonly meant: string | undefined;
  /** It is a fault when it is never there, whatever the response has. */
  readonly isExpected: boolean;
}

/**
 * Remembers, for one job, whether the paths that its paginator looks at were there in any response. A path that
 * never was, although the response has one much like it, is a misspelled one (design 8.8).
 */
export class MissWatch {
  readonly #paths = new Map<string, Looked>();

  see(needs: Needs, observation: Observation, envelope: () => Json): void {
    needs.paths?.forEach((path, i) => {
      const found = observation.values[i] !== undefined;
      const looked = this.#paths.get(path.text);
      if (looked !== undefined) looked.found ||= found;
      else {
        const meant = found ? undefined : nearMiss(path, envelope());
        this.#paths.set(path.text, { found, meant, isExpected: needs.expected?.includes(path) === true });
      }
    });
  }

  /** One sentence for each path that was never found and has a near miss, or should have been there. */
  warnings(): string[] {
    return [...this.#paths].flatMap(([path, { found, meant, isExpected }]) => {
      if (found || (meant === undefined && !isExpected)) return [];
      const has = meant === undefined ? '' : `; the response has “${meant}”`;
      return [`“${path}” was not found in any response${has}. Correct the path in the pagination.`];
    });
  }
}
