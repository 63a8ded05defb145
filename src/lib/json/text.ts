import { entriesOf, isList, isNumber, isObject, JsonNumber, type Json } from './value.ts';
import { trimEnd } from '../trim.ts';

/**
 * Tells whether a value is empty: missing, null, false, zero, `""`, `"0"`, an empty list or map. An object of a
 * response is never empty; `response` selects that rule.
 */
export function isEmpty(
  value: Json | undefined,
  from: 'configuration' | 'response' = 'configuration',
): boolean {
  if (value === undefined || value === null || value === false || value === '' || value === '0') return true;
  if (isNumber(value)) return Number(value instanceof JsonNumber ? value.literal : value) === 0;
  if (isList(value)) return value.length === 0;
  if (isObject(value)) return from === 'configuration' && entriesOf(value).length === 0;
  return false;
}

/**
 * Converts a scalar to text: the text of cells, placeholders, query strings, headers, `concat`. Lists and objects
 * become JSON text. A number keeps its literal where the reference's 14 digits would not read back to the same decimal.
 */
export function toText(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined || value === false) return '';
  if (value === true) return '1';
  if (typeof value === 'number') return numberText(value);
  if (value instanceof JsonNumber) return exactText(value, floatText);
  return toJsonText(value);
}

/** Makes JSON text of a value: {@link toJsonText}, or `encodeExact`, which keeps literals and characters. */
export type JsonText = (value: Json) => string;

/** Writes compact JSON text: `\/`, `\uXXXX` for all characters outside ASCII, floats by 17 digits. */
export function toJsonText(value: Json): string {
  if (typeof value === 'string') return quoteJson(value);
  if (value === null) return 'null';
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : floatJson(value);
  if (value instanceof JsonNumber) return exactText(value, floatJson);
  if (isList(value)) {
    let out = '[';
    for (let i = 0; i < value.length; i++) out += (i === 0 ? '' : ',') + toJsonText(value[i] ?? null);
    return `${out}]`;
  }
  let out = '{';
  for (const [key, item] of entriesOf(value)) {
    out += `${out.length === 1 ? '' : ','}${quoteJson(key)}:${toJsonText(item)}`;
  }
  return `${out}}`;
}

const PLAIN_TEXT = /^[ !#-.0-[\]-~]*$/;

function quoteJson(text: string): string {
  if (PLAIN_TEXT.test(text)) return `"${text}"`;
  let out = '"';
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x22) out += '\\"';
    else if (code === 0x5c) out += '\\\\';
    else if (code === 0x2f) out += '\\/';
    else if (code === 8) out += '\\b';
    else if (code === 9) out += '\\t';
    else if (code === 10) out += '\\n';
    else if (code === 12) out += '\\f';
    else if (code === 13) out += '\\r';
    else if (code < 0x20 || code > 0x7e) {
      // U+007F is ASCII and is not escaped
      out += code === 0x7f ? '\x7f' : `\\u${code.toString(16).padStart(4, '0')}`;
    } else out += text.charAt(i);
  }
  return `${out}"`;
}

/**
 * Returns the text of a number of fast-parsed JSON. It has at most 14 digits, so its own text is mostly the
 * reference's.
 */
function numberText(value: number): string {
  if (Number.isInteger(value)) return String(value);
  // Plain numbers have at most 14 digits: from 1e-4 on their shortest text is the reference's.
  if (value >= 1e-4 || value <= -1e-4) return String(value);
  return readsBack(floatText(value), String(value)) ? floatText(value) : String(value);
}

/** Returns the reference's text where it gives back the literal's decimal, else the literal. */
function exactText(number: JsonNumber, render: (value: number) => string): string {
  const { literal } = number;
  if (number.isInteger) return literal === '-0' ? '0' : literal;
  if (!Number.isFinite(number.value)) return literal;
  const text = render(number.value);
  return readsBack(text, literal) ? text : literal;
}

