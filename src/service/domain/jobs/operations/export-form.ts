/** Forms in which the rows of a table are exported. All but CSV have the types of the table. */
export const FILE_TYPES = ['csv', 'parquet', 'jsonl', 'xlsx'] as const;
export type ExportFileType = (typeof FILE_TYPES)[number];

interface ExportForm {
  /** End of the name of a file. */
  readonly ending: string;
  readonly contentType: string;
}

const FORMS: Readonly<Record<ExportFileType, ExportForm>> = {
  csv: { ending: '.csv', contentType: 'text/csv' },
  parquet: { ending: '.parquet', contentType: 'application/vnd.apache.parquet' },
  jsonl: { ending: '.jsonl', contentType: 'application/x-ndjson' },
  xlsx: {
    ending: '.xlsx',
    contentType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  },
};

const GZIP: ExportForm = { ending: '.csv.gz', contentType: 'application/gzip' };

/** Returns the form of a file; only CSV is compressed. */
export function formOf(fileType: ExportFileType, isGzip: boolean): ExportForm {
  return isGzip && fileType === 'csv' ? GZIP : FORMS[fileType];
}
