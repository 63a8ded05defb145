import { toJsonText } from './json/index.ts';

/** Escapes a text for an element or an attribute. Characters that XML does not have are left out. */
export function escapeXml(text: string): string {
  return text
    .replace(NOT_XML, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\r', '&#13;');
}

/** Characters outside XML 1.0, production 2: they cannot be written, not even escaped. */
const NOT_XML = /(?![\t\n\r\u007f-\u009f])[\p{Cc}\p{Cs}\ufffe\uffff]/gu;

/** Returns the escaping of values inside a text that is the body of a request; undefined where none is needed. */
export function escapeInBody(format: string | undefined): ((text: string) => string) | undefined {
  if (format === 'json') return (text) => toJsonText(text).slice(1, -1);
  if (format === 'form') return encodeURIComponent;
  return format === 'xml' ? escapeXml : undefined;
}
