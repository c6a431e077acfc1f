// roadbook init, as a script calls it and as a person answers it on a terminal: the files it writes are valid, were tried, and
// push the plans of the ERP.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import knex from 'knex';
import { afterAll, afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { startSandbox } from '../../../src/sandbox/sandbox.ts';
import { hasMariadb, sharedMariadb } from '../../support/databases/mariadb.ts';
import { startPostgres, stopPostgres } from '../../support/databases/postgres.ts';
import { PRODUCT_FLAGS } from '../../support/process/product-flags.ts';
import { MAIN, makeWorkplace, type Workplace } from '../../support/process/workplace.ts';

let place: Workplace;

beforeEach(() => {
  place = makeWorkplace('');
});
afterEach(() => place.remove());
afterAll(stopPostgres);

const FILE = 'new/roadbook.yaml';
const init = (...args: string[]) => place.runHere(['init', '--config', FILE, '--yes', ...args]);
const written = (file: string): string => readFileSync(join(place.dir, file), 'utf8');

it('writes a configuration that was tried, with a mapping from the sample, and reads the sample with it', async () => {
  const sample = 'NUM_VIAGEM;SAIDA;RETORNO;A=B;ENDERECO\nV1;18/11/2026 08:00;18/11/2026 18:00;Loja 1;"Rua Um, 1"\n';
  writeFileSync(join(place.dir, 'sample.csv'), sample);
  const options = ['--sample', 'sample.csv', '--timezone', 'America/Recife', '--map', 'point.name=A=B'];
  const { code, stdout } = await init(...options, '--json');
  expect(code).toBe(0);
  const { checks } = JSON.parse(stdout) as { checks: { check: string; state: string }[] };
  expect(checks.length).toBeGreaterThan(5);
  expect(checks.filter(({ state }) => state === 'fail')).toEqual([]);
  const check = await place.runHere(['erp', 'check', 'sample.csv', '--config', FILE, '--json']);
  expect(JSON.parse(check.stdout)).toMatchObject({ items: 1, rejected: 0, issues: [] });
});

/** A date and a number that may mean two things, and a place in a column with a name of the ERP's own. */
const UNCLEAR = `VIAGEM;SAIDA;RETORNO;CLIENTE;LOCAL_DESCARGA;NF;VALOR
V1;03/04/2026 08:00;03/04/2026 18:00;Loja 1;"Rua Um, 1";NF-1;1.234
`;
const CLEAR = { items: 1, rejected: 0, issues: [] };

it('names the options that an unclear sample needs, and reads it with them', async () => {
  writeFileSync(join(place.dir, 'sample.csv'), UNCLEAR);
  const { code, stderr } = await init('--sample', 'sample.csv');
  expect(code).toBe(1);
  expect(stderr).toContain(
    '--map point.address=COLUMN --dates <dd/MM/yyyy|MM/dd/yyyy|dd/MM/yy|MM/dd/yy> --decimal <comma|point>.',
  );
  const given = ['--dates', 'dd/MM/yyyy', '--decimal', 'comma', '--map', 'point.address=LOCAL_DESCARGA'];
  expect(await init('--force', '--sample', 'sample.csv', ...given)).toMatchObject({ code: 0 });
  const check = await place.runHere(['erp', 'check', 'sample.csv', '--config', FILE, '--json']);
  expect(JSON.parse(check.stdout)).toMatchObject(CLEAR);
  const shown = await place.runHere(['erp', 'check', 'sample.csv', '--config', FILE, '--show', 'V1']);
  expect(shown.stdout).toMatch(/2026-04-03T08:00:00-03:00.*"address": "Rua Um, 1".*"value": 1234\b/s);
});

it('ends as erp check does if some plans cannot be sent, and says where to correct them', async () => {
  const [header, good = ''] = UNCLEAR.replaceAll('03/04', '18/11')
    .replace('1.234', '1')
    .replace('LOCAL_DESCARGA', 'RUA')
    .split('\n');
  writeFileSync(
    join(place.dir, 'sample.csv'),
    [header, good, good.replace('V1', 'V2').replace('18:00', '07:00')].join('\n'),
  );
  const { code, stderr } = await init('--sample', 'sample.csv');
  expect(await place.runHere(['erp', 'check', 'sample.csv', '--config', FILE])).toMatchObject({ code });
  expect([code, stderr]).toEqual([
    5,
    expect.stringContaining('1 of 2 plans cannot be sent: correct their rows in the ERP.'),
  ]);
  expect(stderr).toContain('Try: npx roadbook erp check sample.csv, once the plans are corrected');
  expect(stderr).not.toContain('--force');
});

/** Time windows of which only the end has a usual name. */
const HALF = `VIAGEM;SAIDA;RETORNO;CLIENTE;ENDERECO;ABRE;JANELA_FIM
V1;18/11/2026 08:00;18/11/2026 18:00;Loja 1;"Rua Um, 1";18/11/2026 09:00;18/11/2026 11:00
`;

it('leaves out the half of a pair whose other half has no column', async () => {
  writeFileSync(join(place.dir, 'sample.csv'), HALF);
  const { code, stdout, stderr } = await init('--sample', 'sample.csv', '--json');
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { items: 1, rejected: 0 }]);
  expect(JSON.parse(stdout).mapping).not.toHaveProperty(['point.time_window.end']);
  expect(stderr).toContain('No column is read as point.time_window.start, so point.time_window.end is left out.');
  const both = await init('--force', '--sample', 'sample.csv', '--map', 'point.time_window.start=ABRE', '--json');
  const window = { 'point.time_window.start': 'ABRE', 'point.time_window.end': 'JANELA_FIM' };
  expect(JSON.parse(both.stdout)).toMatchObject({ items: 1, rejected: 0, mapping: window });
});

