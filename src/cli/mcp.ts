import { RunError } from '../lib/errors.ts';
import { createReach } from '../engine/http/trust/reach.ts';
import { listed, valued, type Command } from './command.ts';
import { countArg, dataOption } from './shared.ts';

const MAX_REQUESTS = 500;

export const mcpCommand: Command = {
  name: 'mcp',
  describe: 'Let an assistant look at APIs, and write and try configurations, by the Model Context Protocol',
  options: {
    data: dataOption,
    host: listed(
      'HOST',
      'A host that may be asked (api.example.com, *.example.com), besides those of the configuration; may be repeated',
    ),
    variable: listed(
      'NAME',
      'A variable of the environment whose value a configuration may take by $env:NAME; may be repeated',
    ),
    'max-requests': valued('COUNT', 'Requests to APIs that may be made until it ends', {
      default: String(MAX_REQUESTS),
    }),
  },
  examples: [
    ['gex mcp --data my-api', 'Over a data folder, with the hosts and variables of its configuration'],
    [
      'gex mcp --data my-api --host api.example.com --variable API_TOKEN',
      'An API that no configuration names yet, and its token',
    ],
  ],
  async run(args, io) {
    const hosts = args.list('host');
    // refuses what is no rule
    createReach({ allow: hosts, deny: [], isNearDenied: false });
    const variables = args.list('variable');
    for (const name of variables)
      if (process.env[name] === undefined)
        throw new RunError('command.invalid', `--variable ${name}: $${name} is not set.`, {
          hint: `Set it where gex mcp is started, as in ${name}=… gex mcp --variable ${name}`,
        });
    const { serveMcp } = await import('./mcp/serve.ts');
    await serveMcp(
      {
        dataFolder: args.text('data') ?? '.',
        hosts,
        variables,
        maxRequests: countArg(args, 'max-requests') ?? MAX_REQUESTS,
      },
      io,
    );
    return 0;
  },
};
