/** Rows in SQL: what stands behind FROM, and the values of its parameters. */
export interface SqlRows {
  readonly from: string;
  readonly values: readonly unknown[];
}
