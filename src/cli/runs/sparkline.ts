const BARS = '▁▂▃▄▅▆▇█';
/** Room for what stands beside the bars. */
const BESIDE = 50;
const FEWEST = 10;

/**
 * Draws the last values that fit as a line of bars, each as high as it is of the largest, with the least and the largest
 * behind it.
 *
 * @param width columns of the terminal; where there is none, programs get the least and the largest alone
 */
export function sparkline(all: readonly number[], width: number | undefined): string {
  const values = width === undefined ? all : all.slice(-Math.max(FEWEST, width - BESIDE));
  if (values.length === 0) return '';
  const most = values.reduce((a, b) => Math.max(a, b), 0);
  const least = values.reduce((a, b) => Math.min(a, b), most);
  const bounds = `${least.toLocaleString('en')} to ${most.toLocaleString('en')}`;
  if (width === undefined) return bounds;
  const bars = values.map((value) => BARS[Math.round((value / (most || 1)) * (BARS.length - 1))] ?? '');
  return `${bars.join('')}  ${bounds}`;
}
