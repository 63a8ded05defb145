/** Pages in a row that may bring nothing but rows of earlier pages; with more, the API answers in a circle. */
export const MOST_ALIKE = 25;

/** How a pagination goes from page to page, as far as the verdict on its completeness must know. */
export interface Traits {
  /** `count`: asks by numbers of its own; `follow`: asks for what the last answer says; `none`: asks once. */
  readonly kind: 'none' | 'count' | 'follow';
  /** JSON path of the pagination in the configuration. */
  readonly at: string;
  /** Keys below `at` that say what is looked for in an answer, and where it goes, where they are not the usual ones. */
  readonly looks?: string;
  readonly asks?: string;
  /** What the next page is asked for by, as signs name it: `meta.next`, `header link`. */
  readonly follows?: readonly string[];
  /** Rows that a page was asked for. */
  readonly size?: number;
  /** Where the counting begins on purpose. */
  readonly start?: number;
  /** True where the next page is asked for by a number of rows, so that pages of another size would overlap. */
  readonly countsRows?: boolean;
  /** True where the pages may begin anew behind the last row, so that pages and totals begin anew, too. */
  readonly restarts?: boolean;
  /** True where the next page may begin with what the last one ended with: with a primary key, that does no harm. */
  readonly overlaps?: boolean;
  /** True where that is how the API works, whatever is asked. */
  readonly mayOverlap?: boolean;
}
