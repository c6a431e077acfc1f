// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the tests use ${…} references.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { lossOfParts } from '../../../src/config/changes.ts';
import { readDotenv } from '../../../src/config/dotenv.ts';
import { ConfigError } from '../../../src/config/faults.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { publicConfig } from '../../../src/config/secrets.ts';
import { declarations, parse, rejection } from './config-declarations.ts';

const dir = mkdtempSync(join(tmpdir(), 'roadbook-config-'));
afterAll(() => rmSync(dir, { recursive: true }));

function put(name: string, content: string | Uint8Array): string {
  const file = join(dir, name);
  writeFileSync(file, content);
  return file;
}

const fromService = (text: string, env?: Record<string, string | undefined>) =>
  parse(`service:\n  realm: ${text}\n`, env).config.service.realm;

describe('defaults', () => {
  test.each(['', '# nothing\n', '{}', 'jobs:\n', 'service:\nwarehouse:\nerp:\nprivacy:\nstatus:\nalerts:\n'])(
    '%j is the default configuration',
    (text) => {
      const { config } = parse(text);
      expect(config.service).toMatchObject({ baseUrl: 'sandbox', timeoutMs: 60_000, maxBodyMb: 64 });
      expect(config.warehouse).toEqual({
        engine: 'sqlite',
        file: 'data/warehouse.db',
        images: 'data/images',
      });
      expect(config.jobs['pull-vehicles']).toEqual({
        isListed: false,
        enabled: true,
        schedule: '0 */6 * * *',
        timezone: 'America/Sao_Paulo',
        options: {},
      });
    },
  );

  test('every job is present, with its own options and, by default, the time zone of the file', () => {
    const { jobs } = parse(
      'timezone: UTC\njobs:\n  pull-events: { lookback: 90m, enabled: false, timezone: Europe/Lisbon }\n',
    ).config;
    expect(jobs['pull-events']).toEqual({
      isListed: true,
      enabled: false,
      schedule: '*/10 * * * *',
      timezone: 'Europe/Lisbon',
      options: {
        lookback: 5_400_000,
        since: 2_592_000_000,
        batch: 100,
        ratio: 0.5,
        strict: false,
        categories: 'all',
      },
    });
    expect(jobs['pull-vehicles']?.timezone).toBe('UTC');
  });

  test('a status page beyond this machine is allowed with a token', () => {
    expect(parse('status: { host: 0.0.0.0, token: abc }').config.status.host).toBe('0.0.0.0');
    expect(parse('status: { host: 127.8.9.1 }').config.status.host).toBe('127.8.9.1');
    expect(parse('status: { host: "::1" }').config.status.host).toBe('::1');
  });

  test('anchors, aliases and merge keys work, and own keys win over merged ones', () => {
    const { erp } = parse(
      'erp:\n  agents: &feed { source: files, folder: a }\n  itineraries: { folder: b, <<: *feed }\n  points_of_interest: *feed\n',
    ).config;
    expect(erp.itineraries).toMatchObject({ source: 'files', folder: 'b' });
    expect(erp.points_of_interest).toMatchObject({ source: 'files', folder: 'a' });
  });
});

