/** Facts from the beginning of a file. */
export interface CsvStart {
  /** Sign between the cells, as it seems: `,`, `;`, a tab or `|`. */
  readonly delimiter: string;
  /** Names of the columns, by the sign between the cells. */
  readonly columns: (delimiter: string) => readonly string[];
  readonly isGzip: boolean;
}

/** Signs between cells, the usual one first. */
export const DELIMITERS: readonly { readonly value: string; readonly text: string }[] = [
  { value: ',', text: 'Comma' },
  { value: ';', text: 'Semicolon' },
  { value: '\t', text: 'Tab' },
  { value: '|', text: 'Vertical bar' },
];

/** Longer headers are left to the service. */
const START_BYTES = 256 * 1024;

/** Reads the names in the first line of a file, and no more; undefined if they cannot be determined. */
export async function csvStart(file: Blob): Promise<CsvStart | undefined> {
  const head = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  const isGzip = head[0] === 0x1f && head[1] === 0x8b;
  const text = new TextDecoder().decode(
    isGzip ? await unpacked(file) : await file.slice(0, START_BYTES).arrayBuffer(),
  );
  // eslint-disable-next-line no-control-regex
  if (text.includes('\0')) return undefined;
  const [usual] = DELIMITERS;
  if (usual === undefined || firstRecord(text, usual.value) === undefined) return undefined;
  const columns = (delimiter: string): readonly string[] => firstRecord(text, delimiter) ?? [];
  return { delimiter: likelyIn(columns), columns, isGzip };
}

/** Returns the sign by which the first line has the most cells. */
function likelyIn(columns: CsvStart['columns']): string {
  const counts = DELIMITERS.map(({ value }) => columns(value).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))]?.value ?? ',';
}

async function unpacked(file: Blob): Promise<Uint8Array> {
  const reader = file.slice(0, START_BYTES).stream().pipeThrough(new DecompressionStream('gzip')).getReader();
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    while (size < START_BYTES) {
      const { value } = await reader.read();
      if (value === undefined) break;
      parts.push(value);
      size += value.length;
    }
  } catch {
    // The end of the part that was taken is not the end of the file.
  }
  await reader.cancel().catch(() => undefined);
  return new Uint8Array(await new Blob(parts.map((part) => part.slice())).arrayBuffer());
}

function firstRecord(text: string, delimiter: string): string[] | undefined {
  const cells: string[] = [];
  let cell = '';
  let isQuoted = false;
  for (let i = text.startsWith('\uFEFF') ? 1 : 0; i < text.length; i++) {
    const sign = text[i] ?? '';
    if (isQuoted) {
      if (sign !== '"') cell += sign;
      else if (text[i + 1] === '"') cell += text[++i];
      else isQuoted = false;
    } else if (sign === '"') isQuoted = true;
    else if (sign === delimiter) {
      cells.push(cell);
      cell = '';
    } else if (sign === '\n' || sign === '\r') return [...cells, cell];
    else cell += sign;
  }
  // A file of one line, or one whose first line never ends.
  return isQuoted || text.length >= START_BYTES ? undefined : [...cells, cell];
}
