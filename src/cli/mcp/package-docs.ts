import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { RunError } from '../../lib/errors.ts';
import { meantOr } from '../../lib/suggest.ts';

/** A section of a page: what stands below a heading, as far as the next one. */
interface Section {
  readonly page: string;
  readonly heading: string;
  readonly text: string;
}

/** A section that has what was looked for. */
export interface FoundSection {
  readonly page: string;
  readonly heading: string;
  /** The lines that have most of the words. */
  readonly lines: readonly string[];
}

const MOST_FOUND = 8;
const MOST_LINES = 3;
const LINE_LETTERS = 400;

/** The documentation that comes with the package: pages in Markdown, and the schemas. */
export class PackageDocs {
  readonly #root = path.dirname(createRequire(import.meta.url).resolve('generic-extractor/package.json'));
  #sections: readonly Section[] | undefined;

  /** Names of the pages, such as `docs/jobs.md`. */
  pages(): readonly string[] {
    const docs = readdirSync(path.join(this.#root, 'docs'), { recursive: true, encoding: 'utf8' });
    const pages = docs.filter((name) => name.endsWith('.md')).map((name) => `docs/${toSlashes(name)}`);
    return ['README.md', ...pages.toSorted()];
  }

  schemas(): readonly string[] {
    return readdirSync(path.join(this.#root, 'schemas')).map((name) => `schemas/${name}`);
  }

  /** @throws {RunError} for a page that does not exist */
  read(page: string): string {
    const known = [...this.pages(), ...this.schemas()];
    const name = known.includes(page) ? page : `docs/${page.replace(/\.md$/, '')}.md`;
    if (known.includes(name)) return readFileSync(path.join(this.#root, name), 'utf8');
    throw new RunError('command.invalid', `There is no page “${page}”.`, {
      hint: meantOr(page, known),
    });
  }

  /** Returns a section of a page, with those below it. @throws {RunError} for a heading that it does not have */
  section(page: string, heading: string): string {
    const lines = outlineOf(this.read(page));
    const at = lines.findIndex(({ level, line }) => level > 0 && plain(titleOf(line)) === plain(heading));
    const level = lines[at]?.level;
    if (level === undefined)
      throw new RunError('command.invalid', `${page} has no heading “${heading}”.`, {
        hint: `It has: ${lines.flatMap((each) => (each.level > 0 ? [titleOf(each.line)] : [])).join('; ')}`,
      });
    const end = lines.findIndex((each, i) => i > at && each.level > 0 && each.level <= level);
    return lines
      .slice(at, end < 0 ? lines.length : end)
      .map(({ line }) => line)
      .join('\n');
  }

  /** Finds the sections that have the words of a text; those with all of them first. */
  search(text: string): readonly FoundSection[] {
    const words = [...new Set(text.toLowerCase().match(/[\p{L}\p{N}_$.-]+/gu) ?? [])];
    const scored = this.#all().flatMap((section) => {
      const score = scoreOf(section, words);
      return score === 0 ? [] : [{ section, score }];
    });
    return scored
      .toSorted((a, b) => b.score - a.score)
      .slice(0, MOST_FOUND)
      .map(({ section: { page, heading, text: body } }) => ({
        page,
        heading,
        lines: bestLines(body, words),
      }));
  }

  #all(): readonly Section[] {
    this.#sections ??= this.pages().flatMap((page) => sectionsOf(page, this.read(page)));
    return this.#sections;
  }
}

function sectionsOf(page: string, text: string): readonly Section[] {
  const sections: Section[] = [];
  let heading = '';
  let lines: string[] = [];
  const end = (): void => {
    if (lines.length > 0) sections.push({ page, heading, text: lines.join('\n') });
  };
  for (const { line, level } of outlineOf(text)) {
    if (level > 0) {
      end();
      heading = titleOf(line);
      lines = [];
    }
    lines.push(line);
  }
  end();
  return sections;
}

function scoreOf({ page, heading, text }: Section, words: readonly string[]): number {
  const [title, body] = [`${page} ${heading}`.toLowerCase(), text.toLowerCase()];
  const found = words.filter((word) => body.includes(word) || title.includes(word));
  const inTitle = found.filter((word) => title.includes(word));
  // a word more says more than any number of times
  const worth = found.length * 10 + inTitle.length * 4 - lagOf(page);
  return found.length === 0 ? 0 : worth + Math.min(5, occurrences(body, found)) - Math.log10(text.length);
}

/** A decision tells why, not how; and a list of all keys or types tells less than the page that explains them. */
function lagOf(page: string): number {
  if (page.startsWith('docs/decisions/')) return 5;
  return page === 'docs/configuration.md' || page === 'docs/api.md' ? 3 : 0;
}

function occurrences(text: string, words: readonly string[]): number {
  return words.reduce((sum, word) => sum + text.split(word).length - 1, 0);
}

function bestLines(text: string, words: readonly string[]): readonly string[] {
  return text
    .split('\n')
    .map((line) => ({ line, count: words.filter((word) => line.toLowerCase().includes(word)).length }))
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => b.count - a.count)
    .slice(0, MOST_LINES)
    .map(({ line }) => line.slice(0, LINE_LETTERS).toWellFormed());
}

/** Returns the lines of a page, each with its level as a heading: 0 for one that is none. */
function outlineOf(text: string): readonly { readonly line: string; readonly level: number }[] {
  let isCode = false;
  return text.split('\n').map((line) => {
    if (line.startsWith('```')) isCode = !isCode;
    return { line, level: isCode ? 0 : (/^(#{1,6}) /.exec(line)?.[1]?.length ?? 0) };
  });
}

const titleOf = (line: string): string => line.replace(/^#+ /, '');
const plain = (heading: string): string => heading.toLowerCase().replace(/[`*]/g, '').trim();
const toSlashes = (name: string): string => name.split(path.sep).join('/');
