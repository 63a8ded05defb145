// The tests that failed, out of JSON reports: `node scripts/failures.mjs FILE…`. The output of a whole run is long, and who
// reads its end alone learns from here what to mend.
import { readFileSync } from 'node:fs';
import { basename, relative } from 'node:path';

const LINES = 12;
for (const path of process.argv.slice(2)) {
  const name = basename(path);
  const { testResults = [], examples = [] } = JSON.parse(readFileSync(path, 'utf8'));
  for (const file of testResults) {
    const failed = file.assertionResults.filter((test) => test.status === 'failed');
    const place = `${name}: ${relative('.', file.name)}`;
    for (const test of failed) tell(`${place} > ${test.fullName}`, test.failureMessages.join('\n'));
    if (failed.length === 0 && file.status === 'failed') tell(place, file.message);
  }
  for (const example of examples)
    if (example.status === 'FAIL') tell(`${name}: ${example.name}`, example.diff);
}

function tell(what, why) {
  const lines = String(why ?? '').split('\n');
  console.log([what, ...lines.slice(0, LINES).map((line) => `    ${line}`)].join('\n'));
}
