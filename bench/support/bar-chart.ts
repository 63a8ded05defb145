/** Groups of bars, each with the figure beside it. */
export interface BarChart {
  readonly title: string;
  readonly unit: string;
  readonly groups: readonly {
    readonly title: string;
    readonly bars: readonly { readonly name: string; readonly value: number; readonly colour: number }[];
  }[];
  /** Below the bars, in small letters. */
  readonly note: string;
}

const WIDTH = 760;
const NAME_WIDTH = 130;
const FIGURE_WIDTH = 80;
const BAR = 18;
const STEP = 24;
const COLOURS = ['#8a94a6', '#2563eb', '#d97706', '#9333ea'];

/** Draws horizontal bars as SVG, on whatever background it is shown: each group has a scale of its own. */
export function barChart({ title, unit, groups, note }: BarChart): string {
  const parts: string[] = [];
  let y = 56;
  for (const group of groups) {
    parts.push(`<text x="16" y="${y}" font-weight="600">${escaped(group.title)}</text>`);
    y += 10;
    const largest = Math.max(...group.bars.map(({ value }) => value));
    for (const { name, value, colour } of group.bars) {
      const width = Math.max(1, (value / largest) * (WIDTH - NAME_WIDTH - FIGURE_WIDTH - 32));
      const middle = y + BAR / 2 + 4;
      parts.push(
        `<text x="${16 + NAME_WIDTH - 8}" y="${middle}" text-anchor="end">${escaped(name)}</text>`,
        `<rect x="${16 + NAME_WIDTH}" y="${y}" width="${width.toFixed(1)}" height="${BAR}" rx="3" fill="${COLOURS[colour % COLOURS.length] ?? ''}"/>`,
        `<text x="${(16 + NAME_WIDTH + width + 8).toFixed(1)}" y="${middle}">${value.toFixed(2)} ${unit}</text>`,
      );
      y += STEP;
    }
    y += 22;
  }
  const height = y + 12;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escaped(title)}" font-family="system-ui, sans-serif" font-size="13">`,
    `<rect width="${WIDTH}" height="${height}" rx="8" fill="#ffffff"/>`,
    `<g fill="#1f2430"><text x="16" y="28" font-size="16" font-weight="600">${escaped(title)}</text>`,
    ...parts,
    `<text x="16" y="${y}" font-size="11" fill="#5b6472">${escaped(note)}</text></g>`,
    '</svg>',
    '',
  ].join('\n');
}

/** Escapes a text for SVG. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
