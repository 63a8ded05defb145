import { MappingError } from '../../../lib/errors.ts';

interface Problem {
  /** `storage.input.tables[0].source` */
  readonly path: string;
  readonly message: string;
  readonly hint: string | undefined;
}

/** Collector for the problems of an input mapping: all are reported at once, before anything is fetched. */
export interface Problems {
  add(path: string, message: string, hint?: string): void;
  /** Tells whether something is wrong at a place or below it. */
  hasAt(path: string): boolean;
  /** @throws {MappingError} `input.invalid` when there is any */
  throwIfAny(): void;
}

export function createProblems(): Problems {
  const all: Problem[] = [];
  return {
    add(path, message, hint) {
      all.push({ path, message, hint });
    },
    hasAt: (place) => all.some(({ path }) => path === place || path.startsWith(`${place}.`)),
    throwIfAny() {
      // Tables are looked up side by side; the order is that of the mapping.
      const problems = all.toSorted((a, b) => a.path.localeCompare(b.path, 'en', { numeric: true }));
      const [first, ...others] = problems;
      if (first === undefined) return;
      const { path, message, hint } = first;
      const details = { problems };
      if (others.length === 0)
        throw new MappingError('input.invalid', message, { where: { path }, hint, details });
      const lines = problems.map(
        (each) => `${each.path}: ${[each.message, each.hint].filter(Boolean).join(' ')}`,
      );
      throw new MappingError(
        'input.invalid',
        `The input mapping has ${problems.length} mistakes; nothing was fetched.`,
        { lines, details },
      );
    },
  };
}
