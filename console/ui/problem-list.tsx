import type { Check } from '../data/check.ts';
import type { ConfigurationProblem } from '../data/client.ts';
import { Icon } from './icon.tsx';
import { Text } from './values.tsx';
import './problem-list.css';

/** Lists all problems, each linked to its place. */
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
