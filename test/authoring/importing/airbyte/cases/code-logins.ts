import { API, stream, type MockAnswer, type Part, type TwoRuns } from '../../support/two-runs.ts';

const by = (name: string, more: Part = {}): Part =>
  stream('items', '/a', {
    requester: {
      authenticator: { type: 'CustomAuthenticator', class_name: `source_shop.components.${name}`, ...more },
    },
  });

const oauth: Part = {
  token_refresh_endpoint: `${API}/login`,
  client_id: "{{ config['user'] }}",
  client_secret: "{{ config['pass'] }}",
  refresh_token: "{{ config['again'] }}",
};
const settings: Part = { user: 'u', pass: 'p', again: 'r' };

const rows: MockAnswer = ({ pathname }) =>
  pathname === '/login' ? { access_token: 'T', expires_in: 3600, pass: { key: 'K', ends: 60 } } : [{ id: 1 }];
const both = (...lines: readonly string[]): TwoRuns['asks'] => [lines, lines];

const FORM = 'POST /login application/x-www-form-urlencoded';
const IMPORTS = `
import base64
import time
from dataclasses import dataclass
import jwt
import requests
from airbyte_cdk.sources.declarative.auth import DeclarativeOauth2Authenticator
from airbyte_cdk.sources.declarative.auth.declarative_authenticator import DeclarativeAuthenticator
from airbyte_cdk.sources.declarative.types import Config
`;

/** Authenticators in Python that ask for a token by OAuth. */
export const CODE_LOGIN_CASES: readonly TwoRuns[] = [
  {
    name: 'OAuth with another word in front of its token',
    stream: by('Named', oauth),
    code: `${IMPORTS}
@dataclass
class Named(DeclarativeOauth2Authenticator):
    def get_auth_header(self):
        return {"Authorization": f"Shop {self.get_access_token()}"}
`,
    settings,
    api: rows,
    asks: both(
      'GET /a Shop T',
      `${FORM} client_id=u&client_secret=p&grant_type=refresh_token&refresh_token=r`,
    ),
  },
  {
    name: 'OAuth that asks for its token in its own way',
    stream: by('Asking', { ...oauth, grant_type: 'password' }),
    code: `${IMPORTS}
@dataclass
class Asking(DeclarativeOauth2Authenticator):
    def get_refresh_request_body(self):
        return {"grant_type": "swap", "swap": self.get_refresh_token()}

    def refresh_access_token(self):
        try:
            answer = requests.request(
                method="POST",
                url=self.get_token_refresh_endpoint(),
                data=self.get_refresh_request_body(),
                auth=(self.get_client_id(), self.get_client_secret()),
            )
            answer.raise_for_status()
            found = answer.json()["pass"]
            return found["key"], found["ends"]
        except Exception as e:
            raise Exception(f"no token: {e}") from e
`,
    settings,
    api: rows,
    asks: both('GET /a Bearer K', `${FORM} grant_type=swap&swap=r Basic dTpw`),
  },
  {
    name: 'OAuth with a body and headers of its own',
    stream: by('Bodied', {
      ...oauth,
      access_token_name: 'access_token',
      refresh_request_body: { shop: "{{ config['user'] }}1", grant_type: 'never' },
    }),
    code: `${IMPORTS}
@dataclass
class Bodied(DeclarativeOauth2Authenticator):
    def get_refresh_request_headers(self):
        pair = base64.b64encode(f"{self.get_client_id()}:{self.get_client_secret()}".encode()).decode()
        return {"Authorization": f"Basic {pair}"}
`,
    settings,
    api: rows,
    asks: both('GET /a Bearer T', `${FORM} grant_type=refresh_token&refresh_token=r&shop=u1 Basic dTpw`),
  },
  // airbyte-cdk asks for a token before each request
  {
    name: 'a signed token in place of a secret',
    stream: by('Signing'),
    code: `${IMPORTS}
@dataclass
class Signing(DeclarativeAuthenticator):
    config: Config

    @property
    def auth_header(self):
        return "Authorization"

    @property
    def token(self):
        now = int(time.time())
        claims = {"iss": self.config["user"], "aud": "login", "iat": now, "nbf": now, "exp": now + 300}
        signed = jwt.encode(claims, self.config["pass"], algorithm="HS256", headers={"kid": "k1"})
        answer = requests.post(
            "${API}/login",
            data={
                "grant_type": "client_credentials",
                "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
                "client_assertion": signed,
                "scope": f"read:{self.config['again']}",
            },
        )
        return f"Shop {answer.json()['access_token']}"
`,
    settings,
    api: rows,
    asks: both(
      'GET /a Shop T',
      `${FORM} client_assertion={"aud":"login","exp":1719837300,"iat":1719837000,"iss":"u","nbf":1719837000}&client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer&grant_type=client_credentials&scope=read:r`,
    ),
  },
  // airbyte-cdk 4.6.2; versions since 6.33 do not call that method
  {
    name: 'OAuth whose request for a token is sent by the class',
    stream: by('Sending', { ...oauth, grant_type: 'client_credentials', refresh_token: undefined }),
    code: `${IMPORTS}
import logging
import backoff

logger = logging.getLogger("airbyte")

@dataclass
class Sending(DeclarativeOauth2Authenticator):
    def get_headers(self):
        pair = base64.b64encode(bytes(f"{self.get_client_id()}:{self.get_client_secret()}", "utf-8")).decode("utf-8")
        return {"Authorization": f"Basic {pair}"}

    @backoff.on_exception(backoff.expo, requests.exceptions.ConnectionError, max_tries=2)
    def _get_refresh_access_token_response(self):
        try:
            address = self.get_token_refresh_endpoint()
            body = self.build_refresh_request_body()
            logger.info(f"asks {address}")
            response = requests.request(method="POST", url=address, data=body, headers=self.get_headers())
            self._log_response(response)
            response.raise_for_status()
            answer = response.json()
            self.access_token = answer.get("access_token")
            return response.json()
        except Exception as error:
            raise Exception(f"no token: {error}") from error
`,
    settings,
    api: rows,
    asks: both(
      'GET /a Bearer T',
      `${FORM} client_id=u&client_secret=p&grant_type=client_credentials Basic dTpw`,
    ),
  },
  // airbyte-cdk 7.39.1
  {
    name: 'OAuth whose class has a method that nothing calls',
    stream: by('Unasked', { ...oauth, grant_type: 'client_credentials', refresh_token: undefined }),
    more: { version: '6.33.0' },
    code: `${IMPORTS}
class Unasked(DeclarativeOauth2Authenticator):
    def _get_refresh_access_token_response(self):
        return requests.post("https://elsewhere.example/token", auth=(self.config["user"], self.config["pass"])).json()
`,
    settings,
    api: rows,
    asks: both('GET /a Bearer T', `${FORM} client_id=u&client_secret=p&grant_type=client_credentials`),
  },
];
