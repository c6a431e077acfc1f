// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references are what is tested.
import { describe, expect, test } from 'vitest';
import { FILE, refusal } from './config-parts.ts';

const bomb = ['a0: &a0 [x, x, x, x, x, x, x, x]']
  .concat(
    [1, 2, 3, 4, 5, 6, 7, 8].map(
      (n) =>
        `a${n}: &a${n} [${Array(8)
          .fill(`*a${n - 1}`)
          .join(', ')}]`,
    ),
  )
  .join('\n');

type Wrong = [text: string, path: string, at: string, hint: string];

const keys: Wrong[] = [
  ['servce: {}', 'servce', '1:1', 'did you mean `service`?'],
  ['Service: {}', 'Service', '1:1', 'did you mean `service`?'],
  ['zebra: 1', 'zebra', '1:1', 'use one of `timezone`, `service`'],
  ['service:\n  timout: 60s', 'service.timout', '2:3', 'did you mean `timeout`?'],
  ['service:\n  baseUrl: sandbox', 'service.baseUrl', '2:3', 'did you mean `base_url`?'],
  ['service: { realm: x, pasword: x }', 'service.pasword', '1:22', 'did you mean `password`?'],
  ['jobs:\n  pull-event: {}', 'jobs.pull-event', '2:3', 'did you mean `pull-events`?'],
  ['jobs:\n  pull-events:\n    lokback: 6h', 'jobs.pull-events.lokback', '3:5', 'did you mean `lookback`?'],
  ['jobs: { pull-vehicles: { lookback: 6h } }', 'jobs.pull-vehicles.lookback', '1:26', 'use one of'],
  ['warehouse: { fle: x.db }', 'warehouse.fle', '1:14', 'did you mean `file`?'],
  ['warehouse:\n  engine: postgres\n  url: x\n  file: x', 'warehouse.file', '4:3', 'use one of'],
  ['erp: { route_plan: {} }', 'erp.route_plan', '1:8', 'did you mean `route_plans`?'],
  ['erp:\n  agents: { source: files, foldr: x, folder: x }', 'erp.agents.foldr', '2:28', '`folder`'],
  ['status: { prot: 1 }', 'status.prot', '1:11', 'did you mean `port`?'],
  ['__proto__: { a: 1 }', '__proto__', '1:1', 'use one of'],
  ['1: x', '1', '1:1', 'use one of'],
  ['privacy: { cpf: hash }', 'privacy.cpf', '1:12', 'driver.cpf'],
  ['privacy: { driver.date_of_birth: hash }', 'privacy.driver.date_of_birth', '1:34', 'keep'],
  ['? [a, b]\n: c', '', '1:3', 'write `key: value`'],
];

