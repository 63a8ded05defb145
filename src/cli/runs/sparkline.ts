const BARS = '▁▂▃▄▅▆▇█';

/** Draws values as a line of bars, each as high as it is of the largest, with the least and the largest behind it. */
export function sparkline(values: readonly number[]): string {
  if (values.length === 0) return '';
  const most = values.reduce((a, b) => Math.max(a, b), 0);
  const least = values.reduce((a, b) => Math.min(a, b), most);
  const bars = values.map((value) => BARS[Math.round((value / (most || 1)) * (BARS.length - 1))] ?? '');
  return `${bars.join('')}  ${least.toLocaleString('en')} to ${most.toLocaleString('en')}`;
}
