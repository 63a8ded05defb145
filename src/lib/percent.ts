/** Decodes percent signs; a text that is not well formed stays as it is. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Decodes a name or a value of a form or a query, where `+` is a space. */
export function formDecoded(text: string): string {
  return percentDecoded(text.replaceAll('+', ' '));
}

/** Returns the percent sign and the number of a character of one byte. */
export function percent(char: string): string {
  return `%${char.charCodeAt(0).toString(16).toUpperCase()}`;
}