/** Tells whether the text, read as a double, equals the decimal of the literal. */
function readsBack(text: string, literal: string): boolean {
  return decimalOf(String(Number(text))) === decimalOf(literal);
}

/** Returns the canonical `digits e exponent` of a decimal literal. */
function decimalOf(literal: string): string {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(literal);
  if (!match) return literal;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const digits = (whole + fraction).replace(/^0+/, '');
  const trimmed = trimEnd(digits, '0');
  if (trimmed === '') return '0';
  return `${sign}${trimmed}e${Number(exponent) - fraction.length + (digits.length - trimmed.length)}`;
}

/** Formats 14 significant digits, with the exponent form `1.0E+25` when E ≥ 14 or E < −4. */
export function floatText(value: number): string {
  return formatFloat(value, 14, 'E');
}

/** Formats 17 significant digits, with the exponent form `1.0e+25` when E ≥ 17 or E < −4. */
export function floatJson(value: number): string {
  return formatFloat(value, 17, 'e');
}

/** Formats 17 significant digits with an upper-case `E`. */
export function floatSerialized(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e-4 && size < 1e15) {
    // Ten binary places are ten decimal ones: the shortest text is the exact one.
    if (size < 1e6 && Number.isInteger(size * 1024)) return String(value);
    // With more than 26 binary places no number is half way between two of 17 digits.
    if (!Number.isInteger(size * 67_108_864)) return withoutTrailingZeros(value.toPrecision(17));
  }
  return formatFloat(value, 17, 'E');
}

/** Removes the trailing zeros of a text with a decimal point. */
function withoutTrailingZeros(text: string): string {
  let end = text.length;
  while (text.charCodeAt(end - 1) === 0x30) end--;
  return text.charCodeAt(end - 1) === 0x2e ? text.slice(0, end - 1) : text.slice(0, end);
}

/**
 * Formats at most `precision` significant digits without trailing zeros; in exponent form (`1.0E+25`) when the exponent
 * of ten is at least `precision` or below −4.
 */
export function formatFloat(value: number, precision: number, letter: 'e' | 'E'): string {
  if (!Number.isFinite(value)) return value > 0 ? 'INF' : value < 0 ? '-INF' : 'NAN';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const sign = value < 0 ? '-' : '';
  const { digits: padded, exponent } = significantDigits(value, precision);
  const digits = trimEnd(padded, '0');
  if (exponent >= precision || exponent < -4) {
    const rest = digits.length > 1 ? digits.slice(1) : '0';
    return `${sign}${digits.charAt(0)}.${rest}${letter}${exponent < 0 ? '-' : '+'}${Math.abs(exponent)}`;
  }
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`;
  if (digits.length <= exponent + 1) return sign + digits + '0'.repeat(exponent + 1 - digits.length);
  return `${sign}${digits.slice(0, exponent + 1)}.${digits.slice(exponent + 1)}`;
}

/**
 * Returns the first `count` (1 to 60) significant digits of a finite number and the power of ten of the first. A number
 * exactly half way is rounded to the even digit, as in C; `toExponential` would round up.
 */
export function significantDigits(value: number, count: number): { digits: string; exponent: number } {
  const longer = splitExponential(value, count + 1);
  const next = longer.digits.charAt(count);
  if (next < '5') return { digits: longer.digits.slice(0, count), exponent: longer.exponent };
  if (next === '5') {
    const exact = splitExponential(value, count + 40);
    const even = '02468'.includes(exact.digits.charAt(count - 1));
    if (even && /^50*$/.test(exact.digits.slice(count)))
      return { digits: exact.digits.slice(0, count), exponent: exact.exponent };
  }
  return splitExponential(value, count);
}

function splitExponential(value: number, count: number): { digits: string; exponent: number } {
  const [mantissa = '', exponent = '0'] = value.toExponential(count - 1).split('e');
  return { digits: mantissa.replace('-', '').replace('.', ''), exponent: Number(exponent) };
}
