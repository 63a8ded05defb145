/**
 * In the place of the library's own, which brings a highlighter with its own runtime and shows what it renders as HTML:
 * descriptions and problems are shown as they are written.
 */
export function renderMarkdown(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
