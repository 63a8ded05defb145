import {
  entriesOf,
  isInteger,
  isList,
  isObject,
  JsonNumber,
  numberOf,
  toText,
  type AnyObject,
  type Json,
} from '../../../lib/json/index.ts';

/** Value that a function takes or gives: JSON, or raw bytes that another function (`base64_encode`) turns into text. */
export type Argument = Json | Uint8Array;

/** Why a call failed; never with the value of an argument, which may be a secret. */
export class CallError extends Error {
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.name = 'CallError';
    this.hint = hint;
  }
}

/** @throws {CallError} for a list, an object or raw bytes */
export function textOf(value: Argument | undefined): string {
  if (value instanceof Uint8Array)
    throw new CallError('an argument is raw bytes, but text is needed', 'Put base64_encode around it.');
  if (isList(value))
    throw new CallError('an argument is a list, but text is needed', 'Join a list with implode first.');
  if (isObject(value)) throw new CallError('an argument is an object, but text is needed');
  return toText(value);
}

/** Returns raw bytes as they are, anything else as text in UTF-8. */
export function bytesOf(value: Argument | undefined): Uint8Array {
  return value instanceof Uint8Array ? value : Buffer.from(textOf(value));
}

/** Converts a value to whole seconds: numbers and numeric text lose their fraction; null and false are 0, true is 1. */
export function secondsOf(value: Argument | undefined): number {
  if (typeof value === 'boolean' || value === null) return Number(value);
  if (typeof value === 'number' || value instanceof JsonNumber) return safe(numberOf(value));
  if (typeof value === 'string' && NUMERIC.test(value)) return safe(Number(value));
  throw new CallError(
    'the time is not a number of seconds',
    'Give seconds since 1970, such as {"function": "time"}.',
  );
}

/** Returns the low 64 bits as a signed integer, read as PHP does: leading digits of text, floats cut. */
export function integerOf(value: Argument | undefined): bigint {
  if (typeof value === 'string') return integerOfText(value);
  if (typeof value === 'boolean' || value === null) return value === true ? 1n : 0n;
  if (typeof value === 'number' || value instanceof JsonNumber) {
    if (isInteger(value)) return BigInt(value instanceof JsonNumber ? value.literal : value);
    return integerOfFloat(numberOf(value));
  }
  return integerOfText(textOf(value));
}

/** Returns the double of a number, of the leading number of a text, or 0. */
export function floatOf(value: Argument | undefined): number {
  if (typeof value === 'number' || value instanceof JsonNumber) return numberOf(value);
  if (typeof value === 'boolean' || value === null) return Number(value);
  return Number(LEADING_NUMBER.exec(textOf(value))?.[1] ?? 0);
}

/** @throws {CallError} unless it is a list or an object, whose values are taken in order */
export function itemsOf(value: Argument | undefined): readonly Json[] {
  if (isListArgument(value)) return value;
  if (isMapArgument(value)) return entriesOf(value).map(([, item]) => item);
  throw new CallError('a list is needed');
}

export function isListArgument(value: Argument | undefined): value is readonly Json[] {
  return !(value instanceof Uint8Array) && isList(value);
}

export function isMapArgument(value: Argument | undefined): value is AnyObject {
  return !(value instanceof Uint8Array) && isObject(value);
}

const NUMERIC = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const LEADING_NUMBER = /^\s*([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)/;

function safe(seconds: number): number {
  const whole = Math.trunc(seconds) + 0;
  if (!Number.isSafeInteger(whole)) throw new CallError('the time is too far away');
  return whole;
}

function integerOfText(text: string): bigint {
  const literal = LEADING_NUMBER.exec(text)?.[1] ?? '0';
  if (/^[+-]?\d+$/.test(literal)) return clamp(BigInt(literal.replace(/^\+/, '')));
  const value = Number(literal);
  return Number.isFinite(value) ? clamp(BigInt(Math.trunc(value))) : 0n;
}

function integerOfFloat(value: number): bigint {
  return Number.isFinite(value) ? BigInt.asIntN(64, BigInt(Math.trunc(value))) : 0n;
}

function clamp(value: bigint): bigint {
  const most = 2n ** 63n - 1n;
  return value > most ? most : value < -most - 1n ? -most - 1n : value;
}
