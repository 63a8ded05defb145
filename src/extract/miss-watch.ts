import { pathOfKeys, type Json } from '../json/index.ts';
import { nearMiss, type Needs, type Observation } from '../pagination/index.ts';

interface Looked {
  found: boolean;
  /** A path of the first response that was probably meant. */
  readonly meant: string | undefined;
}

/**
 * Remembers, for one job, whether the paths that its paginator looks at were there in any response. A path that
 * never was, although the response has one much like it, is a misspelled one (design 8.8).
 */
export class MissWatch {
  readonly #paths = new Map<string, Looked>();

  see(needs: Needs, observation: Observation, envelope: () => Json): void {
    needs.paths?.forEach((keys, i) => {
      const path = pathOfKeys(keys);
      const found = observation.values[i] !== undefined;
      const looked = this.#paths.get(path);
      if (looked !== undefined) looked.found ||= found;
      else this.#paths.set(path, { found, meant: found ? undefined : nearMiss(path, envelope()) });
    });
  }

  /** One sentence for each path that was never found and has a near miss. */
  warnings(): string[] {
    return [...this.#paths].flatMap(([path, { found, meant }]) =>
      found || meant === undefined
        ? []
        : [
            `“${path}” was not found in any response; the response has “${meant}”. Correct the path in the pagination.`,
          ],
    );
  }
}
