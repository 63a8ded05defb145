import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** A fenced block of a page. */
export interface Block {
  /** First word behind the fence: `json`, `http`, `csv`. */
  readonly language: string;
  /** The words after it. */
  readonly words: readonly string[];
  readonly text: string;
  /** Line of the fence, from 1. */
  readonly line: number;
  /** The heading that it stands under. */
  readonly section: string;
}

export interface Page {
  /** From the root of the repository: `docs/pagination/offset.md`. */
  readonly name: string;
  readonly text: string;
  /** Text outside of fenced blocks. */
  readonly prose: string;
  readonly blocks: readonly Block[];
}

/** README.md, CHANGELOG.md and everything below `docs/`. */
export function allPages(): readonly Page[] {
  const docs = readdirSync(path.join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => path.join('docs', name));
  return ['README.md', 'CHANGELOG.md', ...docs.toSorted()].map(readPage);
}

export function readPage(name: string): Page {
  const text = readFileSync(path.join(ROOT, name), 'utf8');
  const blocks: Block[] = [];
  const prose: string[] = [];
  let section = '';
  let open: { language: string; words: string[]; line: number; body: string[] } | undefined;
  for (const [i, line] of text.split('\n').entries()) {
    const fence = /^```(.*)$/.exec(line);
    if (fence !== null && open === undefined) {
      const [language = '', ...words] = (fence[1] ?? '').trim().split(/\s+/);
      open = { language, words, line: i + 1, body: [] };
    } else if (fence !== null && open !== undefined) {
      blocks.push({ ...open, text: open.body.join('\n'), section });
      open = undefined;
    } else if (open !== undefined) open.body.push(line);
    else {
      prose.push(line);
      section = /^##+ +(.*)$/.exec(line)?.[1] ?? section;
    }
  }
  return { name, text, prose: prose.join('\n'), blocks };
}

/** Returns the place of a block, for messages. */
export function placeOf(page: Page, block: Block): string {
  return `${page.name}:${block.line}`;
}