describe('references', () => {
  test('use a variable, a default where it is missing or empty, and can be part of a longer text', () => {
    expect(fromService('${A}', { A: 'x' })).toBe('x');
    expect(fromService('${A}', { A: '' })).toBe('');
    expect(fromService('${A:-y}', { A: '' })).toBe('y');
    expect(fromService('${A:-}')).toBe('');
    expect(fromService('a-${A}-${B:-b: #c}', { A: 'x' })).toBe('a-x-b: #c');
  });

  test('use a secret file without its last newline', () => {
    expect(fromService(`\${file:${put('secret', 'one\ntwo\n')}}`)).toBe('one\ntwo');
  });

  test('are escaped by $${ and are not expanded again inside a value', () => {
    expect(fromService('$${A}', { A: 'x' })).toBe('${A}');
    expect(fromService('${A}', { A: '${B}', B: 'x' })).toBe('${B}');
  });

  test('can be unquoted in a flow map', () => {
    const { status } = parse('status: { host: 127.0.0.1, port: ${P:-4781}, token: ${T:-} }', {
      T: 'a, b}',
    }).config;
    expect(status).toEqual({ host: '127.0.0.1', port: 4_781, token: 'a, b}' });
  });

  test('never change the structure, whatever the value contains', () => {
    const value = '"\n  password: stolen\nstatus: { port: 1 } # *x &y !z';
    const { config } = parse('service:\n  realm: ${A}\n', { A: value });
    expect(config.service).toMatchObject({ realm: value, password: 'demo' });
    expect(config.status.port).toBe(4_780);
  });

  test('become a number or a boolean where one is expected, and stay text where text is', () => {
    const { config } = parse(
      'service:\n  password: ${N}\n  concurrency: "${N}"\njobs:\n  pull-events: { batch: ${N}, strict: ${B}, categories: ["${N}"] }\n',
      { N: '007', B: 'True' },
    );
    expect(config.service).toMatchObject({ password: '007', concurrency: 7 });
    expect(config.jobs['pull-events']?.options).toMatchObject({ batch: 7, strict: true, categories: [7] });
  });

  test('with a missing variable are not reported a second time as a wrong value', () => {
    expect(rejection('status: { port: "${NOT_SET}" }').faults).toHaveLength(1);
    expect(rejection('warehouse: { engine: "${NOT_SET}" }').faults).toHaveLength(1);
  });
});

describe('secrets', () => {
  const canaries = {
    PW: 'canary-pw',
    TOKEN: 'canary-token',
    HOOK: 'canary hook',
    URL: 'canary-url',
    N: 'canary-n',
  };
  const wrong = [
    'service: { password: [canary-literal, "${PW}"] }',
    'service: { password: { canary-literal: x } }',
    'service: { password: canary-literal, concurrency: "${PW}" }',
    'service:\n  password: "canary-literal" canary-literal\n',
    'service:\n  password: canary-literal: canary-literal\n',
    'service:\n  password: @canary-literal\n',
    'service:\n  password: "canary-literal\n',
    'service:\n  password: !canary-literal x\n',
    'service:\n  password: *canary-literal\n',
    'service:\n  password = canary-literal\n  realm: x\n',
    'service:\n  pasword: canary-literal\n',
    'service:\n  password canary-literal: x\n  password=canary-literal: x\n',
    'service:\n  base_url: https://user:canary-literal@host\n',
    'service:\n  renewal: ${TOKEN}\n  timeout: ${TOKEN}\n  base_url: ${URL}\n',
    'timezone: ${N}\nwarehouse: { engine: "${N}" }\nprivacy: { driver.cpf: "${N}" }\n',
    'status: { token: { a: canary-literal }, port: "${TOKEN}" }',
    'status: canary-literal\nalerts: { webhook: "${HOOK}" }\n',
    'alerts: { webhook: canary-literal }',
    'erp: { agents: { source: sql, client: 1, connection: canary-literal, query: [canary-literal] } }',
    'erp: { agents: { source: http, url: "${URL}", headers: { authorization: [canary-literal] } } }',
    'jobs: { pull-events: { schedule: "${N}", timezone: "${N}", batch: "${N}", categories: "${N}" } }',
  ];

  test.each(wrong)('no value shows in the issues of %j', (text) => {
    const { message, faults } = rejection(text, canaries);
    expect(JSON.stringify([message, faults])).not.toMatch(/canary/);
  });

  test('are every referenced text at a secret place, every password and token, and a password in an address', () => {
    const { secrets } = parse(
      [
        'service: { username: "${USER}", password: literal-password, base_url: "https://${HOST}/" }',
        'status: { token: "${TOKEN}" }',
        'warehouse: { engine: postgres, url: "postgres://u:p%40ss@db/${TAIL}" }',
        'alerts: { webhook: "https://hook/${HOOK}" }',
        'erp: { agents: { source: sql, client: pg, query: q, connection: { password: inner, host: "${HOST2}" } } }',
      ].join('\n'),
      { USER: 'user', HOST: 'host', TOKEN: 'tok', TAIL: 'tail', HOOK: 'hook-id', HOST2: 'host2' },
    );
    expect(secrets.toSorted()).toEqual(
      ['literal-password', 'tok', 'tail', 'p%40ss', 'p@ss', 'hook-id', 'inner', 'host2'].toSorted(),
    );
  });

  test('are replaced for display, and an empty one stays empty', () => {
    const { config } = parse(
      'warehouse: { engine: postgres, url: "postgres://u:p@db/x" }\nerp: { agents: { source: http, url: "https://x", headers: { x-api: y } } }\n',
    );
    const shown = publicConfig(config);
    expect(shown.service).toMatchObject({ baseUrl: 'sandbox', username: 'demo', password: '[redacted]' });
    expect(shown.warehouse.url).toBe('[redacted]');
    expect(shown.erp.agents).toMatchObject({ url: '[redacted]', headers: { 'x-api': '[redacted]' } });
    expect(shown.status.token).toBe('');
    expect(config.service.password).toBe('demo');
  });
});

