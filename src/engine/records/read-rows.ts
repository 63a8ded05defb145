import { hash } from 'node:crypto';
import { RecordError } from '../../lib/errors.ts';
import type { Path } from '../../lib/json/index.ts';
import { readLargePage, readPage, type Page, type PageReadOptions } from './page.ts';
import type { LargeBody } from '../shared/message.ts';
import type { RowsAt } from './rows-at.ts';
import { shapePage } from './shape.ts';

export interface RowsOptions extends PageReadOptions {
  /** Further places, whose rows follow. */
  readonly otherFields?: readonly Path[] | undefined;
  /** How rows come out of what is there, where it is no list of them. */
  readonly rowsAt?: RowsAt | undefined;
}

/**
 * Reads a response body: its rows, from one place or several, in the form that they have there.
 *
 * @throws {RecordError} as {@link readPage}; `response.shape` and `records.invalid` for rows of another form
 */
export function readRows(body: Uint8Array | LargeBody, options: RowsOptions): Page {
  const { otherFields = [], rowsAt } = options;
  const pageAt = (at: PageReadOptions): Page =>
    body instanceof Uint8Array ? readPage(body, at) : readLargePage(body, at);
  if (otherFields.length === 0 && rowsAt === undefined) return pageAt(options);
  const pages = [options.dataField, ...otherFields].map((dataField) => {
    const page = pageAt({ ...options, dataField });
    return rowsAt === undefined ? page : shaped(page, rowsAt, options);
  });
  const [only] = pages;
  return only !== undefined && pages.length === 1 ? only : joined(pages);
}

function shaped(page: Page, rowsAt: RowsAt, { describeUrl }: PageReadOptions): Page {
  try {
    return shapePage(page, rowsAt);
  } catch (error) {
    if (error instanceof RecordError) error.at({ url: describeUrl() });
    throw error;
  }
}

/**
 * Joins the rows of all places, in order. The rest of the answer is that of the first place found; the others are lists
 * in it. A missing place is reported even if another has rows: it may be misspelled.
 */
function joined(pages: readonly Page[]): Page {
  const rows = pages.reduce((sum, page) => sum + page.rows, 0);
  const around = pages.find(({ rowsAt }) => rowsAt !== undefined) ?? pages[0];
  if (around === undefined) throw new Error('rows were read from no place');
  const told = pages.filter(
    (page) => page.warning !== undefined && (rows === 0 || page.rowsAt === undefined),
  );
  const { warning: _warning, ...rest } = around;
  const warnings = [...new Set(told.map(({ warning }) => warning))].join('. ');
  return {
    ...rest,
    pieces: pages.flatMap(({ pieces }) => pieces),
    rows,
    rowsDigest: hash('sha1', pages.map(({ rowsDigest }) => rowsDigest).join('\n')),
    isMade: true,
    ...(warnings === '' ? {} : { warning: warnings }),
  };
}
