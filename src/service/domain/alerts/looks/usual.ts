import { inThousands } from '../../../../lib/thousands.ts';

/** With fewer runs nothing is called unusual. */
export const MIN_RUNS = 8;

/** Smaller numbers vary by chance. */
const FEW: Readonly<Record<Noun, number>> = { pages: 5, rows: 20 };
/** A number is unusual when it is a third of the median, or three times as much, or further away. */
const FACTOR = Math.log(3);
/** And further from it than so many standard deviations, which the median of the distances gives. */
const DEVIATIONS = 5;
/** Standard deviation of a normal distribution whose median distance is 1. */
const PER_MEDIAN_DISTANCE = 1.4826;

type Noun = 'pages' | 'rows';

/**
 * Says how a number is unusual beside those of the runs before; undefined when it is not, or there are too few of them.
 * Numbers are compared by their ratio (as logarithms), with the median and the median distance from it, which a few
 * odd runs do not move. One that lies between the smallest and the largest of before is usual.
 */
export function unusualText(noun: Noun, value: number, before: readonly number[]): string | undefined {
  if (before.length < MIN_RUNS) return undefined;
  const [least, most] = [Math.min(...before), Math.max(...before)];
  const median = medianOf(before);
  if (value >= least && value <= most) return undefined;
  if (Math.max(value, median) < FEW[noun]) return undefined;
  const logs = before.map(Math.log1p);
  const middle = medianOf(logs);
  const spread = PER_MEDIAN_DISTANCE * medianOf(logs.map((each) => Math.abs(each - middle)));
  const distance = Math.abs(Math.log1p(value) - middle);
  if (distance < FACTOR || distance < DEVIATIONS * spread) return undefined;
  return `${shown(value)} ${noun} (${changeText(value, median)}): ${before.length} runs before had ${shown(median)} in the median, ${shown(least)} to ${shown(most)}`;
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const [low, high] = [
    sorted[Math.floor((sorted.length - 1) / 2)],
    sorted[Math.ceil((sorted.length - 1) / 2)],
  ];
  return ((low ?? 0) + (high ?? 0)) / 2;
}

function changeText(value: number, median: number): string {
  if (median === 0) return 'none is usual';
  const percent = Math.round((value / median - 1) * 100);
  return percent < 0 ? `−${-percent} %` : `+${shown(percent)} %`;
}

const shown = (value: number): string => inThousands(String(Math.round(value)), ',');
