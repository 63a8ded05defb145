/** Parts of the patterns (formats of PHP 7.4). A part with two digits fixed ends in 2, one with a year of four in 4. */

export const SPACE = '[ \\t]+';

export const HOUR = '(?<hour>2[0-4]|[01]?\\d)';
export const HOUR_2 = '(?<hour>2[0-4]|[01]\\d)';
export const HOUR_OF_12 = '(?<hour>1[0-2]|0?[1-9])';
export const MINUTE = '(?<minute>[0-5]?\\d)';
export const MINUTE_2 = '(?<minute>[0-5]\\d)';
export const SECOND = '(?<second>60|[0-5]?\\d)';
export const SECOND_2 = '(?<second>60|[0-5]\\d)';
export const FRACTION = '(?<fraction>\\.\\d+)';
/** `am`, `P.M.`; a space or the end must follow. */
export const MERIDIAN = '(?<meridian>[AaPp])\\.?[Mm]\\.?(?=[ \\t]|$)';

export const YEAR = '(?<year>\\d{1,4})';
export const YEAR_2 = '(?<year>\\d{2})';
export const YEAR_4 = '(?<year>\\d{4})';
export const SIGNED_YEAR_4 = '(?<year>[+-]?\\d{4})';
export const LONG_YEAR = '(?<year>[+-]\\d{5,15})';
export const MONTH = '(?<month>1[0-2]|0?\\d)';
export const MONTH_2 = '(?<month>1[0-2]|0\\d)';
export const DAY = '(?<day>3[01]|[0-2]?\\d)(?:st|nd|rd|th)?';
export const DAY_2 = '(?<day>3[01]|[0-2]\\d)';
export const DAY_OF_YEAR = '(?<dayOfYear>36[0-6]|3[0-5]\\d|[12]\\d\\d|0[1-9]\\d|00[1-9])';
export const WEEK_2 = '(?<week>5[0-3]|[1-4]\\d|0[1-9])';

const OFFSET_TEXT = '(?:GMT)?[+-](?:2[0-4]|[01]?\\d):?(?:[0-5]?\\d)?';
const ZONE_NAME = 'Etc/GMT[+-]\\d{1,2}|[A-Z][A-Za-z]+(?:[_/-][A-Za-z]+)+|\\(?[A-Za-z]{1,6}\\)?';
export const OFFSET = `(?<zone>${OFFSET_TEXT})`;
export const ZONE = `(?<zone>${OFFSET_TEXT}|${ZONE_NAME})`;