describe('files', () => {
  const failure = async (file: string): Promise<ConfigError> =>
    loadConfig(file, declarations, {}).then(
      () => expect.unreachable(),
      (error) => error,
    );

  test.each([
    ['a missing file', () => join(dir, 'none.yaml'), 'does not exist', '--config FILE'],
    ['a folder', () => dir, 'folder', '--config FILE'],
    ['a file that is too large', () => put('large.yaml', 'x'.repeat(70_000)), 'larger', 'few KiB'],
    ['a file that is not text', () => put('latin1.yaml', Buffer.from([0x61, 0xe9, 0x0a])), 'UTF-8', 'UTF-8'],
  ])('%s is rejected with a hint', async (_what, file, message, hint) => {
    const error = await failure(file());
    expect(error).toBeInstanceOf(ConfigError);
    expect(error).toMatchObject({ code: 'config_invalid' });
    expect(error.faults[0]).toMatchObject({ line: 1, column: 1 });
    expect(error.faults[0]?.message).toContain(message);
    expect(error.faults[0]?.hint).toContain(hint);
  });

  test('a byte order mark and Windows line ends are read, and positions stay correct', async () => {
    const good = put('crlf.yaml', '\uFEFFtimezone: UTC\r\nservice:\r\n  realm: x\r\n');
    expect((await loadConfig(good, declarations, {})).config.service.realm).toBe('x');
    const error = await failure(put('crlf-bad.yaml', '\uFEFFtimezone: UTC\r\nservice:\r\n  relm: x\r\n'));
    expect(error.faults[0]).toMatchObject({ line: 3, column: 3, path: 'service.relm' });
  });

  test('.env gives variables, and none where the file does not exist', () => {
    expect(readDotenv(dir)).toEqual({});
    put('.env', '# comment\nROADBOOK_PASSWORD="a b"\nEMPTY=\n');
    expect(readDotenv(dir)).toEqual({ ROADBOOK_PASSWORD: 'a b', EMPTY: '' });
  });
});

describe('an edit of the end of the file', () => {
  const events = (rest: string): string => `jobs:\n  pull-events:\n    ${rest}`;
  const cut = 'the file ends earlier than before, as if it had been cut; restart to confirm';
  test.each([
    ['categories:\n      - 1\n      - 2\n', 'categories:\n      - 1\n', cut],
    ['strict: true\n    batch: 100\n', 'strict: false\n', /no longer has `jobs.pull-events.batch`/],
    ['batch: 100\n', 'batch: 10', cut],
    ['batch: 100', 'batch: 10', cut],
    ['batch: 100\n', 'batch: 10\n', undefined],
    ['batch: 100 # a day\n\n', 'batch: 100 # a day\n', undefined],
    ['batch: 100\n# a day\n', 'batch: 100\n', undefined],
    ['categories:\n      - 1\n      - 2\n', 'categories:\n      - 2\n', undefined],
    ['{ strict: true, batch: 100 }\n', '{ strict: true }\n', undefined],
  ])('%j to %j', (before, after, expected) => {
    const message = lossOfParts(parse(events(before)), parse(events(after)))?.message;
    if (expected === undefined) expect(message).toBeUndefined();
    else expect(message).toMatch(expected);
  });
});
