import type { ToldError } from '../../data/client.ts';
import { Banner } from '../states.tsx';
import { Text } from '../values.tsx';

const SHOWN = 20;

/** Shows why a trial failed. */
export function TrialError({ error }: { readonly error: ToldError }) {
  const { problems = [], message } = error;
  const advice = trialAdvice(error);
  if (problems.length > 0)
    return (
      <Banner kind="bad">
        <p>The configuration has {problems.length === 1 ? 'a mistake' : `${problems.length} mistakes`}:</p>
        <ul class="trial-lines">
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
      <p class="trial-told">
        <Text>{message}</Text>
      </p>
      {advice !== undefined && <p class="small">{advice}</p>}
    </Banner>
  );
}

/** Describes what to do about a trial that failed, in terms of the controls beside it. */
function trialAdvice({ code, hint }: ToldError): string | undefined {
  if (code === 'replay.missing')
    return 'With this change the API is asked for something else than before. Ask it again, or take the change back.';
  if (code === 'workshop.late') return 'Save it and run it: a run may take as long as it needs.';
  if (code === 'auth.loginEnded') return 'Log in again above, and try again.';
  if (code === 'http.status') return 'Look at the login and the address, and try again.';
  return hint;
}
