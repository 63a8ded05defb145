/** Digits that tell every double from its neighbours, as floats are serialized. */
export const FULL_DIGITS = 17;

const POWERS = Array.from({ length: FULL_DIGITS + 6 }, (_, i) => 10 ** i);

/** Factor that divides a double into two halves of its digits (Veltkamp). */
const HALVES = 2 ** 27 + 1;

function upperHalf(value: number): number {
  const moved = HALVES * value;
  return moved - (moved - value);
}

const UPPER = POWERS.map(upperHalf);

/**
 * Returns how much a double is above its decimal, in units of the 17th significant digit: 0.07 is
 * 0.070000000000000007, and so 7 above.
 *
 * The decimal times its power of ten is an integer, and that of the double differs from it by less than a unit: the
 * difference is exact, as the product is known with all its digits (Dekker).
 *
 * @param units the decimal without its point, of 15 digits at most
 * @param places digits behind the point, 22 at most
 * @param count significant digits
 * @returns NaN where the digit is too near to the middle of two
 */
export function restOfDouble(units: number, places: number, count: number): number {
  const power = POWERS[places] ?? NaN;
  const value = units / power;
  const product = value * power;
  const upper = upperHalf(value);
  const lower = value - upper;
  const powerUpper = UPPER[places] ?? NaN;
  const powerLower = power - powerUpper;
  const error = upper * powerUpper - product + upper * powerLower + lower * powerUpper + lower * powerLower;
  const rest = (product - units + error) * (POWERS[FULL_DIGITS - count] ?? NaN);
  const digit = Math.round(rest);
  return Math.abs(rest - digit) > 0.499_999 ? NaN : digit;
}
