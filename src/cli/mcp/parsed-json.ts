/** Returns the value of a JSON text for an answer; the text itself where numbers would lose digits. */
export function parsedJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return JSON.stringify(value) === text ? value : text;
}
