// roadbook doctor: looks at each part that a working daemon needs and says ok, warn or fail, with a hint.
import type { Command } from 'commander';
import { checkUp, type Finding } from '../status/check-up.ts';
import { addCommand, print, withApp } from './command.ts';
import { EXIT, exitCodeOf } from './exit-codes.ts';
import { coloured, textTable } from './text-table.ts';

export const addDoctor = (program: Command): Command =>
  addCommand(program, {
    usage: 'doctor',
    summary: 'checks configuration, warehouse, disk, login, clock and ERP; says what to do',
    action: withApp(async (app, _args, { json }) => {
      const findings = await checkUp({
        file: app.loaded.file,
        config: app.loaded.config,
        clock: app.clock,
        redactor: app.redactor,
        openWarehouse: app.warehouse,
        openService: async () => (await app.service()).fleet,
        openFeed: app.erpSource,
      });
      print(json ? JSON.stringify({ checks: findings }, null, 2) : show(findings));
      const failed = findings.find(({ state }) => state === 'fail');
      return failed === undefined ? EXIT.ok : exitCodeOf(failed.code ?? 'failed');
    }),
  });

const show = (findings: readonly Finding[]): string =>
  textTable(
    ['check', 'state', 'what was found', 'try'],
    findings.map(({ check, state, found, hint }) => [check, coloured(state), found, hint ?? '']),
  );
