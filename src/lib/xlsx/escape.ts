/** Characters that XML has otherwise, those that it cannot have, and texts that read like the escape of one. */
const SPECIAL = /[&<>\uFFFE\uFFFF]|(?![\t\n])\p{Cc}|_(?=x[0-9A-Fa-f]{4}_)/gu;

const NAMED: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Escapes a text of a workbook: `_x0001_` stands for a character that XML cannot have (ECMA-376, ST_Xstring). */
export function escapeXml(text: string): string {
  return text.replaceAll(
    SPECIAL,
    (sign) => NAMED[sign] ?? `_x${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`,
  );
}
