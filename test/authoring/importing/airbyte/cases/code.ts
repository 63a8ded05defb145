import { API, stream, type MockAnswer, type Part, type TwoRuns } from '../../support/two-runs.ts';

const by = (name: string, more: Part = {}): Part =>
  stream('items', '/a', {
    requester: {
      authenticator: { type: 'CustomAuthenticator', class_name: `source_shop.components.${name}`, ...more },
    },
  });

const rows: MockAnswer = ({ pathname }) =>
  pathname === '/login' ? { token: { key: 'T', kind: 'Token' }, lasts: 3600 } : [{ id: 1 }];
const both = (...lines: readonly string[]): TwoRuns['asks'] => [lines, lines];

/** Components that are classes of Python. */
export const CODE_CASES: readonly TwoRuns[] = [
  {
    name: 'a header that is made of a setting',
    stream: by('Keyed'),
    code: `
from airbyte_cdk.sources.declarative.auth.declarative_authenticator import DeclarativeAuthenticator

PREFIX = "Key"

class Keyed(DeclarativeAuthenticator):
    """Puts the key into the header."""
    config: Config

    @property
    def auth_header(self) -> str:
        return "Authorization"

    @property
    def token(self) -> str:
        return f"{PREFIX} {self.config['account']['key']}"
`,
    settings: { account: { key: 'k' } },
    api: rows,
    asks: both('GET /a Key k'),
  },
  {
    name: 'a login whose token is kept',
    stream: by('Session', { user: "{{ config['user'] }}", secret: "{{ config['pass'] }}" }),
    code: `
import time
import requests
from airbyte_cdk.sources.declarative.auth.declarative_authenticator import NoAuth
from airbyte_cdk.sources.declarative.interpolation import InterpolatedString

@dataclass
class Session(NoAuth):
    config: Config
    user: Union[InterpolatedString, str]
    secret: Union[InterpolatedString, str]
    _token = None
    _kind = None
    _made = 0

    def __post_init__(self, parameters):
        self._user = InterpolatedString.create(self.user, parameters=parameters).eval(self.config)
        self._secret = InterpolatedString.create(self.secret, parameters=parameters).eval(self.config)

    def __call__(self, request):
        if not self._token or time.time() - self._made > 600:
            self._token, self._kind = self.login()
        request.headers.update({"Authorization": f"{self._kind} {self._token}"})
        return request

    def login(self):
        self._made = time.time()
        try:
            body = {"user": self._user, "pass": self._secret}
            answer = requests.post("${API}/login", json=body, headers={"Content-Type": "application/json"})
            if answer.status_code != 200:
                raise ValueError(answer.text)
        except Exception as error:
            raise ValueError(f"no login: {error}")
        found = answer.json()["token"]
        return found["key"], found.get("kind")
`,
    settings: { user: 'u', pass: 'p' },
    api: rows,
    asks: both('GET /a Token T', 'POST /login application/json {"user":"u","pass":"p"}'),
  },
  {
    name: 'one of several, by a setting',
    stream: by('Either', {
      key: { type: 'BearerAuthenticator', api_token: "{{ config['key'] }}" },
      basic: { type: 'BasicHttpAuthenticator', username: "{{ config['user'] }}", password: 'x' },
    }),
    code: `
from airbyte_cdk.sources.declarative.auth.declarative_authenticator import DeclarativeAuthenticator

class Either(DeclarativeAuthenticator):
    def __new__(cls, key, basic, config, *args, **kwargs):
        if config["how"] == "key":
            return key
        elif not config.get("user") and config.get("key"):
            raise Exception("no user")
        return basic
`,
    settings: { how: 'other', key: 'k', user: 'u' },
    api: rows,
    asks: both('GET /a Basic dTp4'),
  },
  {
    name: 'a transformation leaves the rows as many as they are',
    stream: stream('items', '/a', {
      transformations: [{ type: 'CustomTransformation', class_name: 'source_shop.components.Emptied' }],
    }),
    code: `
from airbyte_cdk.sources.declarative.transformations import RecordTransformation

class Emptied(RecordTransformation):
    def transform(self, record, config=None, stream_state=None, stream_slice=None):
        record["note"] = record.pop("remark", None)
        for key, value in record.items():
            if value == "-":
                record[key] = None
        return record
`,
    outcome: 'equal rows, other columns',
    api: rows,
    asks: both('GET /a'),
    ids: [['1'], ['1']],
  },
];
