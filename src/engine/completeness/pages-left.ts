import type { Traits } from '../shared/paginator-capabilities.ts';
import type { Course, History } from './history.ts';

/**
 * Returns the number of pages still to come by the totals and numbers of pages in the answers; the highest if they
 * differ. Undefined without such a number, or when it has proved wrong: a total that the rows have exceeded does not
 * count.
 */
export function pagesLeft(history: History, { size = 0, start = 0 }: Traits): number | undefined {
  const { pages, largestPage } = history;
  const rows = history.rows + start;
  const perPage = Math.max(size, largestPage);
  const left = [
    ...(perPage === 0 ? [] : history.totals)
      .filter((course) => isSaid(course, rows) && (pages === 1 || !course.isOfPage))
      .map(({ last }) => Math.ceil((last - rows) / perPage)),
    ...history.pageCounts.filter((course) => isSaid(course, pages)).map(({ last }) => last - pages),
  ];
  return left.length === 0 ? undefined : Math.max(...left);
}

function isSaid({ strength, last }: Course, seen: number): boolean {
  return strength !== 'weak' && last > 0 && last >= seen;
}