const kinds: Wrong[] = [
  ['- a\n- b', '', '1:1', 'write `key: value`'],
  ['hello', '', '1:1', 'write `key: value`'],
  ['service: []', 'service', '1:10', 'write `key: value`'],
  ['service: yes please', 'service', '1:10', 'write `key: value`'],
  ['jobs: [pull-events]', 'jobs', '1:7', 'write `key: value`'],
  ['jobs:\n  pull-events: true', 'jobs.pull-events', '2:16', 'write `key: value`'],
  ['privacy: [driver.cpf]', 'privacy', '1:10', 'write `key: value`'],
  ['service: { concurrency: "4" }', 'service.concurrency', '1:25', 'without quotes'],
  ['service: { concurrency: 4.5 }', 'service.concurrency', '1:25', 'Most requests'],
  ['service: { concurrency: .nan }', 'service.concurrency', '1:25', 'Most requests'],
  ['service: { concurrency: 0 }', 'service.concurrency', '1:25', 'default 4'],
  ['service: { concurrency: }', 'service.concurrency', '1:25', 'give a value, or remove the key'],
  ['service: { username: 12345 }', 'service.username', '1:22', 'put it in quotes'],
  ['service: { password: 12345 }', 'service.password', '1:22', 'put it in quotes'],
  ['service: { password: "" }', 'service.password', '1:22', 'Password of the account'],
  ['service: { max_body_mb: 64MB }', 'service.max_body_mb', '1:25', 'write a number'],
  ['service:\n  timeout: 60', 'service.timeout', '2:12', 'for example `90s`'],
  ['service:\n  timeout: 60 seconds', 'service.timeout', '2:12', 'for example `90s`'],
  ['service:\n  timeout: 10ms', 'service.timeout', '2:12', 'for example `90s`'],
  ['service:\n  timeout: ~', 'service.timeout', '2:12', 'give a value, or remove the key'],
  ['service: { renewal: atuo }', 'service.renewal', '1:21', 'did you mean `auto`?'],
  ['service: { collections: xml }', 'service.collections', '1:25', 'use one of `json`, `comma`, `repeat`'],
  ['service: { base_url: sandbx }', 'service.base_url', '1:22', 'write `sandbox`'],
  ['service: { base_url: "ftp://x" }', 'service.base_url', '1:22', 'https://host/path'],
  ['service: { base_url: "https://u:p@x" }', 'service.base_url', '1:22', 'https://host/path'],
  ['service: { base_url: "https://x/?a=1" }', 'service.base_url', '1:22', 'https://host/path'],
  ['service: { base_url: "https://x/#a" }', 'service.base_url', '1:22', 'https://host/path'],
  ['warehouse: { engine: postgre }', 'warehouse.engine', '1:22', 'did you mean `postgres`?'],
  ['warehouse:\n  engine: postgres', 'warehouse.url', '1:1', 'add it: Address of the database.'],
  ['warehouse: { images: 1 }', 'warehouse.images', '1:22', 'put it in quotes'],
  ['erp:\n  agents:\n    folder: x', 'erp.agents.source', '2:3', 'use one of `files`, `sql`, `http`'],
  ['erp: { agents: { source: file } }', 'erp.agents.source', '1:26', 'did you mean `files`?'],
  ['erp: { agents: { source: files } }', 'erp.agents.folder', '1:8', 'add it: Folder'],
  ['erp: { agents: }', 'erp.agents', '1:16', 'give a value'],
  ['erp: { agents: { source: http, url: nowhere } }', 'erp.agents.url', '1:37', 'https://host/path'],
  ['privacy: { driver.cpf: hsh }', 'privacy.driver.cpf', '1:24', 'did you mean `hash`?'],
  ['status: { port: 70000 }', 'status.port', '1:17', 'Port'],
  ['status: { port: -1 }', 'status.port', '1:17', 'Port'],
  ['status:\n  host: 0.0.0.0', 'status.host', '2:9', '127.0.0.1'],
  ['status: { host: 127.evil.example }', 'status.host', '1:17', '127.0.0.1'],
  ['alerts: { webhook: nowhere }', 'alerts.webhook', '1:20', 'https://host/path'],
  ['jobs: { pull-events: { enabled: maybe } }', 'jobs.pull-events.enabled', '1:33', '`true` or `false`'],
  ['jobs: { pull-events: { batch: 501 } }', 'jobs.pull-events.batch', '1:31', 'Records a batch'],
  ['jobs: { pull-events: { ratio: 0.3 } }', 'jobs.pull-events.ratio', '1:31', 'Share'],
  ['jobs: { pull-events: { since: 5m } }', 'jobs.pull-events.since', '1:31', 'for example'],
  ['jobs: { pull-events: { lookback: 99d } }', 'jobs.pull-events.lookback', '1:34', 'for example'],
  ['jobs: { pull-events: { categories: some } }', 'jobs.pull-events.categories', '1:36', 'All, or a list'],
  ['jobs: { pull-events: { categories: [1, x] } }', 'jobs.pull-events.categories[1]', '1:40', 'number'],
];

const times: Wrong[] = [
  ['timezone: America/Sao_Paolo', 'timezone', '1:11', 'did you mean `America/Sao_Paulo`?'],
  ['timezone: Sao_Paulo', 'timezone', '1:11', 'did you mean `America/Sao_Paulo`?'],
  ['timezone: "-03:00"', 'timezone', '1:11', 'write it as `America/Sao_Paulo`'],
  ['timezone: 3', 'timezone', '1:11', 'for example `America/Sao_Paulo`'],
  [
    'jobs: { pull-events: { timezone: Mars/Base } }',
    'jobs.pull-events.timezone',
    '1:34',
    'America/Sao_Paulo',
  ],
  ...[
    '* * * *',
    '61 * * * *',
    '0 24 * * *',
    '0 0 31 2 *',
    '* * * * * * *',
    '@daily',
    'hourly',
    '*/0 * * * *',
    '',
  ].map(
    (schedule): Wrong => [
      `jobs:\n  pull-events: { schedule: "${schedule}" }`,
      'jobs.pull-events.schedule',
      '2:28',
      'for example `*/10 * * * *`',
    ],
  ),
  ['jobs: { pull-events: { schedule: 5 } }', 'jobs.pull-events.schedule', '1:34', 'for example `*/10'],
];

const yaml: Wrong[] = [
  ['timezone: UTC\ntimezone: UTC', 'timezone', '2:1', 'keep one of the two'],
  ['service: { realm: a, realm: b }', 'service.realm', '1:22', 'keep one of the two'],
  ['service:\n\trealm: a', '', '2:1', 'spaces instead of tabs'],
  ['service:\n  realm: "a', '', '2:12', 'close what was opened'],
  ['status: { port: 1', '', '1:18', 'close what was opened'],
  ['service:\n    realm: a\n  username: b', '', '3:1', 'indent with spaces'],
  ['service:\n  realm: a: b', '', '2:10', 'in quotes'],
  ['service:\n  realm: @a', '', '2:10', 'in quotes'],
  ['service:\n  realm: "\\q"', '', '2:11', 'single quotes'],
  ['timezone UTC\nservice: {}', '', '1:1', 'space after the colon'],
  ['timezone: UTC\n---\ntimezone: UTC', '', '2:1', 'remove the `---` line'],
  ['timezone: !zone UTC', '', '1:11', 'remove the tag'],
  ['jobs: *missing', 'jobs', '1:7', 'earlier value'],
  ['jobs: &a { pull-events: *a }', 'jobs.pull-events', '1:25', 'fewer aliases'],
  ['jobs:\n  <<: 5', 'jobs', '2:7', '<<: *name'],
  [bomb, '', '', 'fewer aliases'],
  ['['.repeat(60_000), '', '', ''],
  [`timezone: ${'x'.repeat(70_000)}`, '', '1:1', 'few KiB'],
];

