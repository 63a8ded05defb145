import { text } from 'node:stream/consumers';
import { XMLParser } from 'fast-xml-parser';
import yauzl from 'yauzl';

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '',
  parseTagValue: false,
  trimValues: false,
  isArray: (name) => ['row', 'c', 'sheet', 'Relationship'].includes(name),
});

interface Cell {
  readonly r: string;
  readonly s?: string;
  readonly t?: string;
  readonly v?: string;
  readonly is?: { readonly t: { readonly '#text'?: string } };
}

/** Returns the parts of a workbook by their names, in their order. */
export async function partsOf(file: string): Promise<ReadonlyMap<string, string>> {
  const zip = await yauzl.openPromise(file);
  const parts = new Map<string, string>();
  for await (const entry of zip.eachEntry())
    parts.set(entry.fileName, await text(await zip.openReadStreamPromise(entry)));
  return parts;
}

/** Returns the cells of a sheet of a workbook: text cells as `'text`, others as their kind or style and the value. */
export async function cellsOf(file: string, sheet = 1): Promise<Record<string, string>[]> {
  const xml = (await partsOf(file)).get(`xl/worksheets/sheet${sheet}.xml`) ?? '';
  const { worksheet } = parser.parse(xml) as { worksheet: { sheetData: { row: { c?: Cell[] }[] } } };
  return worksheet.sheetData.row.map(({ c = [] }) =>
    Object.fromEntries(
      c.map(({ r, s, t, v, is }) => [
        r,
        is === undefined ? `${t ?? s ?? ''}:${v ?? ''}` : `'${is.t['#text'] ?? ''}`,
      ]),
    ),
  );
}
