import type { FoundList } from '../../data/client.ts';
import { Badge } from '../../ui/states.tsx';
import { Button } from '../../ui/button.tsx';
import { countText, Text } from '../../ui/values.tsx';

/** Lists the lists of a file with several; a click probes another one. */
export function Choices({
  choices,
  isBusy,
  onChoose,
}: {
  readonly choices: FoundList['choices'];
  readonly isBusy: boolean;
  readonly onChoose: (what: string) => void;
}) {
  if (choices.length < 2) return null;
  return (
    <section class="card new-card stack" aria-labelledby="new-choices">
      <h2 id="new-choices">Lists in the file ({countText(choices.length)})</h2>
      <p class="muted">Each can be a source. Choose another one, and that is looked at instead.</p>
      <div class="trial-scroll new-lists" tabIndex={0} role="region" aria-label="Lists in the file">
        <ul>
          {choices.map(({ what, rows, isTaken }) => (
            <li key={what} class="new-choose">
              <span class="new-grow">
                <span class="mono trial-choice-url">
                  <Text>{what}</Text>
                </span>{' '}
                <span class="muted small">
                  {countText(rows)} {rows === 1 ? 'row' : 'rows'} when it was recorded
                </span>
              </span>
              {isTaken ? (
                <Badge tone="active">this one</Badge>
              ) : (
                <Button isDisabled={isBusy} onPress={() => onChoose(what)}>
                  Look at this<span class="visually-hidden"> list: {what}</span>
                </Button>
              )}
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}