it('writes the given mapping also without a sample', async () => {
  expect(await init('--map', 'plan.external_code=NUM')).toMatchObject({ code: 0 });
  expect(written(FILE)).toContain('plan.external_code: NUM');
});

it('keeps existing files and variables, and writes passwords only to a file of its owner', async () => {
  writeFileSync(join(place.dir, '.env'), 'OTHER=1');
  const first = await init('--warehouse', 'postgres://u:secret-1@127.0.0.1:9/x', '--source', 'none');
  expect(first).toMatchObject({ code: 75, stdout: expect.not.stringContaining('secret-1') });
  expect(written('.env')).toBe("OTHER=1\nROADBOOK_WAREHOUSE_URL='postgres://u:secret-1@127.0.0.1:9/x'\n");
  expect(statSync(join(place.dir, '.env')).mode & 0o777).toBe(0o600);
  const config = written(FILE);
  expect(config).not.toContain('secret-1');
  expect(await init('--source', 'none')).toMatchObject({ code: 2, stderr: expect.stringContaining(`${FILE} exists`) });
  const other = ['--config', 'other.yaml', '--warehouse', 'postgres://u:secret-2@127.0.0.1:9/x', '--source', 'none'];
  expect(await init(...other)).toMatchObject({ code: 2, stderr: expect.stringContaining('ROADBOOK_WAREHOUSE_URL') });
  expect([written(FILE), existsSync(join(place.dir, 'other.yaml'))]).toEqual([config, false]);
});

it('says what could not be reached, and writes the file all the same', async () => {
  const { code, stdout } = await init('--service', 'http://127.0.0.1:9', '--json');
  expect(code).toBe(75);
  expect(stdout).toContain('"state": "fail"');
  expect(written(FILE)).toContain('base_url: http://127.0.0.1:9');
});

const TABLES = `create table viagens (num_viagem int primary key, dt_viagem char(8), hr_saida char(4), hr_retorno char(4));
create table paradas (viagem int, seq int, cliente varchar(80), endereco varchar(80));
insert into viagens values (7, '20261118', '0800', '1800');
insert into paradas values (7, 1, 'Loja 1', 'Rua Um, 1');`;
const QUERY = `select v.num_viagem, v.dt_viagem, v.hr_saida, v.hr_retorno, p.seq, p.cliente, p.endereco
from viagens v join paradas p on p.viagem = v.num_viagem order by v.num_viagem, p.seq`;

async function makeErp(client: string, connection: string) {
  const erp = knex({ client, connection, useNullAsDefault: true });
  onTestFinished(() => erp.destroy());
  const run = async (text: string) => {
    for (const statement of text.split(/;\s*$/m).slice(0, -1)) await erp.raw(statement);
  };
  await run(TABLES);
  return { erp, run };
}

