import { escaped } from './bar-chart.ts';

/** Lines over the same axis of times. */
export interface LineChart {
  readonly title: string;
  /** Unit of the values. */
  readonly unit: string;
  /** Unit of the axis below. */
  readonly over: string;
  readonly lines: readonly {
    readonly name: string;
    readonly points: readonly { readonly at: number; readonly value: number }[];
  }[];
  /** Below the lines, in small letters. */
  readonly note: string;
}

const WIDTH = 760;
const HEIGHT = 300;
const LEFT = 64;
const RIGHT = 110;
const TOP = 48;
const BOTTOM = 56;
const STEPS = 4;
const COLOURS = ['#2563eb', '#d97706', '#9333ea', '#8a94a6'];

/** Draws lines as SVG, on whatever background it is shown; both axes begin at 0. */
export function lineChart({ title, unit, over, lines, note }: LineChart): string {
  const points = lines.flatMap((line) => line.points);
  const most = roundUp(Math.max(1, ...points.map(({ value }) => value)));
  const last = Math.max(1, ...points.map(({ at }) => at));
  const x = (at: number): string => (LEFT + (at / last) * (WIDTH - LEFT - RIGHT)).toFixed(1);
  const y = (value: number): string =>
    (HEIGHT - BOTTOM - (value / most) * (HEIGHT - TOP - BOTTOM)).toFixed(1);
  const parts: string[] = [];
  for (let step = 0; step <= STEPS; step++) {
    const value = (most * step) / STEPS;
    const at = (last * step) / STEPS;
    parts.push(
      `<line x1="${LEFT}" y1="${y(value)}" x2="${WIDTH - RIGHT}" y2="${y(value)}" stroke="#e2e6ec"/>`,
      `<text x="${LEFT - 8}" y="${Number(y(value)) + 4}" text-anchor="end">${value.toFixed(0)} ${unit}</text>`,
      `<text x="${x(at)}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle">${at.toFixed(0)} ${over}</text>`,
    );
  }
  for (const [i, line] of lines.entries()) {
    const colour = COLOURS[i % COLOURS.length] ?? '';
    const end = line.points.at(-1);
    if (end === undefined) continue;
    const path = line.points.map(({ at, value }) => `${x(at)},${y(value)}`).join(' ');
    parts.push(
      `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="1.5"/>`,
      `<text x="${WIDTH - RIGHT + 8}" y="${Number(y(end.value)) + 4}" fill="${colour}">${escaped(line.name)}</text>`,
    );
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escaped(title)}" font-family="system-ui, sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" rx="8" fill="#ffffff"/>`,
    `<g fill="#1f2430"><text x="16" y="28" font-size="16" font-weight="600">${escaped(title)}</text>`,
    ...parts,
    `<text x="16" y="${HEIGHT - 12}" font-size="11" fill="#5b6472">${escaped(note)}</text></g>`,
    '</svg>',
    '',
  ].join('\n');
}

/** Returns a round number that is no smaller. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const factor = [1, 2, 4, 8, 10].find((each) => each * power >= value) ?? 10;
  return factor * power;
}
