import { useEffect, useState } from 'preact/hooks';
import { client, StorageError, type ConfigurationProblem } from './client.ts';
import { wordsOf } from './query.ts';

export interface Check {
  readonly problems: readonly ConfigurationProblem[];
  /** Asked, and not answered yet. */
  readonly isAsking: boolean;
  /** Why it could not be looked at. */
  readonly failure?: string | undefined;
}

const PAUSE_MS = 400;
/** Such long texts are looked at when the typing has paused for longer. */
const LONG = 100_000;

/** Some services have no workshop: they are asked once. */
let isMissing = false;
const MISSING = 'This service does not check configurations: a run will say what is wrong.';

/** A text, and what it belongs to. */
export interface Checked {
  readonly component: string;
  /** Id of the configuration, when it is stored. */
  readonly configuration?: string | undefined;
  readonly text: string;
  /** Completes a part of a configuration: returns the text to check, and the number of lines before the part. */
  readonly whole?: ((text: string) => { readonly text: string; readonly linesBefore: number }) | undefined;
}

/** Returns the problems that the service finds in a text, soon after each change. Lines are those of this text. */
export function useCheck({ component, configuration, text, whole = isWhole }: Checked): Check {
  const [check, setCheck] = useState<Check>({ problems: [], isAsking: true });
  useEffect(() => {
    if (isMissing) {
      setCheck({ problems: [], isAsking: false, failure: MISSING });
      return undefined;
    }
    const own = new AbortController();
    setCheck((before) => ({ ...before, isAsking: true }));
    const timer = setTimeout(
      () => {
        const { text: sent, linesBefore } = whole(text);
        client()
          .configurations(component)
          .validate(sent, { configuration, signal: own.signal })
          .then(
            (found) => {
              const problems = found.flatMap((problem) => placed(problem, linesBefore));
              setCheck({ problems, isAsking: false });
            },
            (error: unknown) => {
              if (own.signal.aborted) return;
              isMissing ||= error instanceof StorageError && error.code === 'storage.notFound';
              setCheck({
                problems: [],
                isAsking: false,
                failure: isMissing ? MISSING : wordsOf(error).message,
              });
            },
          );
      },
      text.length > LONG ? 3 * PAUSE_MS : PAUSE_MS,
    );
    return () => {
      clearTimeout(timer);
      own.abort();
    };
  }, [component, configuration, text]);
  return check;
}

const isWhole: NonNullable<Checked['whole']> = (text) => ({ text, linesBefore: 0 });

/** Places a problem in the edited text; of a problem outside it, only the fact that there is one. */
function placed(problem: ConfigurationProblem, linesBefore: number): ConfigurationProblem[] {
  if (linesBefore === 0) return [problem];
  const path = problem.path.replace(/^rows\[0\]\.configuration\.?/, '');
  const { line, column, ...rest } = problem;
  if (line === undefined || line <= linesBefore) return [{ ...rest, path }];
  return [{ ...rest, path, line: line - linesBefore, ...(column === undefined ? {} : { column }) }];
}
