// The page: finds the view of the address, shows it, and updates it on each change that the server reports.
import { forgetToken, live, token } from './api.js';
import { applyChanges } from './changes.js';
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

/** Loads and shows the current view. If calls overlap, only the last one is shown. */
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
    // A view that is already shown stays while the server is unreachable.
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

/** Moves the focus to the heading of a new view, so that screen readers announce it. */
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
  // An outdated view must not seem healthy.
  main.classList.toggle('outdated', tone !== 'ok');
}

/** Shows why the page is out of date; without an argument, hides the message. */
function showTrouble({ words, since } = {}) {
  const line = document.getElementById('trouble');
  line.hidden = words === undefined;
  line.textContent = words === undefined ? '' : `${words}. ${outdated(since)}`;
}

const outdated = (since) =>
  since === null ? 'No data has been read yet.' : `This page shows the state of ${fullTime(since)}.`;

/** Follows the live stream while the page is open; reconnects when the connection breaks. */
async function follow() {
  if (state.isFollowing) return;
  state.isFollowing = true;
  for (;;) {
    try {
      for await (const news of live()) {
        if (news === undefined) continue;
        if (news.event === 'trouble') {
          showLink('out of date', 'bad');
          showTrouble(news.data);
          continue;
        }
        if (news.event === 'alive') continue;
        const overview = news.event === 'change' ? applyChanges(state.live, news.data.changes) : news.data;
        showLink('live', 'ok');
        showTrouble();
        announce(overview);
        state.live = overview;
        setZone(overview.timezone);
        document.getElementById('footer').textContent = `Roadbook ${overview.version} · times in ${overview.timezone}`;
        if (VIEWS[state.name].isLive !== false) await show();
      }
    } catch (error) {
      if (error.status === 401) break;
    }
    showLink('not connected', 'bad');
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
  // The stream needs the token; `follow` starts again once the user has entered it.
  state.isFollowing = false;
  showLink('locked', 'bad');
}

/** Announces only a change of the health to screen readers; more would be noise. */
function announce({ health }) {
  if (state.live === undefined || state.live.health === health) return;
  document.getElementById('announcer').textContent = `Health is now ${health}`;
}

function start() {
  document
    .getElementById('views')
    .replaceChildren(
      ...Object.entries(VIEWS).map(([name, { title }]) => el('li', {}, el('a', { href: `#/${name}` }, title))),
    );
  addEventListener('hashchange', go);
  // Charts read their colours when they are drawn, so a change of the scheme draws them again.
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

addEventListener('unhandledrejection', () => note('The page has an error; reload it.', 'bad'));
start();
