import { useEffect, useState } from 'preact/hooks';
import { client, StorageError, type ConfigurationProblem } from '../../data/client.ts';
import { wordsOf } from '../../data/query.ts';
import { Icon } from '../../ui/icon.tsx';
import { Text } from '../../ui/values.tsx';
import type { Subject } from './subject.ts';

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

/** What the service says about a text, soon after it has changed. Lines are those of this text. */
export function useCheck(component: string, id: string, subject: Subject, text: string): Check {
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
        const { text: whole, linesBefore } = subject.whole(text);
        client()
          .configurations(component)
          .validate(whole, { configuration: id, signal: own.signal })
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
  }, [component, id, text]);
  return check;
}

/** In the text that is edited; of a problem outside of it, only that it is there. */
function placed(problem: ConfigurationProblem, linesBefore: number): ConfigurationProblem[] {
  if (linesBefore === 0) return [problem];
  const path = problem.path.replace(/^rows\[0\]\.configuration\.?/, '');
  const { line, column, ...rest } = problem;
  if (line === undefined || line <= linesBefore) return [{ ...rest, path }];
  return [{ ...rest, path, line: line - linesBefore, ...(column === undefined ? {} : { column }) }];
}

/** Everything that is wrong, each leading to its place. */
export function ProblemList({
  check,
  onGo,
}: {
  readonly check: Check;
  readonly onGo: (problem: ConfigurationProblem) => void;
}) {
  const { problems, isAsking, failure } = check;
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  return (
    <section class="card problems" aria-label="Problems">
      <p class="small muted" role="status">
        {failure ??
          (problems.length === 0
            ? isAsking
              ? 'Checking …'
              : 'No problem found.'
            : countWords(errors, problems.length - errors))}
      </p>
      {problems.length > 0 && (
        <ul>
          {problems.slice(0, 100).map((problem, index) => (
            <li key={index}>
              <button type="button" class="problem" onClick={() => onGo(problem)}>
                <span class={problem.severity === 'error' ? 'problem-error' : 'problem-warning'}>
                  <Icon name="alert" size={16} />
                  <span class="visually-hidden">{problem.severity}: </span>
                </span>
                <span>
                  <span class="mono small muted">
                    {problem.line !== undefined && `${problem.line}:${problem.column ?? 1} `}
                    <Text>{problem.path}</Text>
                  </span>
                  <br />
                  <Text>{problem.message}</Text>
                  {problem.hint !== undefined && (
                    <>
                      {' '}
                      <span class="muted">
                        <Text>{problem.hint}</Text>
                      </span>
                    </>
                  )}
                </span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function countWords(errors: number, warnings: number): string {
  return [...counted(errors, 'error'), ...counted(warnings, 'warning')].join(', ');
}

const counted = (number: number, word: string): string[] =>
  number === 0 ? [] : [`${number} ${word}${number === 1 ? '' : 's'}`];
