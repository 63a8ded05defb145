import { STYLES, textXml, type CellKind } from './cell.ts';

/** Parts of a workbook besides its rows (ECMA-376). */
export const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';

const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const DOCUMENT = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const SPREADSHEET = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/** All XML is a sheet where nothing else is said, so that the number of sheets need not be known. */
export const CONTENT_TYPES =
  `<Types xmlns="${PACKAGE}/content-types">` +
  '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
  `<Default Extension="xml" ContentType="${SPREADSHEET}.worksheet+xml"/>` +
  `<Override PartName="/xl/workbook.xml" ContentType="${SPREADSHEET}.sheet.main+xml"/>` +
  `<Override PartName="/xl/styles.xml" ContentType="${SPREADSHEET}.styles+xml"/></Types>`;

export function relationships(targets: readonly (readonly [type: string, target: string])[]): string {
  const list = targets.map(
    ([type, target], i) => `<Relationship Id="rId${i + 1}" Type="${DOCUMENT}/${type}" Target="${target}"/>`,
  );
  return `<Relationships xmlns="${PACKAGE}/relationships">${list.join('')}</Relationships>`;
}

export function workbookXml(sheets: number): string {
  const list = Array.from(
    { length: sheets },
    (_, i) => `<sheet name="Sheet${i + 1}" sheetId="${i + 1}" r:id="rId${i + 1}"/>`,
  );
  return `<workbook xmlns="${MAIN}" xmlns:r="${DOCUMENT}"><sheets>${list.join('')}</sheets></workbook>`;
}

/** Formats in the order of the styles: as it is, the names, a day, a time, a text. */
const FORMATS = [0, 49, 164, 165, 49];

export const STYLE_SHEET =
  `<styleSheet xmlns="${MAIN}">` +
  '<numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/><numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts>' +
  '<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts>' +
  '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>' +
  '<borders count="1"><border/></borders>' +
  '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>' +
  `<cellXfs count="${FORMATS.length}">${FORMATS.map(formatXml).join('')}</cellXfs>` +
  '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>';

function formatXml(format: number, style: number): string {
  const font = style === STYLES.header ? 1 : 0;
  return `<xf numFmtId="${format}" fontId="${font}" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1"/>`;
}

interface Column {
  readonly name: string;
  readonly kind: CellKind;
}

/** Widths in characters; a day that does not fit its column is shown as signs. */
const WIDTHS: Readonly<Record<CellKind, number>> = {
  boolean: 8,
  date: 12,
  decimal: 12,
  double: 12,
  text: 16,
  time: 20,
};
const MAX_WIDTH = 40;

/** Begins a sheet whose first row stays in view. */
export function sheetTop(columns: readonly Column[]): string {
  const widths = columns.map(({ name, kind }, i) => {
    const width = Math.min(Math.max(WIDTHS[kind], name.length + 2), MAX_WIDTH);
    return `<col min="${i + 1}" max="${i + 1}" width="${width}" customWidth="1"/>`;
  });
  return (
    `<worksheet xmlns="${MAIN}">` +
    '<sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>' +
    (widths.length === 0 ? '' : `<cols>${widths.join('')}</cols>`) +
    '<sheetData>'
  );
}

export function headerXml(letters: readonly string[], columns: readonly Column[]): string {
  const cells = columns.map(({ name }, i) => textXml(`${letters[i]}1`, name, STYLES.header));
  return `<row r="1">${cells.join('')}</row>`;
}
