import { RunError } from '../lib/errors.ts';
import { openTarget } from '../service/open/open-target.ts';
import { flag, valued, type Command, type Io } from './command.ts';
import { countArg, logOptions, openLog } from './shared.ts';
import { storedArg } from './stored-arg.ts';

export const loginCommand: Command = {
  name: 'login',
  describe: 'Log in to an API as a person, in the browser, and keep the login encrypted for runs',
  options: {
    data: valued(
      'DIR',
      'The data folder: it holds config.json. The current one by default; with --component, runs/COMPONENT/CONFIG',
    ),
    row: valued('ID', 'The row whose login is made; the first one by default'),
    'no-browser': flag('Only print the address, for a browser on another machine'),
    timeout: valued('SECONDS', 'How long to wait for the person', { default: '300' }),
    storage: valued('DIR|URL', 'The storage that keeps the configuration, with --component and --config'),
    component: valued('ID', 'Log in for a configuration that the storage keeps'),
    config: valued('ID', 'Id of that configuration'),
    branch: valued('ID', 'Its development branch'),
    ...logOptions,
  },
  examples: [
    ['gex login --data my-api', 'Open the browser, and keep the login in my-api/in'],
    ['gex login --data my-api --no-browser', 'Print the address, and paste the one that comes back'],
  ],
  async run(args, io) {
    const log = await openLog(args, io);
    const timeoutMs = (countArg(args, 'timeout') ?? 300) * 1000;
    const target = await openTarget({
      dataFolder: args.text('data'),
      storage: args.text('storage'),
      stored: storedArg(args),
      needsStorage: false,
      log,
      secrets: io.secrets,
      signal: io.signal,
    });
    try {
      const { login } = await import('../runner/login.ts');
      const results = await login({
        ...target.options,
        row: args.text('row'),
        show: (address, { isPasted }) => showLogin(address, isPasted, args.isSet('no-browser'), io),
        pasted: async (signal) => await readAddress(signal),
        timeoutMs,
        log,
        secrets: io.secrets,
        signal: io.signal,
      });
      for (const { place, hasRefreshToken, renewAt } of results) {
        io.print(`Logged in. The login is kept encrypted in ${place}.`);
        if (!hasRefreshToken)
          log.warn(
            `The provider gave no refresh token: ${renewAt === undefined ? 'it did not say how long the login holds' : `the login ends at ${new Date(renewAt * 1000).toISOString()}`}. Many give one for the scope "offline_access", or for "authorizationParams": {"access_type": "offline", "prompt": "consent"}`,
          );
      }
      return 0;
    } finally {
      await target.close();
    }
  },
};

/** Shows the address of the login, and opens it unless it is only printed. */
export function showLogin(address: string, isPasted: boolean, isPrinted: boolean, io: Io): void {
  io.note(`Log in here:\n\n  ${address}\n`);
  const canPaste = process.stdin.isTTY;
  if (isPasted && !canPaste)
    throw new RunError(
      'command.invalid',
      'The provider sends the browser to another place than this machine, so its address has to be pasted, and stdin is no terminal.',
      {
        hint: 'Run the command in a terminal, or register a loopback address such as http://127.0.0.1:8765/callback as "redirectUri".',
      },
    );
  if (canPaste)
    io.note('If the browser does not come back here by itself, paste the address that it shows at the end:');
  if (!isPrinted) openBrowser(address);
}

/** Opens the browser by the program of the system; if there is none, the address is printed anyway. */
function openBrowser(address: string): void {
  const [command, ...words] =
    process.platform === 'darwin'
      ? ['open', address]
      : process.platform === 'win32'
        ? ['rundll32', 'url.dll,FileProtocolHandler', address]
        : ['xdg-open', address];
  const { spawn } = process.getBuiltinModule('node:child_process');
  const child = spawn(command ?? '', words, { stdio: 'ignore', detached: true });
  child.on('error', () => undefined);
  child.unref();
}

/** Reads the address that the user pastes into the terminal; never resolves without a terminal on stdin. */
export async function readAddress(signal: AbortSignal): Promise<string> {
  if (!process.stdin.isTTY) return await new Promise<string>(() => {});
  const { createInterface } = process.getBuiltinModule('node:readline/promises');
  const lines = createInterface({ input: process.stdin });
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  try {
    return await lines.question('', { signal });
  } finally {
    lines.close();
  }
}
