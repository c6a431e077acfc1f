// The same events got in several ways, one after another in one run, into each engine; the ratios are the figures.
import { statSync } from 'node:fs';
import { type BenchPlace, VEHICLES } from '../bench-place.ts';
import type { Bar, BenchEngine, Measured, Section, Way } from '../task.ts';

const ENGINES = { sqlite: 'SQLite', postgres: 'PostgreSQL' } as const;

const WORDS: Record<Way, (engine: string) => string> = {
  parse: () => 'got and JSON.parse alone, nothing kept',
  bare: (engine) => `the bare load statement, ${engine}, rows from memory`,
  pull: (engine) => `Roadbook, end to end, into an empty ${engine} warehouse`,
  again: (engine) => `Roadbook, ${engine}, the same events again by the same process: nothing changed`,
  changed: (engine) => `Roadbook, ${engine}, the same events again after a restart: 1 % changed`,
  script: (engine) => `a script: got, JSON.parse, knex merge of 500 rows, ${engine}`,
  scriptAgain: (engine) => `the script, ${engine}, the same events again`,
  indexed: (engine) => `the script, its table with the indexes of the warehouse, ${engine}`,
};

interface Line {
  way: Way;
  engine: BenchEngine;
  measured: Measured;
}

const rate = ({ rows, seconds }: Measured): number => rows / seconds;
const whole = (number: number): string => Math.round(number).toLocaleString('en');

export async function eventsBench(place: BenchPlace, events: number): Promise<Section> {
  const parse = await place.measure('parse', 'sqlite', {}, events);
  const lines: Line[] = [{ way: 'parse', engine: 'sqlite', measured: parse }];
  const notes: string[] = [];
  for (const engine of ['sqlite', 'postgres'] as const) {
    const [settings, ofScript] = [await place.warehouse(engine), await place.warehouse(engine)];
    for (const way of ['bare', 'pull', 'again', 'changed', 'script', 'scriptAgain', 'indexed'] as const) {
      const isShared = ['pull', 'again', 'changed'].includes(way);
      const isScript = ['script', 'scriptAgain'].includes(way);
      const where = isShared ? settings : isScript ? ofScript : await place.warehouse(engine);
      lines.push({ way, engine, measured: await place.measure(way, engine, where, events) });
    }
    notes.push(ratios(lines, engine));
    if (settings.file !== undefined) notes.push(sizeOf(settings.file, events));
  }
  return {
    title: 'Events, end to end',
    body: `${whole(events)} events of ${VEHICLES} vehicles, 24 calls for each slice.

| way | events | seconds | events/s | ratio to parsing | CPU, s | peak RSS, MB | event-loop delay p99, ms |
|---|---|---|---|---|---|---|---|
${lines.map((line) => row(line, parse)).join('\n')}

${notes.join('\n')}`,
    bars: lines.map(toBar),
  };
}

function row({ way, engine, measured }: Line, parse: Measured): string {
  const cells = [
    WORDS[way](ENGINES[engine]),
    whole(measured.rows),
    measured.seconds.toFixed(1),
    whole(rate(measured)),
    (rate(measured) / rate(parse)).toFixed(2),
    ...ofTheProcess(way, measured),
  ];
  return `| ${cells.join(' | ')} |`;
}

/** The process of a bare statement also makes its rows, which is no part of the load: only its seconds are reported. */
const ofTheProcess = (way: Way, { cpuSeconds, peakMb, loopDelayMs }: Measured): string[] =>
  way === 'bare' ? ['–', '–', '–'] : [cpuSeconds.toFixed(1), peakMb.toFixed(0), loopDelayMs.toFixed(0)];

function ratios(lines: readonly Line[], engine: BenchEngine): string {
  const of = (way: Way): number => {
    const found = lines.find((line) => line.way === way && (way === 'parse' || line.engine === engine));
    return found === undefined ? Number.NaN : rate(found.measured);
  };
  const to = (way: Way): string => (of('pull') / of(way)).toFixed(2);
  const again = (of('again') / of('scriptAgain')).toFixed(2);
  return `${ENGINES[engine]}: ${to('parse')} of parsing alone, ${to('bare')} of the bare statement, ${to('script')} times the script, ${to('indexed')} times the script with the same indexes; the same events again, ${again} times the script's second run.`;
}

const sizeOf = (file: string, events: number): string =>
  `The SQLite warehouse takes ${Math.round(statSync(file).size / events)} bytes an event, indexes included.`;

const toBar = ({ way, engine, measured }: Line): Bar => ({
  label: WORDS[way](ENGINES[engine]),
  value: rate(measured),
  isOurs: ['pull', 'again', 'changed'].includes(way),
});
