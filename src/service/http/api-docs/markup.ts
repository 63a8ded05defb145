/** A block that can be copied. */
export function code(content: string): string {
  return `<div class="code"><pre>${text(content)}</pre><button type="button">Copy</button></div>`;
}

export function pathText(path: string): string {
  return text(path)
    .replaceAll('/', '/<wbr>')
    .replaceAll(/\{[^}]+\}/g, '<i>$&</i>');
}

/** Text whose parts between backticks are code. */
export function prose(content: string): string {
  return text(content).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

/** A name as the id of a place in the page. */
export function anchor(name: string): string {
  return name
    .toLowerCase()
    .replaceAll('*', 'rest')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Text that is no markup, also in an attribute. */
export function text(content: string): string {
  return content.replaceAll(/[&<>"]/g, (char) => ENTITIES[char] ?? char);
}
