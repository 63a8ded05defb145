import type { McpServer } from '@modelcontextprotocol/server';
import { fromJsonSchema } from '@modelcontextprotocol/server';
import type { Static, TObject } from 'typebox';
import { HIDDEN, type Secrets } from '../../lib/secrets.ts';
import { toldError } from '../../service/domain/builder/process/told-error.ts';
import type { ToldError } from '../../service/domain/builder/builder-types.ts';
import type { ToolCall, McpSession } from './session.ts';
import { ToldFailure } from './told-failure.ts';

/** A tool of the server. */
export interface ToolDefinition<T extends TObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: T;
  /** True when it sends requests to an API. */
  readonly asksApi: boolean;
  /** @returns text as it is, anything else as JSON */
  run(given: Static<T>, call: ToolCall): Promise<unknown>;
}

/** Adds a tool to a server. */
export type AddTool = (server: McpServer, session: McpSession) => void;

/** Most characters of an answer. */
const LETTERS = 40_000;

/** Defines a tool: its errors are answers with message and hint, its answers have no secret and an end. */
export function defineTool<T extends TObject>(tool: ToolDefinition<T>): AddTool {
  const { name, title, description, asksApi } = tool;
  const schema = fromJsonSchema<Static<T>>({ ...tool.input, additionalProperties: false });
  return (server, session) => {
    const inputSchema: typeof schema = {
      '~standard': {
        ...schema['~standard'],
        async validate(given) {
          const result = await schema['~standard'].validate(given);
          if (result.issues !== undefined)
            session.log.write(`${name}: refused, its arguments are not those of the tool`, {
              tool: name,
              outcome: 'command.invalid',
            });
          return result;
        },
      },
    };
    const annotations = { readOnlyHint: true, openWorldHint: asksApi };
    server.registerTool(name, { title, description, inputSchema, annotations }, async (given, context) => {
      const { secrets } = session;
      try {
        const answer = await session.call(name, given, context.mcpReq.signal, async (call) => {
          const found = await tool.run(given, call);
          return bounded(typeof found === 'string' ? secrets.redactMessage(found) : jsonOf(found, secrets));
        });
        return { content: [{ type: 'text', text: answer }] };
      } catch (error) {
        const text = bounded(
          errorText(error instanceof ToldFailure ? error.told : toldError(error, secrets)),
        );
        return { isError: true, content: [{ type: 'text', text }] };
      }
    });
  };
}

function errorText({ code, message, hint, problems }: ToldError): string {
  const lines = problems?.map(({ path, message: text }) => `- ${path}: ${text}`) ?? [];
  return [`${code}: ${message}`, ...lines, ...(hint === undefined ? [] : [`Hint: ${hint}`])].join('\n');
}

function jsonOf(value: unknown, secrets: Secrets): string {
  const text = JSON.stringify(value, (_key, each: unknown) => {
    if (typeof each === 'string') return secrets.redact(each);
    return typeof each === 'number' && secrets.holds(String(each)) ? HIDDEN : each;
  });
  return secrets.holds(text) ? secrets.redact(text) : text;
}

function bounded(text: string): string {
  if (text.length <= LETTERS) return text;
  const more = text.length - LETTERS;
  return `${text.slice(0, LETTERS).toWellFormed()}\n… ${more} more characters are left out: ask for less at once.`;
}
