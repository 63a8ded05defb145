import type { ToldError } from '../../data/client.ts';
import { Banner } from '../../ui/states.tsx';
import { Text } from '../../ui/values.tsx';
import { trialAdvice } from './advice.ts';

const SHOWN = 20;

/** Shows why a trial failed. */
export function TrialError({ error }: { readonly error: ToldError }) {
  const { problems = [], message } = error;
  const advice = trialAdvice(error);
  if (problems.length > 0)
    return (
      <Banner kind="bad">
        <p>The configuration has {problems.length === 1 ? 'a mistake' : `${problems.length} mistakes`}:</p>
        <ul class="new-lines">
          {problems.slice(0, SHOWN).map(({ path, message: text, hint }, i) => (
            <li key={i}>
              <code>
                <Text>{path}</Text>
              </code>{' '}
              <Text>{hint === undefined ? text : `${text} ${hint}`}</Text>
            </li>
          ))}
        </ul>
      </Banner>
    );
  return (
    <Banner kind="bad">
      <p class="new-told">
        <Text>{message}</Text>
      </p>
      {advice !== undefined && <p class="small">{advice}</p>}
    </Banner>
  );
}
