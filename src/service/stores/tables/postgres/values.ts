import type { DataType } from '../row-query.ts';

/**
 * Values of columns are texts: these give expressions for what a text means as a number or a time, NULL for what is
 * none. They never fail: the database has no cast that gives NULL, so a text is looked at before it is cast. What is a
 * number and what is a time is the same as in the embedded engine.
 */

const SPACE = '[ \\t\\n\\v\\f\\r]*';
const DIGITS = '[0-9]+(?:_[0-9]+)*';
const NUMBER = `^${SPACE}[+-]?(?:${DIGITS}(?:\\.(?:${DIGITS})?)?|\\.${DIGITS})(?:[eE][+-]?[0-9]{1,4})?${SPACE}$`;
const INFINITE = `^${SPACE}[+-]?(?:nan|inf|infinity)${SPACE}$`;

/** Longer ones are beyond what the database takes for a number. */
const MAX_NUMBER_BYTES = 1000;

export function numberOf(text: string, dataType: DataType): string {
  const number = `replace(${text}, '_', '')::numeric`;
  const whenNumber = (value: string): string =>
    `CASE WHEN octet_length(${text}) <= ${MAX_NUMBER_BYTES} AND ${text} ~ ${pattern(NUMBER)} THEN ${value} END`;
  switch (dataType) {
    case 'INTEGER':
    case 'BIGINT':
      // As many digits as the embedded engine's integers have.
      return whenNumber(within(`round(${number})`, '170141183460469231731687303715884105727'));
    case 'DECIMAL':
      return whenNumber(within(`round(${number}, 10)`, '9999999999999999999999999999.9999999999'));
    default:
      return `CASE WHEN ${text} ~* ${pattern(INFINITE)} THEN ${text}::float8 ELSE ${whenNumber(
        `CASE WHEN abs(${number}) > 1.7976931348623157e308 THEN CASE WHEN ${number} > 0 THEN 'inf' ELSE '-inf' END::float8 ` +
          `WHEN abs(${number}) < 5e-324 THEN 0 ELSE ${number}::float8 END`,
      )} END`;
  }
}

function within(value: string, most: string): string {
  return `CASE WHEN abs(${value}) <= ${most} THEN ${value} END`;
}

const TIME =
  `^${SPACE}([0-9]{1,6})([-/ ])([0-9]{1,2})\\2([0-9]{1,2})` +
  '(?:(?: +|T)([0-9]{1,2}):([0-9]{1,2})(?::([0-9]{1,2})(?:\\.([0-9]*))?(?:Z| +UTC|[+-][0-9]{2}(?::?[0-9]{2})?)?)? *)?$';

const NAMED_TIME = '^(?:-?infinity|epoch)$';

/** The usual form, which the database reads by itself. */
const PLAIN_TIME =
  '^[1-9][0-9]{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8]) (?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]{1,6})?$';

export function timeOf(text: string): string {
  return (
    `CASE WHEN ${text} ~ ${pattern(PLAIN_TIME)} OR ${text} ~* ${pattern(NAMED_TIME)} THEN ${text}::timestamp ` +
    `ELSE ${anyTimeOf(text)} END`
  );
}

/** The parts of a time: year, month, day, hour, minute, second, digits behind it. Zones are left out, as they are there. */
function anyTimeOf(text: string): string {
  const [year, month, day, hour, minute, second] = [1, 3, 4, 5, 6, 7].map(part);
  const lastDay =
    `CASE WHEN ${month} IN (4, 6, 9, 11) THEN 30 WHEN ${month} <> 2 THEN 31 ` +
    `WHEN ${year} % 4 = 0 AND (${year} % 100 <> 0 OR ${year} % 400 = 0) THEN 29 ELSE 28 END`;
  const isTime =
    `${year} BETWEEN 1 AND 290000 AND ${month} BETWEEN 1 AND 12 AND ${day} BETWEEN 1 AND ${lastDay} ` +
    `AND ${minute} <= 59 AND ${second} <= 59 ` +
    `AND (${hour} <= 23 OR (${hour} = 24 AND ${minute} = 0 AND ${second} = 0 AND coalesce(m[8], '') ~ '^0*$'))`;
  const seconds = `(${second} || '.' || left(coalesce(m[8], '') || '0', 6))::float8`;
  return (
    `(SELECT CASE WHEN ${isTime} THEN make_timestamp(${year}, ${month}, ${day}, ${hour}, ${minute}, ${seconds}) END ` +
    `FROM (SELECT regexp_match(${text}, ${pattern(TIME)}) AS m OFFSET 0) parts WHERE m IS NOT NULL)`
  );
}

const part = (index: number): string => `coalesce(m[${index}], '0')::int`;

function pattern(expression: string): string {
  return `E'${expression.replaceAll('\\', '\\\\')}' COLLATE "C"`;
}
