// The dashboard and the alert rules use metrics that exist, with labels that they have.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type Family, readPrometheusText } from '../../support/status/prometheus-text.ts';
import { makeStatusPlace, type StatusPlace } from '../../support/status/status-place.ts';

const fileOf = (name: string): string => readFileSync(resolve(import.meta.dirname, '../../../deploy', name), 'utf8');

interface Rule {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; description: string };
}

interface RuleTest {
  alertname: string;
  exp_alerts: unknown[];
}

const rules: Rule[] = parse(fileOf('prometheus-rules.yml')).groups.flatMap(({ rules: own }: { rules: Rule[] }) => own);
const panels: { title: string; targets: { expr: string }[] }[] = JSON.parse(fileOf('grafana-dashboard.json')).panels;

const expressions = [
  ...rules.map(({ alert, expr }) => [alert, expr] as const),
  ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
];

describe('deploy', () => {
  let place: StatusPlace;
  let families: Map<string, Family>;
  beforeAll(async () => {
    place = await makeStatusPlace({ queue: { waiting: 1, active: 0, dead: 0 } });
    await place.rig.run('pull-vehicles');
    families = readPrometheusText((await place.ask('GET', '/metrics')).text);
  });
  afterAll(() => place.close());

  it.each(expressions)('%s uses metrics that exist: %s', (_, expr) => {
    const names = expr.match(/roadbook_[a-z_]+/g) ?? [];
    expect(names.filter((name) => !families.has(name))).toEqual([]);
    if (names.length === 0) expect(expr).toMatch(/^up\{/);
    for (const [, name = '', label = ''] of expr.matchAll(/(roadbook_[a-z_]+)\{([a-z_]+)/g)) {
      expect(Object.keys(families.get(name)?.samples[0]?.labels ?? {})).toContain(label);
    }
  });

  it('counts an increase only of counters', () => {
    for (const [, expr] of expressions)
      for (const [, name = ''] of expr.matchAll(/(?:increase|rate)\((\w+)/g))
        expect({ expr, type: families.get(name)?.type }).toEqual({ expr, type: 'counter' });
  });

  it('keeps the label `job` for Prometheus', () => {
    for (const { name, samples } of families.values())
      for (const { labels } of samples) expect({ name, job: labels.job }).toEqual({ name, job: undefined });
  });

  const promtool = spawnSync('promtool', ['--version']).status === 0;
  it.skipIf(!promtool)(`alerts as its rules are tested${promtool ? '' : ': promtool is not installed'}`, () => {
    const cwd = resolve(import.meta.dirname, '../../../deploy');
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', 'prometheus-rules.test.yml'], { cwd });
    expect({ status, printed: `${stdout}${stderr}` }).toMatchObject({ status: 0 });
  });

  it('tests every rule', () => {
    const { tests } = parse(fileOf('prometheus-rules.test.yml')) as { tests: { alert_rule_test: RuleTest[] }[] };
    const firing = tests.flatMap(({ alert_rule_test }) =>
      alert_rule_test.filter(({ exp_alerts }) => exp_alerts.length > 0),
    );
    expect(new Set(firing.map(({ alertname }) => alertname))).toEqual(new Set(rules.map(({ alert }) => alert)));
  });

  it('says for each alert what is wrong and how severe it is', () => {
    for (const { labels, annotations } of rules) {
      expect(['critical', 'warning', 'info']).toContain(labels.severity);
      expect(annotations.summary).not.toBe('');
      expect(annotations.description).not.toBe('');
    }
  });
});
