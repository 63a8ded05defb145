import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { ImportReport, StreamReport } from '../../../../src/authoring/importing/report.ts';
import { run, silentLog } from '../../../../src/index.ts';
import { startApi } from '../../actions/support.ts';
import { dataFolder, filesOf, gexHere, type Api } from '../../../cli/support.ts';
import { startShop } from './shop.ts';

let api: Api;
beforeAll(async () => {
  api = await startShop();
});

interface Ran {
  readonly stream: StreamReport;
  readonly ids: readonly string[];
  readonly asked: readonly string[];
}

async function imported(script: string): Promise<Ran> {
  const folder = dataFolder();
  const file = path.join(folder, 'shop.sh');
  writeFileSync(
    file,
    script.replaceAll('API/', api.url).replaceAll('LOGIN', "-H 'Authorization: Bearer t-1'"),
  );
  const out = path.join(folder, 'data');
  const { stdout, stderr } = await gexHere('import', 'curl', file, '--out', out, '--json');
  if (stdout === '') throw new Error(stderr);
  const [stream] = (JSON.parse(stdout) as ImportReport).streams;
  if (stream === undefined) throw new Error('a stream is imported');
  if (stream.outcome === 'not') return { stream, ids: [], asked: [] };
  expect(filesOf(out)['config.json']).not.toContain('t-1');
  const before = api.seen.length;
  const variable = /\$env:(\w+)/.exec(filesOf(out)['config.json'] ?? '')?.[1] ?? '';
  await run({ dataFolder: out, log: silentLog, environment: { [variable]: 't-1' } });
  const tables = Object.entries(filesOf(out)).filter(
    ([name]) => /tables\/[^/]+$/.test(name) && !name.endsWith('.manifest'),
  );
  const ids = tables.flatMap(([, text]) =>
    text
      .split('\n')
      .slice(1, -1)
      .map((line) => line.split(',')[0]?.replaceAll('"', '') ?? ''),
  );
  return { stream, ids, asked: api.seen.slice(before) };
}

const ALL = ['1', '2', '3', '4', '5', '6', '7'];

