import { RecordError } from '../../lib/errors.ts';
import { shownText } from '../../lib/shown-text.ts';

/** Names that a message shows. */
const SHOWN = 10;

/**
 * Compares the columns of the pages of one run, where they have headers: rows are told apart by names alone, so that a
 * page without a header would lose its first row without a word.
 */
export class HeaderWatch {
  #first: readonly string[] | undefined;
  #isTold = false;

  /**
   * @param warn told once, when a page has other columns than the first one
   * @throws {RecordError} `response.shape` when a page has none of them
   */
  see(header: readonly string[] | undefined, page: number, warn: (message: string) => void): void {
    if (header === undefined) return;
    const first = (this.#first ??= header);
    if (header === first || header.join('\n') === first.join('\n')) return;
    const added = header.filter((name) => !first.includes(name));
    const missing = first.filter((name) => !header.includes(name));
    if (added.length === header.length)
      throw new RecordError(
        'response.shape',
        `Page ${page} has none of the columns of the first page (${listOf(first)}). It begins with ${listOf(header)}.`,
        {
          where: { page },
          hint: 'If only the first page has a header, write the names of the columns as “csv.header” of the job.',
        },
      );
    if (this.#isTold || added.length + missing.length === 0) return;
    this.#isTold = true;
    const news = added.length === 0 ? [] : [`it has ${listOf(added)} besides`];
    const lacks = missing.length === 0 ? [] : [`it lacks ${listOf(missing)}, whose cells are empty`];
    warn(`Page ${page} has other columns than the first page: ${[...news, ...lacks].join('; ')}`);
  }
}

function listOf(names: readonly string[]): string {
  const shown = names.slice(0, SHOWN).map((name) => `“${shownText(name.slice(0, 60))}”`);
  return shown.join(', ') + (names.length > SHOWN ? ` and ${names.length - SHOWN} more` : '');
}
