/** Facts from the beginning of a file. */
export interface CsvStart {
  readonly columns: readonly string[];
  readonly isGzip: boolean;
}

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
  const columns = firstRecord(text);
  return columns === undefined ? undefined : { columns, isGzip };
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

function firstRecord(text: string): string[] | undefined {
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
    else if (sign === ',') {
      cells.push(cell);
      cell = '';
    } else if (sign === '\n' || sign === '\r') return [...cells, cell];
    else cell += sign;
  }
  // A file of one line, or one whose first line never ends.
  return isQuoted || text.length >= START_BYTES ? undefined : [...cells, cell];
}
