import { readTime } from '../../../storage/protocol/read-time.ts';
import type { MappingNode } from './entry.ts';

/** One entry of `storage.input.files`. */
export interface InputFileMapping {
  readonly entry: MappingNode;
  /** Any of them. */
  readonly tags: readonly string[];
  /** All of them. */
  readonly include: readonly string[];
  /** None of them. */
  readonly exclude: readonly string[];
  readonly query: string | undefined;
  /** Exactly these files; nothing else chooses then. */
  readonly fileIds: readonly number[];
  readonly isOfRun: boolean;
  readonly limit: number;
  /** Only files that came after those of the last successful run. */
  readonly isAdaptive: boolean;
  /** Milliseconds since 1970. */
  readonly createdSince: number | undefined;
  readonly processedTags: readonly string[];
  readonly mayOverwrite: boolean;
  /** Name of this choice in the state. */
  readonly stateTags: readonly StateTag[];
}

export interface StateTag {
  readonly name: string;
  readonly match?: 'exclude' | 'include';
}

const DEFAULT_LIMIT = 10;

/** Reads the mappings of the files to fetch. */
export function readFileMappings(input: MappingNode, nowMs: number): readonly InputFileMapping[] {
  return input.nodes('files').map((entry) => readFiles(entry, nowMs));
}

function readFiles(entry: MappingNode, nowMs: number): InputFileMapping {
  const tags = entry.texts('tags');
  const matched = entry.node('source').nodes('tags').map(readTag);
  const query = entry.text('query');
  const ids = entry.texts('file_ids');
  const since = entry.text('changed_since');
  const isAdaptive = since === 'adaptive';
  checkChoice(entry, { tags, matched, query, ids, since });
  return {
    entry,
    tags,
    include: matched.filter(({ match }) => match === 'include').map(({ name }) => name),
    exclude: matched.filter(({ match }) => match === 'exclude').map(({ name }) => name),
    query,
    fileIds: ids.flatMap((text, i) => readId(entry, text, i)),
    isOfRun: entry.flag('filter_by_run_id', false),
    limit: entry.whole('limit') || DEFAULT_LIMIT,
    isAdaptive,
    createdSince: since === undefined || isAdaptive ? undefined : readSince(entry, since, nowMs),
    processedTags: entry.texts('processed_tags'),
    mayOverwrite: entry.flag('overwrite', true),
    stateTags: tags.length > 0 ? tags.map((name) => ({ name })) : matched,
  };
}

function readTag(entry: MappingNode): Required<StateTag> {
  const name = entry.text('name') ?? '';
  if (name === '') entry.wrong('name', '`name` is missing.', 'It is the name of a tag.');
  const match = entry.text('match') ?? 'include';
  if (match === 'include' || match === 'exclude') return { name, match };
  entry.wrong('match', `“${match}” is no way to match.`, 'Write `include` or `exclude`.');
  return { name, match: 'include' };
}

function readId(entry: MappingNode, text: string, index: number): number[] {
  if (/^\d{1,15}$/.test(text)) return [Number(text)];
  entry.wrong(`file_ids[${index}]`, `“${text}” is no id of a file.`);
  return [];
}

interface Choice {
  readonly tags: readonly string[];
  readonly matched: readonly StateTag[];
  readonly query: string | undefined;
  readonly ids: readonly string[];
  readonly since: string | undefined;
}

function checkChoice(entry: MappingNode, { tags, matched, query, ids, since }: Choice): void {
  const isChosen = tags.length > 0 || matched.length > 0 || query !== undefined;
  if (!isChosen && ids.length === 0)
    entry.wrong(
      'tags',
      'Nothing says which files are meant.',
      'Give `tags`, `source.tags`, `query` or `file_ids`.',
    );
  if (tags.length > 0 && matched.length > 0)
    entry.wrong('source.tags', '`tags` and `source.tags` exclude each other.', 'Keep `source.tags`.');
  if (ids.length > 0 && (isChosen || since !== undefined))
    entry.wrong('file_ids', '`file_ids` stands alone: tags, a query or a time add nothing to it.');
  if (since === 'adaptive' && query !== undefined)
    entry.wrong(
      'changed_since',
      '“adaptive” cannot be used with `query`: the state remembers files by their tags.',
      'Choose the files by tags.',
    );
}

function readSince(entry: MappingNode, text: string, nowMs: number): number | undefined {
  const time = readTime(text, nowMs);
  if (time === undefined)
    entry.wrong(
      'changed_since',
      `“${text}” is no time.`,
      'Write a date, a Unix time, an offset such as “-2 days”, or “adaptive”.',
    );
  return time?.getTime();
}
