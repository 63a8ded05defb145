/** Pages in a row that may bring nothing but rows of earlier pages; with more, the API answers in a circle. */
export const MOST_ALIKE = 25;

/** Behaviour of a pagination from page to page, as far as the check of its completeness needs it. */
export interface Traits {
  /** `count`: asks by numbers of its own; `follow`: asks for what the last answer says; `none`: asks once. */
  readonly kind: 'none' | 'count' | 'follow';
  /** JSON path of the pagination in the configuration. */
  readonly at: string;
  /**
   * Keys below `at` of the value looked for in an answer, and of its place in the request, where they are not the usual
   * ones.
   */
  readonly looks?: string;
  readonly asks?: string;
  /** Values that the next page is requested by, as signs name them: `meta.next`, `header link`. */
  readonly follows?: readonly string[];
  /** Rows that a page was asked for. */
  readonly size?: number;
  /** Configured start of the count. */
  readonly start?: number;
  /** True where the next page is asked for by a number of rows, so that pages of another size would overlap. */
  readonly countsRows?: boolean;
  /** True where the pages may start again behind the last row, so that pages and totals start again, too. */
  readonly restarts?: boolean;
  /**
   * True where the next page may begin with the rows that ended the last one: with a primary key, that does no harm.
   */
  readonly overlaps?: boolean;
  /** True where the API works like that, whatever is requested. */
  readonly mayOverlap?: boolean;
}
