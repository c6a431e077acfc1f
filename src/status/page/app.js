// The page: finds the view of the address, shows it, and keeps it up to date while the server tells of changes.
import { live, token } from './api.js';
import { el, lay } from './dom.js';
import { note } from './notes.js';
import { obeyClicks, setUpToken } from './orders.js';
import * as config from './views/config.js';
import * as data from './views/data.js';
import * as overview from './views/overview.js';
import * as plans from './views/plans.js';
import * as runs from './views/runs.js';
import * as today from './views/today.js';
import { setZone, tick } from './words.js';

const VIEWS = { overview, runs, plans, today, data, config };
const RETRY_MS = 3000;

const main = document.getElementById('main');
const state = { live: undefined, name: undefined, args: [], turn: 0 };

/** The view and its arguments, as in `#/runs/0198…`. */
function route() {
  const [name = '', ...args] = location.hash.replace(/^#\/?/, '').split('/').map(decoded);
  return name in VIEWS ? { name, args } : { name: 'overview', args: [] };
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function show({ isNew }) {
  const turn = ++state.turn;
  const view = VIEWS[state.name];
  try {
    const loaded = await view.load(state.args, state.live);
    if (turn !== state.turn) return;
    const wanted = el('div', { class: 'view', 'data-key': state.name }, view.render(loaded, state.args));
    if (main.firstElementChild === null) main.replaceChildren(wanted);
    else lay(main.firstElementChild, wanted);
    view.draw?.(main, loaded, state.args);
  } catch (error) {
    if (turn !== state.turn) return;
    // A view that is already there stays while the server is away.
    if (isNew) main.replaceChildren(failure(error));
    if (error.status === undefined) throw error;
    if (error.status === 401) setUpToken.ask(() => show({ isNew: true }));
  }
  if (isNew) arrive(view.title);
}

const failure = ({ message, hint }) =>
  el(
    'div',
    { class: 'view' },
    el('h1', {}, 'This view cannot be shown'),
    el('p', { class: 'wrong' }, message),
    el('p', { class: 'hint' }, hint ?? ''),
  );

/** A new view is told to screen readers by its heading. */
function arrive(title) {
  document.title = `${title} · Roadbook`;
  const heading = main.querySelector('h1');
  heading?.setAttribute('tabindex', '-1');
  if (state.wasAsked) heading?.focus({ preventScroll: true });
  state.wasAsked = true;
  scrollTo(0, 0);
}

function go() {
  const { name, args } = route();
  state.name = name;
  state.args = args;
  for (const link of document.querySelectorAll('#views a')) {
    if (link.hash === `#/${name}`) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  void show({ isNew: true });
}

function showLink(word, tone) {
  document.getElementById('link-words').textContent = word;
  document.getElementById('link-state').className = `link-state ${tone}`;
}

/** Listens for as long as the page is there; a line that breaks is taken up again. */
async function follow() {
  for (;;) {
    try {
      for await (const told of live()) {
        showLink('live', 'ok');
        if (told === undefined) continue;
        announce(told);
        state.live = told;
        setZone(told.timezone);
        document.getElementById('footer').textContent =
          `Roadbook ${told.version} · times in ${told.timezone}`;
        if (VIEWS[state.name].isLive !== false) await show({ isNew: false });
      }
    } catch (error) {
      if (error.status === 401) return;
    }
    showLink('not connected', 'bad');
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

/** A change of the health word is said aloud; anything else would be chatter. */
function announce(told) {
  if (state.live === undefined || state.live.health === told.health) return;
  document.getElementById('announcer').textContent = `Health is now ${told.health}`;
}

function start() {
  document
    .getElementById('views')
    .replaceChildren(
      ...Object.entries(VIEWS).map(([name, { title }]) =>
        el('li', {}, el('a', { href: `#/${name}` }, title)),
      ),
    );
  addEventListener('hashchange', go);
  // Charts take their colours when they are drawn.
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => show({ isNew: false }));
  setUpToken(() => {
    void follow();
    go();
  });
  obeyClicks(main, () => show({ isNew: false }));
  main.addEventListener('input', (event) => VIEWS[state.name].input?.(event, () => show({ isNew: false })));
  main.addEventListener('click', (event) => VIEWS[state.name].click?.(event, () => show({ isNew: false })));
  main.addEventListener('pointermove', (event) => VIEWS[state.name].hover?.(event));
  setInterval(tick, 1000);
  void follow();
  go();
  if (token() !== null) document.getElementById('sign-in').textContent = 'Actions unlocked';
}

addEventListener('unhandledrejection', () => note('Something on this page failed; reload it.', 'bad'));
start();
