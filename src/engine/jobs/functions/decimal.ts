import { isNumber, JsonNumber, numberFrom, type Json } from '../../../lib/json/index.ts';
import { CallError, type Argument } from './arguments.ts';
import { trimEnd } from '../../../lib/trim.ts';

/** A number as it is written in decimal digits: `digits` · 10^-`scale`. Sums of prices are exact, as in a database. */
export interface Decimal {
  readonly digits: bigint;
  /** 0 or above. */
  readonly scale: number;
}

/** More digits than any number of an API; keeps `1e999999999` from filling the memory. */
const MAX_SCALE = 1000;
/** Significant digits of a quotient that has no end. */
const QUOTIENT_DIGITS = 15;

/**
 * Converts a number, or the text of one, exactly; undefined for null and an empty text, which cannot be calculated
 * with.
 *
 * @throws {CallError} for anything else
 */
export function decimalOf(value: Argument | undefined): Decimal | undefined {
  if (value === null || value === undefined || value === '') return undefined;
  const found = readDecimal(value);
  if (found !== undefined) return found;
  throw new CallError(
    'an argument is not a number',
    'Put number(value, fallback) around it, which says what takes its place.',
  );
}

/** Parses a number or its text; undefined for anything else. */
export function readDecimal(value: Argument): Decimal | undefined {
  if (value instanceof Uint8Array) return undefined;
  const text = literalOf(value);
  const found = text === undefined ? null : LITERAL.exec(text);
  if (found === null) return undefined;
  const { sign = '', whole = '', fraction = '', exponent = '0' } = found.groups ?? {};
  const power = Number(exponent) - fraction.length;
  if (Math.abs(power) > MAX_SCALE) throw new CallError('a number is too large or too small to reckon with');
  const digits = BigInt(whole + fraction) * (sign === '-' ? -1n : 1n);
  return power < 0 ? { digits, scale: -power } : { digits: digits * 10n ** BigInt(power), scale: 0 };
}

const LITERAL =
  /^(?<sign>[+-]?)(?=\.?\d)(?<whole>\d*)(?:\.(?<fraction>\d*))?(?:[eE](?<exponent>[+-]?\d{1,9}))?$/;

function literalOf(value: Json): string | undefined {
  if (value instanceof JsonNumber) return value.literal;
  if (isNumber(value)) return String(value);
  return typeof value === 'string' ? value.trim() : undefined;
}

/** Returns the number without zeros at the end of its fraction. */
export function toNumber({ digits, scale }: Decimal): Json {
  return numberFrom(decimalText({ digits, scale }, 0));
}

/** @param places digits behind the point, at least; zeros beyond them are left out */
export function decimalText({ digits, scale }: Decimal, places: number): string {
  const size = (digits < 0n ? -digits : digits).toString().padStart(scale + 1, '0');
  const whole = size.slice(0, size.length - scale);
  const fraction = trimEnd(size.slice(size.length - scale), '0').padEnd(places, '0');
  const sign = digits < 0n ? '-' : '';
  return fraction === '' ? sign + whole : `${sign}${whole}.${fraction}`;
}

export function add(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale);
  return { digits: scaled(a, scale) + scaled(b, scale), scale };
}

export function negate({ digits, scale }: Decimal): Decimal {
  return { digits: -digits, scale };
}

export function multiply(a: Decimal, b: Decimal): Decimal {
  const scale = a.scale + b.scale;
  if (scale > MAX_SCALE * 2) throw new CallError('a product has too many digits');
  return { digits: a.digits * b.digits, scale };
}

/** Divides exactly if the quotient ends; undefined for a division by zero. */
export function divide(a: Decimal, b: Decimal): Decimal | undefined {
  if (b.digits === 0n) return undefined;
  const spare = 40 + String(b.digits).length;
  const scale = a.scale + spare;
  const [over, under] = [a.digits * 10n ** BigInt(spare + b.scale), b.digits];
  const quotient: Decimal = { digits: over / under, scale };
  if (over % under === 0n) return quotient;
  const length = String(quotient.digits < 0n ? -quotient.digits : quotient.digits).length;
  return round(quotient, scale - (length - QUOTIENT_DIGITS));
}

/** Returns the remainder of a division, with the sign of the dividend; undefined for a division by zero. */
export function remainder(a: Decimal, b: Decimal): Decimal | undefined {
  if (b.digits === 0n) return undefined;
  const scale = Math.max(a.scale, b.scale);
  return { digits: scaled(a, scale) % scaled(b, scale), scale };
}

/** Rounds half away from zero; `places` below 0 rounds before the point. */
export function round(value: Decimal, places: number): Decimal {
  return cut(value, places, (rest, unit) => (rest * 2n >= unit ? 1n : 0n));
}

export function floor(value: Decimal): Decimal {
  return cut(value, 0, (rest) => (rest > 0n && value.digits < 0n ? 1n : 0n));
}

export function ceil(value: Decimal): Decimal {
  return negate(floor(negate(value)));
}

/** @param more what is added to the size, by the digits that are cut off and the unit that they are a part of */
function cut(value: Decimal, places: number, more: (rest: bigint, unit: bigint) => bigint): Decimal {
  if (value.scale <= places) return value;
  const unit = 10n ** BigInt(value.scale - places);
  const sign = value.digits < 0n ? -1n : 1n;
  const size = value.digits * sign;
  const kept = size / unit + more(size % unit, unit);
  const digits = kept * sign;
  return places >= 0 ? { digits, scale: places } : { digits: digits * 10n ** BigInt(-places), scale: 0 };
}

function scaled({ digits, scale }: Decimal, wanted: number): bigint {
  return digits * 10n ** BigInt(wanted - scale);
}
