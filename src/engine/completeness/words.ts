import { counted } from '../../lib/counted.ts';
import type { Doubt, Proof } from './doubt.ts';

/** Describes a finding against a run in one or two sentences, with the path and the key to change. */
export function doubtText(doubt: Doubt): string {
  const path = doubt.path ?? '';
  const key = keyName(doubt.key);
  const see = `See \`${key}\`.`;
  switch (doubt.code) {
    case 'totalAbove': {
      const said = `The answer says \`${path}: ${doubt.total}\`${doubt.isBound === true ? ' or more' : ''}, and ${counted(doubt.rows, 'row')} came`;
      return doubt.size === undefined || doubt.asked === undefined
        ? `${said}. Check the pagination. ${see}`
        : `${said}: the API gives at most ${counted(doubt.size, 'row')} although ${doubt.asked} were asked for. Set \`limit\` to ${doubt.size}.`;
    }
    case 'pagesAbove':
      return `The answer says \`${path}: ${doubt.total}\`, and ${counted(doubt.pages, 'page')} with rows came. Check the first page and the pagination. ${see}`;
    case 'nextPage':
      return `The last page (${doubt.page}) says that there is a next one: \`${path}\`, and it was not asked for. Follow it, or correct \`${key}\`.`;
    case 'moreFlag':
      return `The last page (${doubt.page}) says that there is more: \`${path}\`. Check the pagination. ${see}`;
    case 'contradiction':
      return `The last page (${doubt.page}) says that there is more (\`${path}\`) and that it is the end (\`${doubt.end}\`): one of them is wrong. Follow what leads on, or correct \`${key}\`.`;
    case 'samePage':
      return `Page ${doubt.page} brings ${SAME[doubt.how]} page ${doubt.of} again, although something else was asked for: the API does not know the parameter, or has no such page. Correct \`${key}\`.`;
    case 'capped':
      return `The page has ${counted(doubt.size, 'row')}, which is a full one by what the API says of its size, or by what APIs commonly give at most, and ${doubt.asked} were asked for: it gives no more at once. Set \`limit\` to ${doubt.size}.`;
    case 'fullPage':
      return `The page is full (\`${path}: ${doubt.size}\`)${doubt.total === undefined ? '' : `, \`${doubt.total}: ${doubt.size}\` may be the number of its rows alone`}, and nothing shows that it is the last one: there may be more. Set or correct \`${key}\`.`;
    case 'notFound':
      return `“${doubt.looked}” ${doubt.page > 1 ? `is not on page ${doubt.page}` : 'was found on no page'}${doubt.near === undefined ? '' : `; the answer has “${doubt.near}”`}. Correct \`${key}\`.`;
    case 'totalShrank':
      return `\`${path}\` went from ${doubt.from} to ${doubt.to} at page ${doubt.page}: the data changed while the pages were read, and rows that moved to an earlier page are missing. Read them in a fixed order, or by a cursor.`;
    case 'rowsTwice':
      return `${counted(doubt.rows, 'row')} came twice, first on pages ${doubt.of} and ${doubt.page}${doubt.pages > 1 ? `, and on ${doubt.pages} pages in all` : ''}: pages move when the data changes while they are read, or they overlap, and others may be missing. Read them in a fixed order, or by a cursor. ${see}`;
    case 'onlyKnownRows':
      return `Page ${doubt.page} brings only rows that were there: the API does not know the parameter, or begins again. Correct \`${key}\`.`;
    case 'notFirst':
      return `The first page is not the first one: the answer has \`${path}\`${doubt.begins === undefined ? ', a page before it' : `: ${doubt.begins}`}. Begin earlier: \`${key}\`.`;
    case 'gap':
      return `Page ${doubt.page} begins at \`${path}: ${doubt.begins}\`, and ${counted(doubt.expected, 'row')} had come: those between are missing. Correct \`${key}\`.`;
    case 'overlap':
      return `Page ${doubt.page} begins at \`${path}: ${doubt.begins}\`, and ${counted(doubt.expected, 'row')} had come: rows come twice. Correct \`${key}\`.`;
    case 'tooManyRows':
      return `A page has ${counted(doubt.rows, 'row')} although ${doubt.asked} were asked for, so pages overlap and rows come twice: the API does not know the page size. Correct \`${key}\`.`;
    case 'sameWindows':
      return `All ${doubt.windows} windows of time that have rows brought the same ones: the API does not know the parameters of the window, and its rows are there ${doubt.windows} times. Correct \`${key}\`; or, if nothing changed from window to window, accept the doubt by \`completeness\` of the job.`;
    case 'sameRuns':
      return `All ${doubt.runs} runs brought the same rows, although each asked for another ${doubt.names.map((name) => `\`${name}\``).join(', ')}: the API does not know the parameter, and its rows are there ${doubt.runs} times. Correct \`${key}\`; or, if all of them have the same, accept the doubt by \`completeness\` of the job.`;
    case 'windowsOverlap':
      return `${counted(doubt.rows, 'row')} came with a window of time and with the one before it, first with ${doubt.windows[0]} and ${doubt.windows[1]}: the API takes the end of a window for a part of it, or does not know one of its parameters. Set \`end\` of \`${key}\` to "inclusive", correct the parameters, or give the table a primary key.`;
    case 'error':
      return `Page ${doubt.page} tells of an error with the status of a success: \`${path}\`${doubt.text === '' ? '' : `, “${doubt.text}”`}. ${doubt.isRow === true ? 'It was taken for a row, and rows' : 'Its rows'} are missing. Run it again, or correct what the error names; if it is none, accept the doubt by \`completeness\` of the job.`;
    case 'headerAgain':
      return `A row of page ${doubt.page} has the names of the columns as its values: files were put together with their headers, and what lies between may be missing. Ask for one file at a time; or, if all rows are there, leave such rows out by \`where\` and accept the doubt.`;
    case 'strangers':
      return `${counted(doubt.rows, 'row')} came whose \`${path}\` is no value that was asked for: the API does not know the parameter, so that rows come with each group again, or \`${path}\` is not where a row names its parent. Correct the request, or \`${key}\`.`;
    case 'skipped':
      return `Page ${doubt.page} was skipped (${doubt.text}) after the pages before it had come: their rows are there, and those behind are missing. Where such an answer is the end of the pages, write "do": "empty" in \`${key}\`.`;
    default:
      return `Page ${doubt.page} says that it is only a part: \`${path}\`. Ask for less at once.`;
  }
}

/** Describes the evidence that the rows are complete, in half a sentence. */
export function proofText(proof: Proof): string {
  switch (proof.code) {
    case 'totalEquals':
      return `\`${proof.path}: ${proof.total}\` is the number of rows`;
    case 'pagesEqual':
      return `\`${proof.path}: ${proof.pages}\` is the number of pages`;
    case 'saidEnd':
      return `\`${proof.path}\` says that it is the end`;
    case 'reachedState':
      return `the rows reach back to the state, ${proof.state}`;
    case 'exportDone':
      return proof.files === 0
        ? 'the API said that the export is empty'
        : `the API said that the export is done, and ${proof.files === 1 ? 'its file was' : 'its files were'} read to the end`;
    default:
      return 'what led from page to page is gone on the last one';
  }
}

const SAME = {
  answer: 'the answer of',
  rows: 'the rows of',
  ids: 'the ids of',
  values: 'the rows, but for changing values, of',
} as const;

/** Shortens a key: the beginning of `parameters.api.pagination.limit` is always the same. */
function keyName(key: string): string {
  return key.replace(/^parameters\.api\./, '');
}
