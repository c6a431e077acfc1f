// The page: finds the view of the address, shows it, and keeps it up to date while the server tells of changes.
import { forgetToken, live, token } from './api.js';
import { el, lay } from './dom.js';
import { note } from './notes.js';
import { obeyClicks, setUpToken } from './orders.js';
import * as config from './views/config.js';
import * as data from './views/data.js';
import * as overview from './views/overview.js';
import * as plans from './views/plans.js';
import * as runs from './views/runs.js';
import * as today from './views/today.js';
import { fullTime, setZone, tick } from './words.js';

const VIEWS = { overview, runs, plans, today, data, config };
const RETRY_MS = 3000;

const main = document.getElementById('main');
const state = { live: undefined, name: undefined, args: [], turn: 0, isArriving: false, isFollowing: false };

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

/** Shows the view of the address; whoever asks last wins, and the first to be shown arrives. */
async function show() {
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
    if (state.isArriving) main.replaceChildren(failure(error));
    if (error.status === undefined) throw error;
    if (error.status === 401) {
      setUpToken.ask(show, token() === null ? '' : error.message);
      forgetToken();
    }
  }
  if (state.isArriving) arrive(view.title);
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
  state.isArriving = false;
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
  state.isArriving = true;
  void show();
}

function showLink(word, tone) {
  document.getElementById('link-words').textContent = word;
  document.getElementById('link-state').className = `link-state ${tone}`;
  // What is shown must not look healthy while nobody knows.
  main.classList.toggle('outdated', tone !== 'ok');
}

/** Why the page is not up to date; nothing takes the words away. */
function showTrouble({ words, since } = {}) {
  const line = document.getElementById('trouble');
  line.hidden = words === undefined;
  line.textContent = words === undefined ? '' : `${words}. ${outdated(since)}`;
}

const outdated = (since) =>
  since === null ? 'Nothing was read yet.' : `This page is not up to date since ${fullTime(since)}.`;

/** Listens for as long as the page is there; a line that breaks is taken up again. */
async function follow() {
  if (state.isFollowing) return;
  state.isFollowing = true;
  for (;;) {
    try {
      for await (const news of live()) {
        if (news === undefined) continue;
        if (news.event === 'trouble') {
          showLink('not up to date', 'bad');
          showTrouble(news.data);
          continue;
        }
        const told = news.data;
        showLink('live', 'ok');
        showTrouble();
        announce(told);
        state.live = told;
        setZone(told.timezone);
        document.getElementById('footer').textContent =
          `Roadbook ${told.version} · times in ${told.timezone}`;
        if (VIEWS[state.name].isLive !== false) await show();
      }
    } catch (error) {
      if (error.status === 401) break;
    }
    showLink('not connected', 'bad');
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
  // Without the token there is nothing to listen to; it is taken up again when the token was given.
  state.isFollowing = false;
  showLink('locked', 'bad');
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
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', show);
  setUpToken(() => {
    void follow();
    go();
  });
  obeyClicks(main, show);
  main.addEventListener('input', (event) => VIEWS[state.name].input?.(event, show));
  main.addEventListener('click', (event) => VIEWS[state.name].click?.(event, show));
  main.addEventListener('pointermove', (event) => VIEWS[state.name].hover?.(event));
  main.addEventListener('toggle', (event) => VIEWS[state.name].toggle?.(event, show), true);
  setInterval(tick, 1000);
  void follow();
  go();
}

addEventListener('unhandledrejection', () => note('Something on this page failed; reload it.', 'bad'));
start();
