import type { Contexts } from '../shared/evaluate.ts';
import { bodyBytes, type JobRequest } from '../shared/message.ts';
import type { Json, Path } from '../../lib/json/index.ts';
import { compareValues, type AnswerFact, type View } from '../language/index.ts';
import type { PageContent } from './content.ts';

export interface ViewedPage {
  /** From 1. */
  readonly page: number;
  /** Rows of the job so far, those of the page among them. */
  readonly read: number;
  /** Request of the page. */
  readonly request: JobRequest;
  readonly contexts: () => Contexts;
}

/** Creates the view of a page for sources and conditions. Every part is read only on demand. */
export function pageView(content: PageContent, facts: ViewedPage): View {
  const { response, page } = content;
  const here = (path: Path): Json | undefined => content.value(path);
  const answers: Readonly<Record<AnswerFact, () => Json>> = {
    status: () => response.status,
    page: () => facts.page,
    rows: () => page.rows,
    read: () => facts.read,
    bytes: () => bodyBytes(response),
    url: () => response.url,
  };
  return {
    here,
    response: here,
    edge(which, path) {
      const row = content.edge(which);
      return row === undefined ? undefined : path.find(row);
    },
    extreme: (which, path) => extreme(content, which, path),
    header: (name) => response.headers[name],
    request: facts.request,
    answer: (fact) => answers[fact](),
    contexts: facts.contexts,
  };
}

/** Returns the smallest or largest value; rows without one are left out. */
function extreme(content: PageContent, which: 'min' | 'max', path: Path): Json | undefined {
  let best: Json | undefined;
  for (const rows of content.chunks()) {
    for (const row of rows) {
      const value = path.find(row);
      if (value === undefined || value === null) continue;
      const order = best === undefined ? undefined : compareValues(value, best);
      if (best === undefined || (order !== undefined && (which === 'min' ? order < 0 : order > 0)))
        best = value;
    }
  }
  return best;
}
