import { trimBoth, trimEnd } from './trim.ts';

/** Longest name of a column, in characters. */
const MAX_COLUMN_NAME = 64;

/** Longest text, in characters, of which a name is made. */
export const MAX_GIVEN_NAME = 1000;

/**
 * Makes a name of ASCII letters, digits and underscores: letters lose their accents, each run of other characters
 * becomes one `_`, none of these stay at the ends, and it is cut to 64. May return an empty text.
 *
 * `currency €` gives `currency_EUR`, `$$ some name $$` gives `some_name`.
 */
export function webalize(name: string): string {
  return sanitize(name).slice(0, MAX_COLUMN_NAME);
}

/**
 * Returns the name that a column has in a table: webalized but never cut (longer ones are an error there), and with `_`
 * behind a name that databases reserve (`CTID` gives `CTID_`). A text beyond 1,000 characters is returned as it is.
 */
export function columnName(name: string): string {
  if (name.length > MAX_GIVEN_NAME) return name;
  const plain = sanitize(name);
  return RESERVED.has(plain.toLowerCase()) ? `${plain}_` : plain;
}

/** Returns the reason why a name can't be a column's; `undefined` when it can. */
export function columnNameProblem(name: string): string | undefined {
  if (name === '') return 'is empty';
  if (name.length > MAX_COLUMN_NAME) return `is longer than ${MAX_COLUMN_NAME} characters`;
  if (name.startsWith('_')) return 'starts with an underscore';
  if (!/^[A-Za-z0-9_]+$/.test(name)) return 'contains other characters than letters, digits and underscores';
  return RESERVED.has(name.toLowerCase()) ? 'is reserved' : undefined;
}

/**
 * Makes a display name as the service suggests it: `Môj 1$ obľúbený bucket $` gives `Moj-1-oblubeny-bucket`. May return
 * an empty text.
 */
export function webalizeDisplayName(name: string): string {
  const plain = toAscii(name).replaceAll(/[^A-Za-z0-9_]+/g, '-');
  return trimEnd(plain.replace(/^[-_]+/, ''), '-');
}

/** Returns the reason why a name can't be that of a bucket or a table, nor a display name; `undefined` when it can. */
export function storageNameProblem(name: string): string | undefined {
  if (!/^[A-Za-z0-9_-]+$/.test(name))
    return `'${name}' contains not allowed characters. Only alphanumeric characters dash and underscores are allowed.`;
  return name.startsWith('_')
    ? `'${name}' contains not allowed characters. Cannot start with underscore.`
    : undefined;
}

/** Returns the id of a bucket by its bare name: `main` in stage `in` gives `in.c-main`. */
export function bucketId(stage: 'in' | 'out', name: string): string {
  return `${stage}.c-${name}`;
}

const RESERVED = new Set(['oid', 'tableoid', 'xmin', 'cmin', 'xmax', 'cmax', 'ctid']);

function sanitize(name: string): string {
  const plain = toAscii(name).replaceAll(/[^A-Za-z0-9_]+/g, '_');
  // `_` put in at the ends goes with those that were there; inner runs stay as they are.
  return trimBoth(plain, '_');
}

/**
 * Transliterates to ASCII: Latin letters without accents, Greek and Cyrillic in Latin letters; other characters stay.
 */
export function toAscii(text: string): string {
  if (/^\p{ASCII}*$/u.test(text)) return text;
  const bare = text.normalize('NFC').replaceAll(/\P{ASCII}/gu, (letter) => LETTERS.get(letter) ?? letter);
  return bare
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .replaceAll(/\P{ASCII}/gu, (letter) => LETTERS.get(letter) ?? letter);
}

const LETTERS = new Map(
  [
    'ß ss ẞ SS æ ae Æ AE œ oe Œ OE ø o Ø O đ d Đ D ð d Ð D þ th Þ TH ł l Ł L ħ h Ħ H ı i ĸ k ŋ n Ŋ N ŧ t Ŧ T ſ s ƒ f ə e',
    '€ EUR £ GBP ¥ JPY',
    'α a β v γ g δ d ε e ζ z η i θ th ι i κ k λ l μ m ν n ξ x ο o π p ρ r σ s ς s τ t υ y φ f χ ch ψ ps ω o',
    'а a б b в v г g ґ g д d е e є ye ж zh з z и i і i ї yi й y к k л l м m н n о o п p р r с s т t у u ф f х kh ц ts ч ch ш sh',
    'щ shch ы y э e ю yu я ya ё yo ђ dj ј j љ lj њ nj ћ c џ dz ў u',
  ].flatMap((line) => {
    const parts = line.split(' ');
    return parts.flatMap((letter, i) => (i % 2 === 0 ? withCapital(letter, parts[i + 1] ?? '') : []));
  }),
);
// Signs without a sound.
for (const sign of ['ъ', 'ь', 'Ъ', 'Ь']) LETTERS.set(sign, '');

/** Returns the letter and its capital, unless the capital is the letter itself, plain ASCII, or several letters. */
function withCapital(letter: string, latin: string): [string, string][] {
  const capital = letter.toUpperCase();
  const hasOwn = capital !== letter && /^\P{ASCII}$/u.test(capital);
  const entry: [string, string] = [letter, latin];
  return hasOwn ? [entry, [capital, latin.charAt(0).toUpperCase() + latin.slice(1)]] : [entry];
}
