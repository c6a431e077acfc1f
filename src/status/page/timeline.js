// The runs of the last day, one line for each job, and a tooltip for the run under the pointer.
import { el, svg } from './dom.js';
import { clockTime, plural, runSeconds, span, toneOf } from './words.js';

let shown = { bars: [] };

const WIDTH = 1440;
const HEIGHT = 20;
const TONES = ['ok', 'late', 'bad', 'new'];

export function timeline(day) {
  shown = day;
  const { from, to, jobs, bars, cut } = day;
  const [start, end] = [Date.parse(from), Date.parse(to)];
  const byJob = Map.groupBy(bars, ({ job }) => job);
  const rows = jobs.map((job) => {
    const own = byJob.get(job) ?? [];
    const failed = own.filter(({ status }) => toneOf(status) === 'bad').length;
    const words = `${job}: ${plural(own.length, 'run')}, ${failed} failed`;
    const byTone = Map.groupBy(own, ({ status }) => toneOf(status));
    return el(
      'div',
      { class: 'gantt-row', 'data-key': job },
      el('span', { class: 'gantt-name' }, job),
      svg(
        'svg',
        {
          class: 'gantt-line',
          viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
          preserveAspectRatio: 'none',
          role: 'img',
          'aria-label': words,
          'data-job': job,
        },
        hours(start, end).map((ms) =>
          svg('path', {
            class: 'hour',
            d: `M${place(ms, start, end)} 0V${HEIGHT}`,
            'vector-effect': 'non-scaling-stroke',
          }),
        ),
        TONES.filter((tone) => byTone.has(tone)).map((tone) =>
          svg('path', {
            class: `run ${tone}`,
            d: byTone
              .get(tone)
              .map((bar) => barPath(bar, start, end))
              .join(''),
          }),
        ),
      ),
    );
  });
  return el(
    'div',
    { class: 'gantt' },
    rows,
    el('div', { class: 'gantt-row axis', 'aria-hidden': 'true' }, el('span', {}), axis(start, end)),
    el(
      'p',
      { class: 'legend' },
      TONES.map((tone) => el('span', { class: `key ${tone}` }, el('span', { class: 'swatch' }), LEGEND[tone])),
    ),
    cut ? el('p', { class: 'hint' }, 'Only the newest 5,000 runs are drawn.') : null,
    el('p', { class: 'bubble', id: 'bubble', hidden: true, 'aria-hidden': 'true', 'data-drawn': true }),
  );
}

const LEGEND = { ok: 'ok', late: 'partial', bad: 'failed or abandoned', new: 'running' };

const place = (ms, start, end) => (((ms - start) / (end - start)) * WIDTH).toFixed(1);

function barPath({ started_at, finished_at }, start, end) {
  const x = Math.max(0, Number(place(Date.parse(started_at), start, end)));
  const to = finished_at === null ? WIDTH : Number(place(Date.parse(finished_at), start, end));
  // A minimum width, because a run of a second would be thinner than a pixel.
  const width = Math.max(2.5, to - x);
  return `M${x} 3h${width.toFixed(1)}v${HEIGHT - 6}h${(-width).toFixed(1)}z`;
}

function hours(start, end, step = 3) {
  const first = Math.ceil(start / 3600000) * 3600000;
  return Array.from({ length: 25 }, (_, n) => first + n * 3600000).filter(
    (ms) => ms < end && new Date(ms).getUTCHours() % step === 0,
  );
}

const axis = (start, end) =>
  el(
    'div',
    { class: 'axis-labels' },
    hours(start, end).map((ms) => {
      const label = el('span', {}, clockTime(ms));
      label.style.left = `${((ms - start) / (end - start)) * 100}%`;
      return label;
    }),
  );

/** The run under the pointer; undefined if none is near. */
export function runUnder(event) {
  const line = event.target.closest('.gantt-line');
  return line === null ? undefined : runAt(line, event.clientX);
}

/** The run of a line that is nearest to the pointer; undefined if none is near. */
function runAt(line, clientX) {
  const box = line.getBoundingClientRect();
  const [start, end] = [Date.parse(shown.from), Date.parse(shown.to)];
  const at = start + ((clientX - box.left) / box.width) * (end - start);
  const near = ((end - start) / box.width) * 6;
  const own = shown.bars.filter(({ job }) => job === line.dataset.job);
  const distance = ({ started_at, finished_at }) => {
    const [begin, stop] = [Date.parse(started_at), finished_at === null ? end : Date.parse(finished_at)];
    return at < begin ? begin - at : Math.max(0, at - stop);
  };
  const best = own.toSorted((a, b) => distance(a) - distance(b))[0];
  return best !== undefined && distance(best) <= near ? best : undefined;
}

export function hover(event) {
  const bubble = document.getElementById('bubble');
  if (bubble === null) return;
  const line = event.target.closest('.gantt-line');
  const run = line === null ? undefined : runAt(line, event.clientX);
  bubble.hidden = run === undefined;
  line?.classList.toggle('hit', run !== undefined);
  if (run === undefined) return;
  const took = runSeconds(run);
  bubble.textContent = `${run.job} · ${run.status} · ${clockTime(run.started_at)}${took === null ? '' : ` · ${span(took)}`}`;
  const frame = bubble.parentElement.getBoundingClientRect();
  bubble.style.left = `${Math.min(Math.max(0, event.clientX - frame.left - 80), frame.width - 240)}px`;
  bubble.style.top = `${line.getBoundingClientRect().top - frame.top - 34}px`;
}
