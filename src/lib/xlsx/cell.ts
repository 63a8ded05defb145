import { escapeXml } from './escape.ts';

/** Kinds of values that a cell of a workbook may have. */
export type CellKind = 'boolean' | 'date' | 'decimal' | 'double' | 'text' | 'time';

/** Styles of cells, as numbers of `xl/styles.xml`. */
export const STYLES = { general: 0, header: 1, date: 2, time: 3, text: 4 } as const;

/** UTF-16 units that a cell holds. */
export const MAX_CELL = 32_767;

const DAY_MS = 86_400_000;
/** Number of 1970-01-01 where 1900-01-01 is 1; before March 1900 programs count differently. */
const EPOCH = 25_569;
const FIRST_DAY = 61;
const LAST_DAY = 2_958_465;
/** Digits of a number that programs keep and show. */
const DIGITS = 15;
/** Smallest double of all digits; programs read smaller ones as 0. */
const SMALLEST = 2.225_073_858_507_201_4e-308;

/**
 * Writes the XML of a cell. What a workbook would change, such as a whole number of 17 digits or a day of the year 1800,
 * is written as a text: no value becomes another one.
 *
 * @param place such as `B7`
 * @param value text of the value: `true`, `-1.50`, `2024-02-29`, `2024-02-29 10:00:00.5`; null writes no cell
 */
export function cellXml(place: string, kind: CellKind, value: string | null): string {
  if (value === null) return '';
  switch (kind) {
    case 'boolean':
      return `<c r="${place}" t="b"><v>${value === 'true' ? 1 : 0}</v></c>`;
    case 'date':
    case 'time': {
      const day = dayOf(value);
      return day === undefined
        ? textXml(place, value)
        : `<c r="${place}" s="${STYLES[kind]}"><v>${day}</v></c>`;
    }
    case 'decimal':
    case 'double':
      return isKept(kind, value) ? `<c r="${place}"><v>${value}</v></c>` : textXml(place, value);
    default:
      return value === '' ? '' : textXml(place, value);
  }
}

/** Writes a text, which is one whatever it begins with, and stays one when a person edits the cell. */
export function textXml(place: string, value: string, style: number = STYLES.text): string {
  return `<c r="${place}" s="${style}" t="inlineStr"><is><t xml:space="preserve">${escapeXml(value)}</t></is></c>`;
}

/** Returns the number of a day or a time; undefined where a workbook has none, or none as fine. */
function dayOf(value: string): number | undefined {
  const [, date = '', time = '00:00:00', fraction = ''] =
    /^(\d{4}-\d\d-\d\d)(?: (\d\d:\d\d:\d\d)(?:\.(\d{1,3})0*)?)?$/.exec(value) ?? [];
  if (date === '') return undefined;
  const ms = Date.parse(`${date}T${time}.${fraction.padEnd(3, '0')}Z`);
  const day = ms / DAY_MS + EPOCH;
  return day >= FIRST_DAY && day < LAST_DAY + 1 ? day : undefined;
}

function isKept(kind: 'decimal' | 'double', value: string): boolean {
  const number = Number(value);
  if (!Number.isFinite(number)) return false;
  // A double is written with all of its digits, and read as the same one.
  if (kind === 'double') return number === 0 || Math.abs(number) >= SMALLEST;
  return value.replaceAll(/^-?0*\.?0*|\.|0+$/g, '').length <= DIGITS;
}
