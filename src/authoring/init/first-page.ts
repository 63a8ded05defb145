import { toText } from '../../lib/json/index.ts';
import { numericOf } from '../../lib/read-settings.ts';
import { leavesOf, withoutAt } from './params.ts';
import { isOffsetName, isPageName } from './guesses.ts';
import { plain } from './names.ts';
import { withParameter, type FoundRequest } from './target.ts';

/** Parameters that a browser sends for a later page, and no filter has. */
const CURSOR =
  /^(?:cursor|next_cursor|page_token|next_token|next_page_token|page_cursor|starting_after|continuation|continuation_token|scroll_id|bookmark|page_after|start_key)$/;

/** Returns the request for the first page, if a later one was given, with notes on removed parts. Pure. */
export function atFirstPage(target: FoundRequest): FoundRequest {
  let { params } = target;
  const notes: string[] = [];
  for (const { keys, value } of leavesOf(target.params)) {
    const [name, shown] = [keys.at(-1) ?? '', keys.join('.')];
    const number = numericOf(value);
    if (isPageName(name) && number !== undefined && number > 1) {
      params = withParameter(params, keys, typeof value === 'string' ? '1' : 1);
      notes.push(`\`${shown}: ${toText(value)}\` was given, and the configuration begins at page 1.`);
    } else if (isOffsetName(name) && number !== undefined && number > 1) {
      params = withoutAt(params, keys);
      notes.push(`\`${shown}: ${toText(value)}\` was given, and the configuration begins at the first row.`);
    } else if (CURSOR.test(plain(name)) && toText(value) !== '') {
      params = withoutAt(params, keys);
      notes.push(
        `\`${shown}\` was left out: it is the place of a later page, and the configuration begins at the first one.`,
      );
    }
  }
  return notes.length === 0 ? target : { ...target, params, notes: [...target.notes, ...notes] };
}
