// A strict reader of Prometheus' text exposition format 0.0.4, by its specification: anything that the format
// does not allow is an error, with the line.

export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

export interface Family {
  name: string;
  type: string;
  help: string;
  samples: Sample[];
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)/y;
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(.*)\\})?[ \\t]+(\\S+)(?:[ \\t]+(-?\\d+))?$`);
const TYPES = ['counter', 'gauge', 'histogram', 'summary', 'untyped'];
/** Suffixes that a sample of these types may add to the name of its family. */
const SUFFIXES: Record<string, readonly string[]> = {
  histogram: ['_bucket', '_sum', '_count'],
  summary: ['', '_sum', '_count'],
};

export function readPrometheusText(text: string): Map<string, Family> {
  if (!text.endsWith('\n')) throw new Error('the last line has to end with a line feed');
  const families = new Map<string, Family>();
  const seen = new Set<string>();
  let open: Family | undefined;
  const familyOf = (name: string): Family => {
    if (open?.name === name) return open;
    if (families.has(name)) throw new Error(`the lines of ${name} are not in one group`);
    open = { name, type: 'untyped', help: '', samples: [] };
    families.set(name, open);
    return open;
  };
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    const comment = new RegExp(`^# (HELP|TYPE) (${NAME})(?: (.*))?$`).exec(line);
    if (comment !== null) {
      const [, what, name = '', rest = ''] = comment;
      const family = familyOf(name);
      if (family.samples.length > 0) throw new Error(`after its samples: ${line}`);
      if (what === 'TYPE' && !TYPES.includes(rest)) throw new Error(`no such type: ${line}`);
      if (what === 'TYPE') family.type = rest;
      else family.help = rest;
    } else if (!line.startsWith('#')) {
      const sample = readSample(line);
      const id = JSON.stringify([sample.name, Object.entries(sample.labels).sort()]);
      if (seen.has(id)) throw new Error(`twice: ${line}`);
      seen.add(id);
      const owner = open !== undefined && belongs(sample.name, open) ? open : familyOf(sample.name);
      owner.samples.push(sample);
    }
  }
  return families;
}

const belongs = (name: string, { name: family, type }: Family): boolean =>
  (SUFFIXES[type] ?? ['']).some((suffix) => name === family + suffix);

function readSample(line: string): Sample {
  const [, name = '', labels = '', value = ''] = SAMPLE.exec(line) ?? [];
  if (name === '') throw new Error(`not a sample: ${line}`);
  return { name, labels: readLabels(labels, line), value: readValue(value, line) };
}

function readLabels(text: string, line: string): Record<string, string> {
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  for (let at = 0; at < text.length; at = LABEL.lastIndex) {
    LABEL.lastIndex = at;
    const [, name = '', value = ''] = LABEL.exec(text) ?? [];
    if (name === '' || name in labels) throw new Error(`wrong labels: ${line}`);
    labels[name] = value.replace(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
  }
  return labels;
}

/** As Go's ParseFloat reads them, which the format names: in any case. */
const SPECIAL: Record<string, number> = {
  nan: Number.NaN,
  inf: Number.POSITIVE_INFINITY,
  '+inf': Number.POSITIVE_INFINITY,
  '-inf': Number.NEGATIVE_INFINITY,
};

function readValue(text: string, line: string): number {
  const special = SPECIAL[text.toLowerCase()];
  if (special !== undefined) return special;
  if (!/^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/.test(text)) throw new Error(`not a number: ${line}`);
  return Number(text);
}
