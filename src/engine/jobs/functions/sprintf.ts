import { floatText, formatFloat, JsonNumber, significantDigits } from '../../../lib/json/index.ts';
import { CallError, floatOf, integerOf, textOf, type Argument } from './arguments.ts';

/**
 * Formats text by the rules of PHP 7.4 `sprintf`: `%[number$][flags][width][.precision]specifier`.
 *
 * - flags: `-` left, `+` sign, `0` or space pads with it, `'x` pads with x; of several pads the last counts
 * - specifiers: `s d u f F e E g G x X o b c %`; widths and precisions of `%s` count bytes of UTF-8
 *
 * @throws {CallError} for too few arguments and for an unknown specifier
 */
export function sprintf(format: string, args: readonly Argument[]): string {
  let next = 0;
  return format.replace(DIRECTIVE, (...found: unknown[]) => {
    // the last parameter is the named groups: the pattern has some
    const groups = found.at(-1) as Readonly<Record<string, string | undefined>>;
    const specifier = groups['specifier'] ?? '';
    if (specifier === '%') return '%';
    const directive = readDirective(specifier, groups);
    const index = groups['number'] === undefined ? next++ : Number(groups['number']) - 1;
    if (index < 0) throw new CallError('the arguments of a format count from 1, as in %1$s');
    if (index >= args.length)
      throw new CallError(
        `the format asks for ${index + 1} values, but ${args.length} are given`,
        'Write %% for a percent sign.',
      );
    return render(directive, args[index]);
  });
}

const DIRECTIVE =
  /%(?:(?<number>\d+)\$)?(?<flags>(?:[-+ 0]|'[^])*)(?<width>\d*)(?:\.(?<precision>\d*))?l?(?<specifier>[^]?)/gu;

interface Directive {
  readonly specifier: string;
  readonly left: boolean;
  readonly plus: boolean;
  readonly pad: string;
  readonly width: number;
  readonly precision: number | undefined;
}

/** Wider than any use; keeps a slip from filling the memory. */
const MAX_WIDTH = 100_000;
/** Digits after the point, as in PHP. */
const MAX_PRECISION = 53;

function readDirective(specifier: string, groups: Readonly<Record<string, string | undefined>>): Directive {
  const flags: readonly string[] = (groups['flags'] ?? '').match(/'[^]|[^]/gu) ?? [];
  const pads = flags.filter((flag) => flag !== '-' && flag !== '+').map((flag) => flag.replace(/^'/, ''));
  const { precision } = groups;
  const width = Number(groups['width'] ?? 0);
  if (width > MAX_WIDTH) throw new CallError(`a width in the format is above ${MAX_WIDTH}`);
  return {
    specifier,
    left: flags.includes('-'),
    plus: flags.includes('+'),
    pad: pads.at(-1) ?? ' ',
    width,
    // a bare point is precision 0 for numbers and none for text
    precision:
      precision === undefined || (precision === '' && specifier === 's') ? undefined : Number(precision),
  };
}

function render(directive: Directive, value: Argument | undefined): string {
  const { specifier, plus } = directive;
  switch (specifier) {
    case 's':
      return pad(directive, cut(textFor(value), directive.precision));
    case 'd': {
      const integer = integerOf(value);
      // zeros behind an integer would change it
      const spaced = directive.left && directive.pad === '0' ? { ...directive, pad: ' ' } : directive;
      return padNumber(spaced, (plus && integer >= 0n ? '+' : '') + String(integer));
    }
    case 'u':
      return pad(directive, unsigned(value).toString());
    case 'x':
      return pad(directive, unsigned(value).toString(16));
    case 'X':
      return pad(directive, unsigned(value).toString(16).toUpperCase());
    case 'o':
      return pad(directive, unsigned(value).toString(8));
    case 'b':
      return pad(directive, unsigned(value).toString(2));
    case 'c':
      return character(integerOf(value));
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
      return padNumber(directive, float(directive, floatOf(value)));
    default:
      throw new CallError(
        specifier === ''
          ? 'the format ends inside a directive'
          : `the format has an unknown directive %${specifier}`,
        'Known are %s %d %u %f %e %g %x %X %o %b %c; write %% for a percent sign.',
      );
  }
}

/** Floats by 14 digits; an integer too large for 64 bits keeps its digits, as it is an identifier. */
function textFor(value: Argument | undefined): string {
  const isFraction =
    (typeof value === 'number' && !Number.isInteger(value)) ||
    (value instanceof JsonNumber && !/^-?\d+$/.test(value.literal));
  return isFraction ? floatText(Number(value instanceof JsonNumber ? value.literal : value)) : textOf(value);
}

function cut(text: string, bytes: number | undefined): string {
  if (bytes === undefined || Buffer.byteLength(text) <= bytes) return text;
  let out = '';
  for (const char of text) {
    if (Buffer.byteLength(out + char) > bytes) break;
    out += char;
  }
  return out;
}

function unsigned(value: Argument | undefined): bigint {
  return BigInt.asUintN(64, integerOf(value));
}

function character(code: bigint): string {
  if (code < 0n || code > 127n) throw new CallError('%c takes a code from 0 to 127');
  return String.fromCharCode(Number(code));
}

function float({ specifier, plus, precision = 6 }: Directive, value: number): string {
  const sign = value < 0 ? '-' : plus ? '+' : '';
  const size = Math.abs(value);
  if (!Number.isFinite(size)) return Number.isNaN(size) ? 'NaN' : `${sign}Inf`;
  const places = Math.min(precision, MAX_PRECISION);
  if (specifier === 'f' || specifier === 'F') return sign + fixed(size, places);
  const letter = specifier === 'e' || specifier === 'g' ? 'e' : 'E';
  if (specifier === 'g' || specifier === 'G') return sign + formatFloat(size, places || 1, letter);
  return sign + exponential(size, places, letter);
}

/** Digits after the point, exact; half way goes to the even digit. */
function fixed(size: number, places: number): string {
  if (size >= 1e21) return BigInt(size).toString() + (places === 0 ? '' : `.${'0'.repeat(places)}`);
  const tail = size.toFixed(places + 40).slice(-40);
  const isHalf = tail.startsWith('5') && /^0+$/.test(tail.slice(1));
  if (!isHalf) return size.toFixed(places);
  const down = size
    .toFixed(places + 40)
    .slice(0, -40)
    .replace(/\.$/, '');
  return '02468'.includes(down.slice(-1)) ? down : size.toFixed(places);
}

function exponential(size: number, places: number, letter: string): string {
  const { digits, exponent } = significantDigits(size, places + 1);
  const fraction = places === 0 ? '' : `.${digits.slice(1)}`;
  return `${digits.charAt(0)}${fraction}${letter}${exponent < 0 ? '-' : '+'}${Math.abs(exponent)}`;
}

/** Zeros go between the sign and the digits, any other padding before the sign. */
function padNumber(directive: Directive, text: string): string {
  if (directive.left || directive.pad !== '0' || !/^[+-]/.test(text)) return pad(directive, text);
  return text.charAt(0) + pad({ ...directive, width: directive.width - 1 }, text.slice(1));
}

function pad({ left, pad: filler, width }: Directive, text: string): string {
  const missing = Math.max(0, width - Buffer.byteLength(text));
  return left ? text + filler.repeat(missing) : filler.repeat(missing) + text;
}
