/** Role of a curl option in the conversion to a job. */
export type CurlOptionRole =
  | 'method'
  | 'data'
  | 'dataRaw'
  | 'json'
  | 'dataUrlencode'
  | 'form'
  | 'formString'
  | 'header'
  | 'user'
  | 'bearer'
  /** AWS Signature Version 4. */
  | 'signature'
  /** A way to log in that is not possible here. */
  | 'scheme'
  | 'cookie'
  | 'agent'
  | 'url'
  | 'query'
  | 'asQuery'
  /** Signs of patterns in the address are sent as they are. */
  | 'literal'
  /** It changes nothing that a job could say: how curl shows, stores or repeats. */
  | 'ignored'
  /** It changes the connection: there is a key of the configuration for it, or none. */
  | 'reported'
  /** Its effect is not possible here. */
  | 'refused';

export interface CurlOption {
  readonly role: CurlOptionRole;
  readonly takesValue: boolean;
  /** For those reported or refused: what to do instead. */
  readonly hint?: string;
}

const TLS = 'Set caCertificate or #clientCertificate of `api`.';
const PROXY = 'Proxies are taken from HTTP_PROXY and HTTPS_PROXY, SSH tunnels from `sshProxy`.';
export const SCHEME = 'Choose the type of `api.authentication`.';
const LIMIT = 'See retryConfig and the timeouts of `api.http`.';

/** One line for each: role, whether a value follows, the spellings, and what to do instead. */
const TABLE: readonly (readonly [role: CurlOptionRole, takesValue: boolean, names: string, hint?: string])[] =
  [
    ['method', true, '-X --request'],
    ['data', true, '-d --data --data-ascii --data-binary'],
    ['dataRaw', true, '--data-raw'],
    ['json', true, '--json'],
    ['dataUrlencode', true, '--data-urlencode'],
    ['form', true, '-F --form'],
    ['formString', true, '--form-string'],
    ['header', true, '-H --header'],
    ['user', true, '-u --user'],
    ['bearer', true, '--oauth2-bearer'],
    ['cookie', true, '-b --cookie'],
    ['agent', true, '-A --user-agent'],
    ['url', true, '--url'],
    ['query', true, '--url-query'],
    ['asQuery', false, '-G --get'],
    ['literal', false, '-g --globoff'],
    [
      'ignored',
      true,
      '-e --referer -o --output -w --write-out -D --dump-header -c --cookie-jar --stderr --trace',
    ],
    [
      'ignored',
      true,
      '--trace-ascii --output-dir --parallel-max --keepalive-time --limit-rate -y -Y --max-redirs --max-filesize',
    ],
    [
      'ignored',
      false,
      '-s --silent -S --show-error -L --location --location-trusted -i --include --show-headers',
    ],
    ['ignored', false, '-v --verbose -f --fail --fail-with-body --fail-early --compressed -# --progress-bar'],
    [
      'ignored',
      false,
      '-N --no-buffer -q --disable -J --remote-header-name -O --remote-name --no-progress-meter',
    ],
    [
      'ignored',
      false,
      '-0 --http1.0 --http1.1 --http2 --http2-prior-knowledge --http3 -4 --ipv4 -6 --ipv6 --basic --styled-output',
    ],
    [
      'ignored',
      false,
      '-1 --tlsv1 --tlsv1.0 --tlsv1.1 --tlsv1.2 --tlsv1.3 -j --junk-session-cookies -Z --parallel --tcp-nodelay',
    ],
    [
      'ignored',
      false,
      '--no-keepalive --create-dirs --path-as-is --tr-encoding --post301 --post302 --post303 -R --remote-time',
    ],
    ['reported', false, '-k --insecure', `Certificates are always verified. ${TLS}`],
    [
      'reported',
      true,
      '--cacert --capath -E --cert --cert-type --key --key-type --pass --pinnedpubkey --ciphers',
      TLS,
    ],
    [
      'reported',
      true,
      '-x --proxy -U --proxy-user --preproxy --socks4 --socks4a --socks5 --socks5-hostname --proxy-header',
      PROXY,
    ],
    [
      'reported',
      true,
      '--resolve --connect-to --interface --dns-servers --unix-socket --doh-url',
      'Write the address into `baseUrl`.',
    ],
    ['reported', true, '-m --max-time --connect-timeout --retry --retry-delay --retry-max-time', LIMIT],
    ['reported', false, '--retry-all-errors --retry-connrefused', LIMIT],
    ['signature', true, '--aws-sigv4'],
    ['scheme', false, '--digest --ntlm --ntlm-wb --negotiate'],
    ['reported', false, '--anyauth', `It is not known here. ${SCHEME}`],
    ['reported', false, '-n --netrc --netrc-optional', SCHEME],
    ['reported', true, '--netrc-file', SCHEME],
    ['reported', true, '-K --config', 'Write the options of that file into the command.'],
    [
      'reported',
      true,
      '-r --range -C --continue-at -z --time-cond -t --telnet-option',
      'A job cannot say it.',
    ],
    ['refused', true, '-T --upload-file', 'An extractor reads; it uploads no files.'],
    ['refused', false, '-I --head', 'The answer to HEAD has no body to take rows from; leave it out.'],
    ['refused', false, '-: --next', 'Give one request at a time.'],
  ];

export const CURL_OPTIONS: ReadonlyMap<string, CurlOption> = new Map(
  TABLE.flatMap(([role, takesValue, names, hint]) =>
    names
      .split(' ')
      .map((name) => [name, { role, takesValue, ...(hint === undefined ? {} : { hint }) }] as const),
  ),
);
