import { useState } from 'preact/hooks';
import { client, type Run, type RunProblem } from '../../data/client.ts';
import { invalidate, useAction } from '../../data/query.ts';
import { Link } from '../../route/link.tsx';
import { at, navigate } from '../../route/router.ts';
import { Button } from '../../ui/button.tsx';
import { FormDialog } from '../../ui/dialog.tsx';
import { TextArea } from '../../ui/field.tsx';
import { toast } from '../../ui/toast.tsx';
import { By, Text } from '../../ui/values.tsx';

/** Tells whether a run ended with a doubt that nobody has accepted yet. */
export const isInDoubt = ({ status, verdict, error, accepted }: Run): boolean =>
  accepted === undefined &&
  (error?.code === 'run.doubtful' || (status === 'success' && verdict === 'doubtful'));

/** Tells whether runs went wrong by a doubt. */
export const isDoubt = ({ kind, error }: Pick<RunProblem, 'error' | 'kind'>): boolean =>
  kind === 'doubtful' || error.code === 'run.doubtful';

/** Asks why the doubt of runs is accepted. */
export function AcceptForm({
  runs,
  isBusy,
  error,
  onAccept,
  onClose,
}: {
  /** How many there are. */
  readonly runs: number;
  readonly isBusy: boolean;
  readonly error: unknown;
  readonly onAccept: (because: string) => void;
  readonly onClose: () => void;
}) {
  const [because, setBecause] = useState('');
  const isOne = runs === 1;
  return (
    <FormDialog
      title={isOne ? 'Accept the doubt?' : `Accept the doubts of ${runs} runs?`}
      action={isOne ? 'Accept the doubt' : 'Accept the doubts'}
      isReady={because.trim() !== ''}
      isBusy={isBusy}
      error={error}
      onSubmit={() => onAccept(because.trim())}
      onClose={onClose}
    >
      <p>
        {isOne
          ? 'What the run held back is loaded into its tables, without asking the API again, and it is no failure any longer.'
          : 'What these runs held back is loaded into their tables, without asking the API again, and they are no failures any longer.'}
      </p>
      <TextArea
        label="Why the tables are good all the same"
        hint="It goes into the report: who looks at the run later finds it there."
        rows={3}
        value={because}
        onInput={setBecause}
      />
    </FormDialog>
  );
}

/** Accepts the doubt of a run, and goes to the run that loads what it held back. */
export function AcceptDoubt({ run }: { readonly run: Run }) {
  const [isAsking, setAsking] = useState(false);
  const action = useAction(async (because: string) => {
    const { id } = await client().runs.accept(run.id, { because });
    setAsking(false);
    toast('The doubt is accepted');
    await invalidate('runs');
    if (id !== run.id) navigate(at`/runs/${id}`);
  });
  return (
    <>
      <Button icon="check" onPress={() => setAsking(true)}>
        Accept the doubt
      </Button>
      {isAsking && (
        <AcceptForm
          runs={1}
          isBusy={action.isRunning}
          error={action.error}
          onAccept={(because) => void action.run(because)}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}

/** Tells who accepted the doubt of a run, and why; and of a run that loads what another one held back, which one. */
export function Acceptance({ run: { accepted, accepts } }: { readonly run: Run }) {
  return (
    <>
      {accepted !== undefined && (
        <p>
          Its doubt was accepted
          {accepted.creatorToken === undefined ? (
            ' by the configuration'
          ) : (
            <>
              {' by '}
              <By token={accepted.creatorToken} />
            </>
          )}
          : “<Text>{accepted.because}</Text>”.
          {accepted.run !== undefined && (
            <>
              {' '}
              <Link to={at`/runs/${accepted.run}`}>Run {accepted.run}</Link> loaded what it held back.
            </>
          )}
        </p>
      )}
      {accepts !== undefined && (
        <p>
          It loads what <Link to={at`/runs/${accepts.run}`}>run {accepts.run}</Link> held back, and asks the
          API for nothing: “<Text>{accepts.because}</Text>”.
        </p>
      )}
    </>
  );
}
