export { charsetOf, isFile, formatOf, type About } from './detect.ts';
export { readFormat, type ReadFormatOptions } from './read.ts';
export { xmlDocument } from './xml.ts';
export type { FormatRows, Measured } from './rows.ts';
export { DEFAULT_FORMAT, FORMAT_KEYS, FORMATS, parseFormat, type FormatSettings } from './settings.ts';