const references: Wrong[] = [
  ['service:\n  realm: ${NOT_SET}', 'service.realm', '2:10', 'set NOT_SET in the environment or in .env'],
  ['service:\n  realm: ${HOMEE}', 'service.realm', '2:10', 'did you mean `HOMED`?'],
  ['service: { realm: "x-${NOT_SET}" }', 'service.realm', '1:19', '${NOT_SET:-default}'],
  ['status: { port: ${NOT_SET} }', 'status.port', '1:17', 'set NOT_SET'],
  ['status: { port: ${WORD} }', 'status.port', '1:17', 'write a number'],
  ['status: { port: ${EMPTY} }', 'status.port', '1:17', 'write a number'],
  ['service: { realm: "${file:/nowhere/secret}" }', 'service.realm', '1:19', 'readable file'],
  ['service: { realm: "${file:/tmp}" }', 'service.realm', '1:19', 'readable file'],
  ['service:\n  realm: ${file:}', 'service.realm', '2:10', 'readable file'],
  ['service:\n  realm: ${A B}', 'service.realm', '2:10', '${file:PATH}'],
  ['service:\n  realm: ${}', 'service.realm', '2:10', '${NAME:-default}'],
  ['service:\n  realm: ${OPEN', 'service.realm', '2:10', '$${'],
  ['service:\n  realm: ${A:-${B}}', 'service.realm', '2:10', '$${'],
  ['${WORD}: 1', '?', '1:1', 'use one of'],
  ['status: { host: 0.0.0.0, token: "${NOT_SET}" }', 'status.token', '1:33', 'set NOT_SET'],
];

const env = { HOMED: '/root', WORD: 'sesame', EMPTY: '' };

describe.each(Object.entries({ keys, kinds, times, yaml, references }))('wrong %s', (_group, wrongs) => {
  test.each(wrongs)('%j is refused at its place with a hint', (text, path, at, hint) => {
    const startedAt = performance.now();
    const { faults, message } = refusal(text, env);
    expect(performance.now() - startedAt).toBeLessThan(1_000);
    const [first] = faults;
    if (at === '') expect(first).toMatchObject({ file: FILE });
    else expect(`${first?.path} ${first?.line}:${first?.column}`).toBe(`${path} ${at}`);
    expect(first?.hint).toContain(hint);
    expect(message).toContain(`${FILE}:${first?.line}:${first?.column}  `);
    expect(faults.length).toBeLessThanOrEqual(at === '' ? 1_000 : 1);
  });
});

test('all faults of a file are reported at once, in the order of the file', () => {
  const { faults, message } = refusal(
    'timezone: Nowhere/None\nservice:\n  timeout: 60\n  password: ${NOT_SET}\n  realm: a\n  realm: b\nstatus: { prot: 1, port: x }\n',
  );
  expect(faults.map(({ line, column, path }) => `${line}:${column} ${path}`)).toEqual([
    '1:11 timezone',
    '3:12 service.timeout',
    '4:13 service.password',
    '6:3 service.realm',
    '7:11 status.prot',
    '7:26 status.port',
  ]);
  expect(message).toContain(
    'config/roadbook.yaml:3:12  service.timeout: expected a duration, got a number\n  Try: for example `90s`',
  );
});

test('a file with thousands of faults is refused quickly, and the list is cut', () => {
  const text = Array.from({ length: 6_000 }, (_, n) => `key${n}: 1`).join('\n');
  const startedAt = performance.now();
  const { message, faults } = refusal(text);
  expect(performance.now() - startedAt).toBeLessThan(1_000);
  expect(faults).toHaveLength(6_000);
  expect(message).toContain('… and 5950 more');
});

test.each([
  '[',
  '{a: ',
  '- ',
  '"',
  '? ',
  '&a ',
  '!a ',
  '*a ',
  'a: *a\n',
  'a: ${X}\n',
  '${A:-',
  '<<: ',
  'a:\n ',
])('a file as large as allowed and made of %j is refused in under a second', (piece) => {
  const startedAt = performance.now();
  const { faults } = refusal(piece.repeat(Math.floor(65_536 / piece.length)));
  expect(performance.now() - startedAt).toBeLessThan(1_000);
  expect(faults.length).toBeGreaterThan(0);
});
