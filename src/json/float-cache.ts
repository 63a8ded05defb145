import { floatSerialized } from './text.ts';

const SLOTS = 1 << 16;
const keys = new Float64Array(SLOTS).fill(Number.NaN);
const digits: string[] = Array<string>(SLOTS).fill('');
const bits = new Float64Array(1);
const words = new Uint32Array(bits.buffer);

/**
 * The seventeen digits of a fraction. They are dear to work out, and the same fractions (prices, coordinates) come
 * again and again, so each slot keeps the last one.
 */
export function floatDigits(value: number): string {
  bits[0] = value;
  const low = words[0] ?? 0;
  const high = words[1] ?? 0;
  const slot = (low ^ (low >>> 15) ^ Math.imul(high, 0x9e3779b1) ^ (high >>> 13)) & (SLOTS - 1);
  if (keys[slot] === value && value !== 0) return digits[slot] ?? '';
  const text = floatSerialized(value);
  keys[slot] = value;
  digits[slot] = text;
  return text;
}
