import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { client, type Run, type RunLogLine } from '../../data/client.ts';
import { Checkbox, SearchField, Select } from '../../ui/field.tsx';
import { Badge, EmptyState, ErrorBanner, Skeleton, type Tone } from '../../ui/states.tsx';
import { countText, plural, Text } from '../../ui/values.tsx';
import { Button } from '../../ui/button.tsx';
import { useVirtual } from '../../ui/virtual.ts';
import { WholeText } from '../../ui/whole-text.tsx';
import { useIsNarrow } from '../../ui/narrow.ts';
import { isOver } from './words.tsx';

/** More lines are not in the page at once, however long a log is. */
const MOST = 20_000;
const PART = 5000;
const HEIGHT = 28;
/** Room for three lines of text. */
const NARROW_HEIGHT = 68;
const LONGEST = 500;

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
const TONES: Readonly<Record<string, Tone>> = { error: 'bad', warn: 'warn', debug: 'neutral' };

interface Lines {
  /** Lines of the log that stand before. */
  readonly first: number;
  readonly lines: readonly RunLogLine[];
  readonly isWhole: boolean;
}

/** Returns the end of a log, and follows it while it grows. */
function useLog(run: Run) {
  const { id } = run;
  const [state, setState] = useState<Lines>(() => beginning(Math.max(0, run.log.lines - MOST)));
  const [error, setError] = useState<unknown>();
  const next = state.first + state.lines.length;
  const isBehind = run.log.lines > next || (isOver(run) && !state.isWhole);
  useEffect(() => {
    if (!isBehind) return undefined;
    const gone = new AbortController();
    client()
      .runs.log(id, { offset: next, limit: PART }, { signal: gone.signal })
      .then(
        (part) => {
          setError(undefined);
          setState((now) => {
            const lines = [...now.lines, ...part.lines];
            const over = Math.max(0, lines.length - MOST);
            return { first: now.first + over, lines: lines.slice(over), isWhole: part.isEnded };
          });
        },
        (reason: unknown) => {
          if (!gone.signal.aborted) setError(reason);
        },
      );
    return () => gone.abort();
  }, [id, next, isBehind, run.log.lines]);
  return {
    ...state,
    error,
    isPending: isBehind && state.lines.length === 0,
    /** Goes back to before the lines that are here. */
    goBack: () => setState(beginning(Math.max(0, state.first - MOST))),
  };
}

const beginning = (first: number): Lines => ({ first, lines: [], isWhole: false });

export function Log({ run }: { readonly run: Run }) {
  const log = useLog(run);
  const [level, setLevel] = useState<(typeof LEVELS)[number]>('debug');
  const [search, setSearch] = useState('');
  const [isFollowing, setFollowing] = useState(!isOver(run));
  const [whole, setWhole] = useState<RunLogLine | undefined>();
  const scroll = useRef<HTMLDivElement>(null);
  const height = useIsNarrow() ? NARROW_HEIGHT : HEIGHT;
  const found = useMemo(() => {
    const least = LEVELS.indexOf(level);
    const text = search.trim().toLowerCase();
    return log.lines.filter(
      (line) =>
        LEVELS.findIndex((each) => each === line.level) >= least &&
        (text === '' || line.message.toLowerCase().includes(text)),
    );
  }, [log.lines, level, search]);
  const virtual = useVirtual({
    count: found.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => height,
    overscan: 12,
  });
  useLayoutEffect(() => virtual.measure(), [virtual, height]);
  useEffect(() => {
    if (isFollowing && found.length > 0) virtual.scrollToIndex(found.length - 1, { align: 'end' });
  }, [isFollowing, found.length, virtual]);
  return (
    <div class="stack">
      <div class="filters">
        <SearchField label="Search the log" value={search} onInput={setSearch} />
        <Select
          label="Level"
          isLabelHidden
          value={level}
          options={[
            { value: 'debug', text: 'All levels' },
            { value: 'info', text: 'Without debugging' },
            { value: 'warn', text: 'Warnings and errors' },
            { value: 'error', text: 'Errors' },
          ]}
          onChange={setLevel}
        />
        {!isOver(run) && <Checkbox label="Follow" isSwitch isChecked={isFollowing} onChange={setFollowing} />}
      </div>
      {log.error !== undefined && <ErrorBanner error={log.error} />}
      {log.first > 0 && (
        <div class="row muted small">
          {plural(log.first, 'earlier line')} {log.first === 1 ? 'is' : 'are'} not here.
          <Button onPress={log.goBack}>Show earlier lines</Button>
        </div>
      )}
      {log.isPending ? (
        <Skeleton />
      ) : found.length === 0 ? (
        <div class="card">
          <EmptyState
            icon="file"
            title={
              log.lines.length > 0
                ? 'No line is like that'
                : isOver(run)
                  ? 'The run has logged nothing'
                  : 'Nothing is logged yet'
            }
          >
            {log.lines.length > 0
              ? 'Search for something else, or show all levels.'
              : isOver(run)
                ? undefined
                : 'What the run logs appears here at once.'}
          </EmptyState>
        </div>
      ) : (
        <div
          ref={scroll}
          class="runs-log card"
          role="log"
          aria-label="Log"
          aria-live="off"
          tabIndex={0}
          onWheel={() => setFollowing(false)}
        >
          <div style={{ height: `${virtual.getTotalSize()}px` }}>
            {virtual.getVirtualItems().map(({ index, start }) => {
              const line = found[index];
              if (line === undefined) return null;
              return (
                <button
                  key={index}
                  type="button"
                  class="runs-line"
                  style={{ top: `${start}px`, height: `${height}px` }}
                  onClick={() => setWhole(line)}
                >
                  <span class="muted number">{clock(line.time)}</span>
                  {line.level === 'info' ? (
                    <span class="muted small">info</span>
                  ) : (
                    <Badge tone={TONES[line.level] ?? 'neutral'} isPlain>
                      {line.level}
                    </Badge>
                  )}
                  <span class="runs-message">
                    <Text>{line.message.slice(0, LONGEST)}</Text>
                  </span>
                </button>
              );
            })}
          </div>
        </div>
      )}
      {log.lines.length > 0 && (
        <p class="muted small" role="status">
          {found.length === log.lines.length
            ? plural(found.length, 'line')
            : `${countText(found.length)} of ${plural(log.lines.length, 'line')}`}
        </p>
      )}
      {whole !== undefined && (
        <WholeText
          title={`Log, ${clock(whole.time)}`}
          text={textOf(whole)}
          onClose={() => setWhole(undefined)}
        />
      )}
    </div>
  );
}

const CLOCK = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });

function clock(time: string): string {
  const at = Date.parse(time);
  return Number.isNaN(at) ? '–' : CLOCK.format(at);
}

function textOf({ level, time, message, ...facts }: RunLogLine): string {
  const more = Object.keys(facts).length === 0 ? '' : `\n\n${JSON.stringify(facts, undefined, 2)}`;
  return `${time} ${level}\n\n${message}${more}`;
}
