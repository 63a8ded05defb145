import type { McpServer } from '@modelcontextprotocol/server';
import { fromJsonSchema } from '@modelcontextprotocol/server';
import type { Static, TObject } from 'typebox';
import { HIDDEN, type Secrets } from '../../lib/secrets.ts';
import { meantAndKnown } from '../../lib/suggest.ts';
import { toldError } from '../../service/domain/builder/process/told-error.ts';
import type { ToldError } from '../../service/domain/builder/builder-types.ts';
import type { ToolCall, McpSession } from './session.ts';
import { shortenedJson } from './shortened.ts';
import { ToldFailure } from './told-failure.ts';

/** A tool of the server. */
export interface ToolDefinition<T extends TObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: T;
  /** Place of its work: here, at once; in a process of its own, two at a time; or there, and asks an API. */
  readonly works: 'here' | 'apart' | 'at an API';
  /** @returns text as it is, anything else as JSON */
  run(given: Static<T>, call: ToolCall): Promise<unknown>;
}

/** Adds a tool to a server. */
export type AddTool = (server: McpServer, session: McpSession) => void;

/** Most characters of an answer. */
const LETTERS = 40_000;

/** Defines a tool: its errors are answers with message and hint, its answers have no secret and an end. */
export function defineTool<T extends TObject>(tool: ToolDefinition<T>): AddTool {
  const { name, title, description, works } = tool;
  const known = Object.keys(tool.input.properties);
  const schema = fromJsonSchema<Static<T>>({ ...tool.input, additionalProperties: false });
  return (server, session) => {
    const inputSchema: typeof schema = {
      '~standard': {
        ...schema['~standard'],
        async validate(given) {
          const result = await schema['~standard'].validate(given);
          if (result.issues === undefined) return result;
          session.log.write(`${name}: refused, its arguments are not those of the tool`, {
            tool: name,
            outcome: 'command.invalid',
          });
          const unknown = unknownIn(given, known);
          return unknown === undefined ? result : { issues: [{ message: unknown }] };
        },
      },
    };
    const asksApi = works === 'at an API';
    // a POST may be more than a search
    const annotations = { readOnlyHint: !asksApi, destructiveHint: false, openWorldHint: asksApi };
    server.registerTool(name, { title, description, inputSchema, annotations }, async (given, context) => {
      const { secrets } = session;
      try {
        const about = { tool: name, given, isHere: works === 'here' };
        const answer = await session.call(about, context.mcpReq.signal, async (call) => {
          const found = await tool.run(given, call);
          return typeof found === 'string'
            ? [bounded(secrets.redactMessage(found))]
            : answerOf(found, secrets);
        });
        return { content: answer.map((text) => ({ type: 'text', text })) };
      } catch (error) {
        const text = bounded(
          errorText(error instanceof ToldFailure ? error.told : toldError(error, secrets)),
        );
        return { isError: true, content: [{ type: 'text', text }] };
      }
    });
  };
}

/** Names an argument that a tool does not have, which the schema alone does not. */
function unknownIn(given: unknown, known: readonly string[]): string | undefined {
  const names = typeof given === 'object' && given !== null ? Object.keys(given) : [];
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return undefined;
  const hint = known.length === 0 ? 'It takes none.' : meantAndKnown(unknown, known);
  return `“${unknown.slice(0, NAME_LETTERS)}” is no argument of it. ${hint}`;
}

const NAME_LETTERS = 100;

function errorText({ code, message, hint, problems }: ToldError): string {
  const lines = problems?.map(({ path, message: text }) => `- ${path}: ${text}`) ?? [];
  return [`${code}: ${message}`, ...lines, ...(hint === undefined ? [] : [`Hint: ${hint}`])].join('\n');
}

/** Returns a value as JSON, and that it is shortened where it is. */
function answerOf(value: unknown, secrets: Secrets): readonly string[] {
  const whole = JSON.stringify(value, (_key, each: unknown) => {
    if (typeof each === 'string') return secrets.redact(each);
    return typeof each === 'number' && secrets.holds(String(each)) ? HIDDEN : each;
  });
  const redacted = (text: string): string => (secrets.holds(text) ? secrets.redact(text) : text);
  if (whole.length <= LETTERS) return [redacted(whole)];
  const short = shortenedJson(whole, LETTERS);
  return short === undefined ? [bounded(redacted(whole))] : [redacted(short), SHORTENED];
}

function bounded(text: string): string {
  if (text.length <= LETTERS) return text;
  const more = text.length - LETTERS;
  return `${text.slice(0, LETTERS).toWellFormed()}\n… ${more} more characters are left out: ask for less at once.`;
}

const SHORTENED =
  'Long texts and lists are shortened, each with a mark that begins with “…”: ask for less at once.';
