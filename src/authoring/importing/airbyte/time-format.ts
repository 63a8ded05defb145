import { TemplateError } from './jinja/ast.ts';

/** Directive of `strftime` to letters of PHP. */
const LETTERS: Readonly<Record<string, string>> = {
  Y: 'Y',
  y: 'y',
  m: 'm',
  d: 'd',
  H: 'H',
  I: 'h',
  M: 'i',
  S: 's',
  f: 'u',
  z: 'O',
  Z: 'T',
  b: 'M',
  B: 'F',
  a: 'D',
  A: 'l',
  p: 'A',
  u: 'N',
  w: 'w',
  V: 'W',
  G: 'o',
  F: 'Y-m-d',
  T: 'H:i:s',
  '%': '%',
  s: 'U',
};

/** Formats that are a number since 1970, as a whole. */
const WHOLE: Readonly<Record<string, string>> = {
  '%s': 'U',
  '%s_as_float': 'U.u',
  '%ms': 'Uv',
  '%epoch_microseconds': 'Uu',
};

/**
 * Converts a format of times to the letters of PHP: `%Y-%m-%d` becomes `Y-m-d`.
 *
 * @throws {TemplateError} for a directive without counterpart
 */
export function phpFormat(format: string): string {
  const whole = Object.hasOwn(WHOLE, format) ? WHOLE[format] : undefined;
  if (whole !== undefined) return whole;
  return format.replace(/%_ms|%-?[A-Za-z%]|[A-Za-z\\]/g, (found) => {
    if (found === '%_ms') return 'v';
    if (!found.startsWith('%')) return `\\${found}`;
    const letter = Object.hasOwn(LETTERS, found.slice(1)) ? LETTERS[found.slice(1)] : undefined;
    if (letter === undefined) throw new TemplateError(`the format “${found}” of a time has no counterpart`);
    return letter;
  });
}

/** Converts a format for windows and states, in which seconds and milliseconds since 1970 have names. */
export function windowFormat(format: string): string {
  if (format === '%s') return 'epoch';
  if (format === '%ms') return 'epochMs';
  return phpFormat(format);
}

/**
 * Converts a duration of ISO 8601 to words: `P1DT12H` is `1 day 12 hours`.
 *
 * @returns undefined for what is no such duration
 */
export function durationWords(text: string): string | undefined {
  const found =
    /^([+-])?P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(
      text.trim(),
    );
  if (found === null) return undefined;
  const [, sign = '', ...amounts] = found;
  const words = UNITS.flatMap((unit, index) => {
    const amount = amounts[index];
    return amount === undefined || Number(amount) === 0
      ? []
      : [`${sign}${Number(amount)} ${unit}${Number(amount) === 1 ? '' : 's'}`];
  });
  return words.length === 0 ? '0 seconds' : words.join(' ');
}

const UNITS = ['year', 'month', 'week', 'day', 'hour', 'minute', 'second'];