/** Pushes with the configuration that was written, twice; resolves to what the ERP was notified of. */
async function pushed({ erp, run }: Awaited<ReturnType<typeof makeErp>>): Promise<object[]> {
  expect(await place.runHere(['config', 'check', '--config', FILE])).toMatchObject({ code: 0 });
  await run(written('new/roadbook-tables.sql'));
  for (const sent of [1, 0]) {
    const { stdout } = await place.runHere(['run', 'push-route-plans', '--config', FILE, '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'ok', sent });
    await place.runHere(['outbox', 'acknowledge', '7', '--config', FILE]);
  }
  return erp('roadbook_outcome');
}

describe.each([
  ['pg', true, async () => (await startPostgres()).newDatabase()],
  ['mysql2', hasMariadb, async () => (await sharedMariadb()).newDatabase()],
] as const)('an ERP on %s', (client, isHere, newDatabase) => {
  it.skipIf(!isHere)('is connected by options, with statements that work', async () => {
    const connection = await newDatabase();
    const erp = await makeErp(client, connection);
    writeFileSync(join(place.dir, 'plans.sql'), QUERY);
    const feed = ['--source', 'sql', '--client', client, '--connection', connection, '--query', 'plans.sql'];
    const map = ['plan.date_time_start=dt_viagem, hr_saida', 'plan.date_time_end=dt_viagem,hr_retorno'];
    const { code, stdout } = await init(...feed, '--map', ...map, '--json');
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { items: 1, rejected: 0, variables: ['ERP_DATABASE_URL'] }]);
    expect(JSON.parse(stdout).checks).toContainEqual({
      check: 'erp',
      state: 'warn',
      found: expect.stringMatching(/has no table .*roadbook_outcome \(acknowledge/),
      hint: expect.stringContaining('roadbook-tables.sql'),
    });
    expect(written(FILE)).toMatch(/^ {4}options: { optimize: false } .*^ {6}point.order: seq$/ms);
    expect(await pushed(erp)).toMatchObject([{ external_code: '7', state: 'confirmed', message: null }]);
  });
});

it('says which column is missing, what to do then, and that .env does not have the address', async () => {
  await makeErp('sqlite3', join(place.dir, 'erp.db'));
  writeFileSync(join(place.dir, 'plans.sql'), QUERY);
  const feed = ['--source', 'sql', '--client', 'sqlite3', '--query', 'plans.sql'];
  const map = ['--map', 'plan.date_time_start=dt_viagem,hr_saida'];
  const args = ['init', '--config', FILE, '--yes', ...feed, ...map];
  const { code, stderr } = await place.runHere(args, { ERP_DATABASE_URL: 'erp.db' });
  expect([code, existsSync(join(place.dir, '.env'))]).toEqual([1, false]);
  expect(stderr).toContain('No column is read as plan.date_time_end: ');
  expect(stderr).toContain('--map plan.date_time_end=COLUMN');
  expect(stderr).toContain('No column is read as point.external_code, so no outcome of a stop returns: ');
  expect(stderr).toContain('not written to .env, where the daemon needs it too: ERP_DATABASE_URL');
  expect(stderr).toContain('npx roadbook doctor, once erp is corrected');
});

it('connects an ERP by HTTP, with a mapping from the names of its records', async () => {
  const plan = {
    num_viagem: 7,
    saida: '2026-11-18T08:00',
    retorno: '2026-11-18T18:00',
    cliente: 'Loja',
    endereco: 'Rua 1',
  };
  const server = createServer(({ headers }, answer) => {
    answer.writeHead(headers.authorization === 'Bearer secret-3' ? 200 : 401).end(JSON.stringify({ data: [plan] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const feed = ['--source', 'http', '--url', url, '--records', 'data', '--authorization', 'Bearer secret-3'];
  const { code, stdout } = await init(...feed, '--json');
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { items: 1, mapping: { 'plan.external_code': 'num_viagem' } }]);
  expect(stdout + written(FILE)).not.toContain('secret-3');
});

const [ENTER, DOWN] = ['\r', '\u001b[B'];

const test = it.skipIf(!existsSync('/usr/bin/script'));

/** Answers the questions of init on a terminal; resolves to all that it showed. `onAnswer` gets what was shown before each. */
async function answer(
  args: readonly string[],
  dialogue: readonly (readonly [question: string, typed: string])[],
  onAnswer: (all: string) => void = () => undefined,
): Promise<string> {
  const command = [process.execPath, ...PRODUCT_FLAGS, MAIN, 'init', '--config', FILE, ...args].join(' ');
  const terminal = spawn('/usr/bin/script', ['-qec', command, '/dev/null'], {
    cwd: place.dir,
    env: { PATH: process.env.PATH, TERM: 'xterm', COLUMNS: '200' },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  onTestFinished(() => void terminal.kill('SIGKILL'));
  let shown = '';
  let all = '';
  const ended = new Promise((resolve) => terminal.once('close', resolve));
  const left = [...dialogue];
  terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
    all += text;
    const [asked, typed] = left[0] ?? [];
    if (asked === undefined || typed === undefined || !shown.includes(asked)) return;
    left.shift();
    shown = '';
    onAnswer(all);
    terminal.stdin.write(typed);
  });
  expect([await ended, left], all).toEqual([0, []]);
  return all;
}

test('asks on a terminal, tries each answer, and lets a person correct it', { timeout: 600_000 }, async () => {
  const password = 'right-pass-word';
  const credentials = { username: 'maria', parent_username: '11222333000181', password, realm: 'frota' };
  const sandbox = await startSandbox({ credentials });
  onTestFinished(() => sandbox.close());
  const erp = await makeErp('sqlite3', join(place.dir, 'erp.db'));
  const account = (typed: string) =>
    [
      ['User name at the service', `maria${ENTER}`],
      ['parent account', `11222333000181${ENTER}`],
      ['Realm', `frota${ENTER}`],
      ['Password', `${typed}${ENTER}`],
    ] as const;
  const dialogue = [
    ['Time zone', ENTER],
    ['Warehouse', ENTER],
    ['Address of the service', `${sandbox.url}${ENTER}`],
    ...account('wrong-pass-word'),
    ['Correct the answers', ENTER],
    ['Address of the service', ENTER],
    ['User name at the service', ENTER],
    ['parent account', ENTER],
    ['Realm', ENTER],
    ['Password', `${password}${ENTER}`],
    ['Where route plans come from', `${DOWN}${ENTER}`],
    ["ERP's database", `erp.db${ENTER}`],
    ['Query', `plans.sql${ENTER}`],
    ['Correct the answers', ENTER],
    ['Where route plans come from', ENTER],
    ['Database of the ERP', ENTER],
    ["ERP's database", ENTER],
    ['Query', ENTER],
    ['plan.external_code', ENTER],
    ['plan.date_time_start', `dt_viagem, hr_saida${ENTER}`],
    ['plan.date_time_end', `dt_viagem, hr_retorno${ENTER}`],
    ['point.name', ENTER],
    ['point.address', ENTER],
    ['point.external_code, without which', `num_viagem, seq${ENTER}`],
  ] as const;
  writeFileSync(join(place.dir, 'plans.sql'), 'select * from nowhere');
  const all = await answer(['--client', 'sqlite3'], dialogue, (shown) => {
    // In another window.
    if (shown.includes('has no table nowhere')) writeFileSync(join(place.dir, 'plans.sql'), QUERY);
  });
  for (const secret of ['wrong-pass-word', password]) expect(all).not.toContain(secret);
  expect(written('.env')).toContain(`ROADBOOK_PASSWORD='${password}'`);
  expect(written(FILE)).toMatch(/point.external_code:\n +columns:\n +- num_viagem\n +- seq$/m);
  expect(await pushed(erp)).toMatchObject([{ external_code: '7', state: 'confirmed' }]);
  expect(sandbox.ledger().plans).toEqual({ 7: 1 });
});

const FILES_DIALOGUE = [
  ['Time zone', ENTER],
  ['Warehouse', ENTER],
  ['Address of the service', ENTER],
  ['Where route plans come from', ENTER],
  ['Folder', ENTER],
] as const;

test('asks on a terminal for the place of a stop, and for the form of unclear dates and numbers', async () => {
  writeFileSync(join(place.dir, 'sample.csv'), UNCLEAR);
  await answer(
    ['--sample', 'sample.csv'],
    [...FILES_DIALOGUE, ['point.address', `LOCAL_DESCARGA${ENTER}`], ['Form of dates', ENTER], ['Decimal mark', ENTER]],
  );
  const check = await place.runHere(['erp', 'check', 'sample.csv', '--config', FILE, '--json']);
  expect(JSON.parse(check.stdout)).toMatchObject(CLEAR);
  expect(written(FILE)).toMatch(/^ {4}dates: dd\/MM\/yyyy$.*^ {4}decimal: comma$/ms);
});

test('asks on a terminal for the other half of a pair', async () => {
  writeFileSync(join(place.dir, 'sample.csv'), HALF);
  await answer(
    ['--sample', 'sample.csv'],
    [...FILES_DIALOGUE, ['Column of point.time_window.start, which', `ABRE${ENTER}`]],
  );
  expect(written(FILE)).toMatch(/point.time_window.start: ABRE$/m);
});

test('keeps the columns that were answered when a person corrects one of them', async () => {
  const header = 'VIAGEM;DIA;DE;ATE;NOME_FANTASIA;LOCAL_DESCARGA';
  writeFileSync(join(place.dir, 'sample.csv'), `${header}\nV1;18/11/2026;08:00;18:00;Loja 1;"Rua Um, 1"\n`);
  await answer(
    ['--sample', 'sample.csv'],
    [
      ...FILES_DIALOGUE,
      ['plan.date_time_start', `DIA, DE${ENTER}`],
      ['plan.date_time_end', `DIA${ENTER}`],
      ['point.name', `NOME_FANTASIA${ENTER}`],
      ['point.address', `LOCAL_DESCARGA${ENTER}`],
      ['Correct the answers', ENTER],
      ['Where route plans come from', ENTER],
      ['Folder', ENTER],
      ['Sample file', ENTER],
      ['plan.external_code', ENTER],
      ['plan.date_time_start', ENTER],
      ['plan.date_time_end', `DIA, ATE${ENTER}`],
      ['point.name', ENTER],
      ['point.address', ENTER],
    ],
  );
  const check = await place.runHere(['erp', 'check', 'sample.csv', '--config', FILE, '--json']);
  expect(JSON.parse(check.stdout)).toMatchObject(CLEAR);
});