describe('a script with a loop around curl', () => {
  test.each([
    [
      'seq',
      `for p in $(seq 1 3); do curl -s "API/links?page=$p" LOGIN | jq '.[]'; done`,
      ['GET /links?page=1', 'GET /links?page=2', 'GET /links?page=3'],
    ],
    [
      'steps',
      `for o in $(seq 0 3 6); do
         curl -s LOGIN \\
           "API/offset?limit=3&offset=\${o}" | jq -c '.[]' >> rows.jsonl
         sleep 1
       done`,
      ['GET /offset?limit=3&offset=0', 'GET /offset?limit=3&offset=3', 'GET /offset?limit=3&offset=6'],
    ],
    [
      'a head with three parts, and an address in a variable',
      `export BASE="API/"
       TOKEN=t-1
       for ((o=0; o<9; o+=3)); do
         curl -s -H "Authorization: Bearer $TOKEN" "\${BASE}offset?limit=3&offset=$o" | jq '.[]'
       done`,
      ['GET /offset?limit=3&offset=0', 'GET /offset?limit=3&offset=3', 'GET /offset?limit=3&offset=6'],
    ],
    [
      'a token by jq',
      `cursor=""
       while :; do
         resp=$(curl -s "API/token?page=$cursor" LOGIN)
         echo "$resp" | jq -c '.items[]'
         cursor=$(echo "$resp" | jq -r '.next_page // empty')
         [ -z "$cursor" ] && break
       done`,
      ['GET /token', 'GET /token?page=2', 'GET /token?page=3'],
    ],
    [
      'an address by jq',
      `url="API/hateoas"
       while [ -n "$url" ] && [ "$url" != "null" ]; do
         page=$(curl -s LOGIN "$url")
         echo "$page" | jq '.items[]'
         url=$(jq -r '.next' <<< "$page")
       done`,
      ['GET /hateoas', 'GET /hateoas?page=2', 'GET /hateoas?page=3'],
    ],
    [
      'numbers until a flag',
      `page=1
       more=true
       while [ "$more" = "true" ]; do
         r=$(curl -s LOGIN "API/pages?page=$page")
         echo "$r" | jq '.items[]'
         more=$(echo "$r" | jq -r '.hasMore')
         page=$((page + 1))
       done`,
      ['GET /pages?page=1', 'GET /pages?page=2', 'GET /pages?page=3'],
    ],
    [
      'numbers until no rows',
      `page=1
       while true; do
         r=$(curl -s LOGIN "API/links?page=$page")
         n=$(echo "$r" | jq 'length')
         if [ "$n" -eq 0 ]; then
           break
         fi
         echo "$r" | jq '.[]'
         ((page++))
       done`,
      ['GET /links?page=1', 'GET /links?page=2', 'GET /links?page=3', 'GET /links?page=4'],
    ],
    [
      'an end in a variable',
      `total=3
       for p in $(seq 1 "$total"); do curl -s "API/links?page=$p" LOGIN | jq '.[]'; done`,
      ['GET /links?page=1', 'GET /links?page=2', 'GET /links?page=3'],
    ],
    [
      'an end in a variable, by three parts',
      `last=3
       for ((p=1; p<=last; p++)); do curl -s "API/links?page=$p" LOGIN | jq '.[]'; done`,
      ['GET /links?page=1', 'GET /links?page=2', 'GET /links?page=3'],
    ],
    [
      'an end in a variable, by a test',
      `p=1; last=3
       while [ $p -le $last ]; do
         curl -s "API/links?page=$p" LOGIN | jq '.[]'
         p=$((p+1))
       done`,
      ['GET /links?page=1', 'GET /links?page=2', 'GET /links?page=3'],
    ],
    [
      'a number that is counted on before the request',
      `p=0
       while [ $p -lt 3 ]; do
         p=$((p+1))
         curl -s "API/links?page=$p" LOGIN | jq '.[]'
       done`,
      ['GET /links?page=1', 'GET /links?page=2', 'GET /links?page=3'],
    ],
    [
      'steps that are not the size of a page',
      `for o in $(seq 0 3 9); do curl -s "API/offset?offset=$o" LOGIN | jq '.[]'; done`,
      ['GET /offset?offset=0', 'GET /offset?offset=3', 'GET /offset?offset=6', 'GET /offset?offset=9'],
    ],
  ])('is taken over: %s', async (_what, script, requests) => {
    const { stream, ids, asked } = await imported(script);
    expect(stream).toMatchObject({ outcome: 'exact', reasons: [] });
    expect(asked).toEqual(requests);
    expect(ids).toEqual(ALL);
  });

  test('asks once for each value that is written out, in a path too', async () => {
    const { stream, asked } = await imported(
      `for kind in offset links; do curl -s LOGIN "API/$kind?all=1"; done`,
    );
    expect(stream.outcome).toBe('equal rows, other columns');
    expect(asked).toEqual(['GET /offset?all=1', 'GET /links?all=1']);
  });

  test('sends numbers as wide as the loop writes them, and tells of what another command sets', async () => {
    const token = `T=$(curl -s API/login | jq -r .token)`;
    const padded = await imported(
      `${token}; for p in {08..10}; do curl -s -H "Authorization: Bearer $T" "API/links?page=$p"; done`,
    );
    expect(padded.asked).toEqual(['08', '09', '10'].map((page) => `GET /links?page=${page}`));
    expect(padded.stream.notes.join()).toContain('$T is set by another command of the script');
    const wide = await imported(`for p in $(seq -w 9 10); do curl -s LOGIN "API/links?page=$p"; done`);
    expect(wide.asked).toEqual(['09', '10'].map((page) => `GET /links?page=${page}`));
  });

  test('sends a number in a body as a number, also where quotes end around it', async () => {
    const echo = await startApi(({ body }) => ({ json: body.includes('3') ? [] : [{ id: 1 }] }));
    const bodies = [
      String.raw`"{\"page\": $p, \"n\": 10}"`,
      `'{"page": '"$p"', "n": 10}'`,
      `'{"page": '$p', "n": 10}'`,
    ];
    for (const body of bodies) {
      const { stream } = await imported(
        `for p in {1..2}; do curl -s ${echo.url}x -H 'Content-Type: application/json' -d ${body} | jq '.[]'; done`,
      );
      expect(stream).toMatchObject({ outcome: 'exact', notes: [expect.stringContaining('after 2 pages')] });
    }
    const sent = echo.seen.map(({ body }) => JSON.parse(body) as unknown);
    expect(sent).toEqual(bodies.flatMap(() => [1, 2].map((page) => ({ n: 10, page }))));
  });

  test('says that rows of the last page come, which the script leaves out', async () => {
    const { stream, ids } = await imported(
      `p=1
       while :; do
         r=$(curl -s "API/links?page=$p" LOGIN)
         n=$(echo "$r" | jq length)
         [ "$n" -lt 3 ] && break
         echo "$r" | jq -c '.[]'
         p=$((p+1))
       done`,
    );
    expect(stream.outcome).toBe('more rows');
    expect(stream.notes[0]).toContain('leaves out the rows of the page that ends its loop');
    expect(ids).toEqual(ALL);
  });

  test('takes no text for a variable that is set again, or has a sign with a meaning of its own', async () => {
    for (const set of ['N=a\nN=b', 'N="a b"', 'N="a&c=d"', 'read -r N', 'N=a; N+=b']) {
      const { stream } = await imported(
        `${set}\nfor p in 1 2; do curl -s LOGIN "API/links?x=$N&page=$p"; done`,
      );
      expect(stream.outcome, set).toBe('not');
    }
  });

  test('sends a query with lists, a body with an empty object, and values inside of lists as the script does', async () => {
    const echo = await startApi(() => ({ json: [] }));
    await imported(
      `for p in 1 2; do curl -s -g "${echo.url}x?ids[]=1&ids[]=2&l[]=3&page=$p" | jq '.[]'; done`,
    );
    await imported(
      String.raw`for id in 1 2; do curl -s ${echo.url}x --json "{\"query\":{\"match_all\":{}},\"ids\":[\"$id\"]}" | jq '.[]'; done`,
    );
    expect(echo.seen.map(({ target, body }) => [target, body])).toEqual([
      ...[1, 2].map((page) => [`/x?ids%5B%5D=1&ids%5B%5D=2&l%5B%5D=3&page=${page}`, '']),
      ...[1, 2].map((id) => ['/x', `{"query":{"match_all":{}},"ids":["${id}"]}`]),
    ]);
  });

  test('signs as the script does', async () => {
    const aws = await startApi(() => ({ json: [] }));
    const { stream } = await imported(
      `for p in 1 2; do curl --aws-sigv4 aws:amz:eu-central-2:es -u AKIA:t-1 -H 'x-amz-security-token: t-1' "${aws.url}x?p=$p" | jq '.[]'; done`,
    );
    expect(stream.outcome).toBe('exact');
    const expected = ['AWS4-HMAC-SHA256 Credential=AKIA/DAY/eu-central-2/es/aws4_request', 't-1'];
    const signed = aws.seen.map(({ headers }) => [
      headers.authorization?.replace(/\/\d{8}\//, '/DAY/').split(',')[0],
      headers['x-amz-security-token'],
    ]);
    expect(signed).toEqual([expected, expected]);
  });

  test.each([
    ['curl --digest -u me:t-1 "API/links?page=$p"', 'logs in by --digest'],
    ['curl -u me:t-1 --aws-sigv4 aws:amz "http://localhost/x?page=$p"', 'does not say with what'],
    ['curl -H "X-Tenant: $TENANT" "API/links?page=$p"', '$TENANT is a variable of the shell'],
    [String.raw`curl "API/links?page=$p" --json "{\"n\":$COUNT}"`, '$COUNT has no value here'],
    ['curl -u me:t-1 API/links', 'The command has no $p'],
  ])('is `not`, without its secrets, where a run could not send the same: %s', async (command, message) => {
    const { stream } = await imported(`for p in 1 2; do ${command} | jq '.[]'; done`);
    expect(stream.outcome).toBe('not');
    expect(stream.reasons[0]?.message).toContain(message);
    expect(JSON.stringify(stream)).not.toContain('t-1');
  });

  test.each([
    ['curl -s API/links', 'There is no loop'],
    ['for f in *.txt; do curl -s "API/links?page=$f"; done', 'not written out'],
    ['for p in $(seq 1 3); do curl -s API/links; done', 'The command has no $p'],
    ['for p in $(seq 1 3); do curl "API/links?page=$p"; curl "API/offset?page=$p"; done', 'several curl'],
    [`for p in 1 2; do curl -s 'API/links?page=$p'; done`, 'The command has no $p'],
    ['n=3\nfor p in {1..$n}; do curl -s "API/links?page=$p"; done', 'write $(seq 1 $n)'],
    ['for p in 1 2; do curl -s "API/links?page=$p"; done\ncurl -s API/links', 'outside of the loop'],
    ['curl -s API/links\nfor p in 1 2; do curl -s "API/links?page=$p"; done', 'outside of the loop'],
    ['for p in 1 2; do if [ $p -ne 1 ]; then curl -s "API/links?page=$p"; fi; done', 'under a condition'],
    ['for p in 1 2; do [ $p -eq 1 ] || curl -s "API/links?page=$p"; done', 'under a condition'],
    ['for p in 1 2; do [ $p -eq 2 ] && exit; curl -s "API/links?page=$p"; done', 'ends in the loop'],
    ['for p in 1 2; do curl -s -H "X-Page: $p" "API/links"; done', 'where a configuration cannot'],
    ['for p in 1 2; do curl -s "API/{links,offset}?page=$p"; done', 'stands for several'],
    [
      `for p in {1..2}; do curl -s API/links --json '{"filter":{"kind":'$p'}}'; done`,
      'A number inside of the body',
    ],
    [
      'c=1\nwhile true; do\nr=$(curl "API/token?page=$c")\nc=$(python next.py "$r")\n[ -z "$c" ] && break\ndone',
      'in a way that is not known',
    ],
    [
      'p=1\nwhile true; do\nr=$(curl "API/token?page=$p")\np=$((p+1))\n[ -f stop ] && break\ndone',
      'A condition that is not known',
    ],
  ])('is `not` where its meaning is not certain: %j', async (script, message) => {
    const { stream } = await imported(script);
    expect(stream.outcome).toBe('not');
    expect(stream.reasons[0]?.message).toContain(message);
  });
});
