export { utf8Body } from './body.ts';
export {
  charsetOf,
  joinedRemarks,
  jsonText,
  otherThanUtf8,
  textOf,
  type Charset,
  type TextRemarks,
} from './charset.ts';
export { isFile } from './detect.ts';
export { readFormat } from './read-format.ts';
export { xmlDocument } from './xml.ts';
export type { FormatRows, Measured } from './rows.ts';
export { DEFAULT_FORMAT, parseFormat, type FormatSettings } from './format-settings.ts';
