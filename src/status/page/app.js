// @ts-check
// The page: the bar with the views, the view of the address, the messages and dialogs. It follows the live stream of the
// daemon and says so when the daemon is silent.
import { render } from 'preact';
import { useEffect, useErrorBoundary, useRef, useState } from 'preact/hooks';
import { href, readAddress } from './address.js';
import { checkToken, forgetToken, live, post, token } from './api.js';
import { applyChanges } from './changes.js';
import { html } from './html.js';
import { ConfirmDialog, TokenDialog } from './parts/action.js';
import { PageContext } from './parts/page.js';
import { Failure, Said, Subject } from './parts/words.js';
import { shownOverall } from './reasons.js';
import { chooseLanguage, currentLanguage, LANGUAGES, t, word } from './texts.js';
import { ConfigView } from './views/config.js';
import { TablesView } from './views/data.js';
import { JobView } from './views/job.js';
import { Overview } from './views/overview.js';
import { PlansView } from './views/plans.js';
import { RunsView } from './views/runs.js';
import { TodayView } from './views/today.js';
import { fullTime, setZone } from './words.js';

/** In the order of the bar; the views of one job are reached by links. */
const VIEWS = {
  overview: Overview,
  today: TodayView,
  plans: PlansView,
  runs: RunsView,
  data: TablesView,
  config: ConfigView,
  jobs: JobView,
};
const IN_BAR = /** @type {const} */ (['overview', 'today', 'plans', 'runs', 'data', 'config']);

/** The server sends something every few seconds. A daemon that is silent for longer is frozen or gone. */
const SILENCE_MS = 9000;
const RETRY_MS = 3000;
/** A tab that is not shown gives its stream back, for a browser has few connections, and reads the state this often. */
const HIDDEN_MS = 60000;
const NOTE_MS = 8000;
const UNDO_MS = 20000;

function knownAddress() {
  const address = readAddress();
  return Object.hasOwn(VIEWS, address.view) ? address : { view: 'overview', args: [], query: {} };
}

/** The address, and the focus on the heading of a new view, so that screen readers announce it. */
function useAddress(/** @type {{current: HTMLElement | null}} */ main) {
  const [address, setAddress] = useState(knownAddress);
  const place = href(address.view, address.args);
  const isFirst = useRef(true);
  useEffect(() => {
    const read = () => setAddress(knownAddress());
    addEventListener('hashchange', read);
    addEventListener('popstate', read);
    return () => {
      removeEventListener('hashchange', read);
      removeEventListener('popstate', read);
    };
  }, []);
  useEffect(() => {
    if (!isFirst.current) main.current?.querySelector('h1')?.focus({ preventScroll: true });
    if (!isFirst.current) scrollTo(0, 0);
    isFirst.current = false;
  }, [place]);
  return { address, place };
}

/** If the element with the focus is removed, by an update or after an action, the heading gets it: a keyboard needs a place. */
function useKeptFocus(/** @type {{current: HTMLElement | null}} */ main) {
  useEffect(() => {
    /** @type {Node | null} */
    let last = null;
    const remember = (/** @type {any} */ { target }) => {
      last = target;
    };
    const removed = new MutationObserver(() => {
      if (document.activeElement !== document.body || last === null || last.isConnected) return;
      main.current?.querySelector('h1')?.focus({ preventScroll: true });
    });
    addEventListener('focusin', remember);
    removed.observe(document.body, { childList: true, subtree: true });
    return () => {
      removeEventListener('focusin', remember);
      removed.disconnect();
    };
  }, []);
}

const isHidden = () => document.visibilityState === 'hidden';

/** Until the tab is shown, or `ms` have passed. */
const untilShown = (/** @type {number} */ ms) =>
  new Promise((/** @type {(nothing: undefined) => void} */ resolve) => {
    const timer = setTimeout(go, ms);
    function go() {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', go);
      resolve(undefined);
    }
    document.addEventListener('visibilitychange', go);
  });

/**
 * Follows the live stream; reconnects when it breaks. `link.state` is `connecting`, `live`, `outdated` (the daemon cannot
 * read the warehouse), `silent` or `locked`.
 */
function useLive(/** @type {(error: any) => void} */ onLocked) {
  const [overview, setOverview] = useState(/** @type {any} */ (undefined));
  const [link, setLink] = useState(/** @type {{state: string, since?: string | null}} */ ({ state: 'connecting' }));
  const [version, setVersion] = useState({ any: 0, data: 0 });
  const [session, setSession] = useState(0);
  const heardAt = useRef(/** @type {string | null} */ (null));
  useEffect(() => {
    let isOver = false;
    /** @type {any} */
    let known;
    // The views read their data beside the first document.
    let isFirst = true;
    function take(/** @type {{event?: string, data: any}} */ news) {
      if (news.event === 'trouble') return setLink({ state: 'outdated', since: news.data.since });
      if (news.event === 'alive') return;
      const isChange = news.event === 'change';
      known = isChange ? applyChanges(known, news.data.changes) : news.data;
      setZone(known.timezone);
      setOverview(known);
      const changed = new Set(isChange ? news.data.changes.map(([path]) => path[0]) : isFirst ? [] : ['all']);
      isFirst = false;
      // A heartbeat is no reason to read anything again, and a change of jobs alone is none to read the tables again.
      changed.delete('daemons');
      const isOfRuns = [...changed].every((part) => part === 'jobs');
      if (changed.size > 0) setVersion(({ any, data }) => ({ any: any + 1, data: data + (isOfRuns ? 0 : 1) }));
      setLink({ state: 'live' });
    }
    async function follow() {
      while (!isOver) {
        let isHeard = false;
        try {
          for await (const news of live(SILENCE_MS)) {
            if (isOver) return;
            isHeard = true;
            heardAt.current = new Date().toISOString();
            take(news);
            if (isHidden()) break;
          }
        } catch (/** @type {any} */ error) {
          if (error.status === 401) {
            setLink({ state: 'locked', since: heardAt.current });
            return onLocked(error);
          }
        }
        if (isOver) return;
        isFirst = false;
        if (isHeard && isHidden()) {
          // What a tab shows when it is shown again is as old as its last reading.
          setLink((before) => (before.state === 'live' ? { state: 'connecting' } : before));
          await untilShown(HIDDEN_MS);
          continue;
        }
        setLink({ state: 'silent', since: heardAt.current });
        await new Promise((resolve) => setTimeout(resolve, isHeard ? 0 : RETRY_MS));
      }
    }
    void follow();
    return () => {
      isOver = true;
    };
  }, [session]);
  return { overview, link, version, reconnect: () => setSession((n) => n + 1) };
}

/** Messages at the edge of the page. */
function useNotes() {
  const [notes, setNotes] = useState(/** @type {any[]} */ ([]));
  const drop = (/** @type {number} */ id) => setNotes((all) => all.filter((each) => each.id !== id));
  function add(/** @type {any} */ note) {
    const id = Math.random();
    setNotes((all) => [...all, { ...note, id }]);
    setTimeout(() => drop(id), note.undo === undefined ? NOTE_MS : UNDO_MS);
  }
  return { notes, add, drop };
}

function App() {
  const main = useRef(/** @type {HTMLElement | null} */ (null));
  const { address, place } = useAddress(main);
  useKeptFocus(main);
  const [language, setLanguage] = useState(currentLanguage());
  const [question, setQuestion] = useState(/** @type {any} */ (undefined));
  const [unlock, setUnlock] = useState(/** @type {any} */ (undefined));
  const [actions, setActions] = useState(0);
  const readAgain = () => setActions((n) => n + 1);
  const { notes, add, drop } = useNotes();
  const locked = (/** @type {any} */ error) => {
    const wasLocked = token() === null;
    forgetToken();
    setUnlock((/** @type {any} */ before) => before ?? { wrong: wasLocked ? undefined : error });
  };
  const { overview, link, version, reconnect } = useLive(locked);

  /**
   * Carries out the action; asks for the token if the server wants one. Rejects without an error if the person does not
   * give it.
   * @returns {Promise<any>}
   */
  async function act(/** @type {string} */ path, /** @type {any} */ body, /** @type {any} */ undo) {
    try {
      const result = await post(path, body);
      if (result.words !== undefined) add({ tone: 'ok', result, undo });
      readAgain();
      return result;
    } catch (/** @type {any} */ error) {
      if (error.code === 'token_missing') {
        await new Promise((onUnlocked, onClosed) => setUnlock({ onUnlocked, onClosed }));
        return act(path, body, undo);
      }
      if (error.status === 401) locked(error);
      else {
        add({ tone: 'bad', error });
        readAgain();
      }
      throw error;
    }
  }

  /** Without a token in the configuration there is none to ask for. */
  const askForToken = () =>
    checkToken().catch((error) => (error.status === 403 ? add({ tone: 'bad', error }) : setUnlock({})));

  const isOutdated = link.state !== 'live';
  const page = {
    overview,
    isOutdated,
    version,
    actions,
    act,
    note: (/** @type {string} */ words) => add({ tone: 'ok', words }),
    ask: setQuestion,
    failed: (/** @type {any} */ error) => error.status === 401 && locked(error),
  };
  useTitle(overview, address.view, link.state);
  return html`<${PageContext.Provider} value=${page}>
    <a class="skip" href="#main" onClick=${(/** @type {Event} */ event) => {
      event.preventDefault();
      main.current?.focus();
    }}>${t('page.skip')}</a>
    <${Bar} view=${address.view} link=${link} onUnlock=${askForToken} />
    <${Trouble} link=${link} />
    <main id="main" ref=${main} tabindex="-1" class=${isOutdated ? 'outdated' : undefined}>
      <${View} key=${`${place} ${language}`} address=${address} />
    </main>
    <${Footer} overview=${overview} language=${language} onLanguage=${setLanguage} />
    <${Announcer} health=${overview && shownOverall(overview)} link=${link.state} />
    <section class="notes" aria-label=${t('page.messages')} aria-live="polite">
      ${notes.map((note) => html`<${Note} key=${note.id} note=${note} act=${act} onDone=${() => drop(note.id)} />`)}
    </section>
    ${question === undefined ? null : html`<${ConfirmDialog} question=${question} onClose=${() => setQuestion(undefined)} />`}
    ${
      unlock === undefined
        ? null
        : html`<${TokenDialog} wrong=${unlock.wrong} onClose=${() => {
            setUnlock(undefined);
            unlock.onClosed?.();
          }} onDone=${() => {
            setUnlock(undefined);
            readAgain();
            reconnect();
            unlock.onUnlocked?.();
          }} />`
    }
  <//>`;
}

/**
 * The title and the icon of the tab show a failure, and that a person is needed. A tab that is not shown has no stream, and
 * keeps the title of its last reading.
 */
function useTitle(/** @type {any} */ overview, /** @type {string} */ view, /** @type {string} */ link) {
  const health = overview === undefined ? 'ok' : shownOverall(overview);
  const isLost = overview !== undefined && link !== 'live' && link !== 'connecting';
  const isBad = isLost || ['failing', 'late'].includes(health);
  const isWarning = !isLost && health === 'warning';
  const words = isLost ? word('link', link) : word('health', health);
  const mark = isBad || isWarning ? `${words} · ` : '';
  const name = isBad ? 'favicon-bad' : isWarning ? 'favicon-warning' : 'favicon';
  useEffect(() => {
    document.title = `${mark}${word('view', view)} · Roadbook`;
    const icon = /** @type {HTMLLinkElement} */ (document.querySelector('link[rel=icon]'));
    icon.href = `/page/${name}.svg`;
  }, [mark, view, name]);
}

function View({ address }) {
  const [error, forget] = useErrorBoundary();
  useEffect(() => forget(), [address]);
  if (error !== undefined)
    return html`<div><h1 tabindex="-1">${t('page.broken')}</h1><p class="wrong">${t('page.reload')}</p></div>`;
  return html`<${VIEWS[/** @type {keyof typeof VIEWS} */ (address.view)]} ...${address} />`;
}

const Bar = ({ view, link, onUnlock }) => html`<header class="bar">
  <a class="brand" href="#/overview"><img src="/page/favicon.svg" alt="" width="22" height="22" />Roadbook</a>
  <nav aria-label=${t('page.views')}>
    <ul id="views">${IN_BAR.map(
      (name) =>
        html`<li key=${name}><a href="#/${name}" aria-current=${name === view ? 'page' : undefined}>${word('view', name)}</a></li>`,
    )}</ul>
  </nav>
  <p class="link-state ${link.state === 'live' ? 'ok' : 'bad'}"><span class="dot" aria-hidden="true"></span>${word('link', link.state)}</p>
  ${
    token() === null
      ? html`<button type="button" class="quiet" onClick=${onUnlock}>${t('token.title')}</button>`
      : html`<button type="button" class="quiet" onClick=${lock}>${t('token.lock')}</button>`
  }
</header>`;

/** The reload drops everything that was read with the token, and the live stream. */
function lock() {
  forgetToken();
  location.reload();
}

/** Says why the page is out of date. A page that was locked from the beginning shows nothing that could be. */
function Trouble({ link }) {
  const isOld = link.state === 'outdated' || link.state === 'silent' || (link.state === 'locked' && link.since);
  if (!isOld) return null;
  const since = link.since ? t('trouble.since', { at: fullTime(link.since) }) : t('trouble.never');
  return html`<p class="banner bad trouble-line" role="alert">${word('trouble', link.state)} ${since}</p>`;
}

/** Announces only a change of the health, or of the connection, to screen readers; more would be noise. */
function Announcer({ health, link }) {
  const before = useRef(health);
  const [words, setWords] = useState('');
  useEffect(() => {
    if (before.current !== undefined && health !== before.current)
      setWords(t('page.healthNow', { health: word('health', health) }));
    before.current = health;
  }, [health]);
  return html`<p class="unseen" role="status" aria-live="polite">${link === 'live' ? words : ''}</p>`;
}

function Note({ note: { tone, words, result, error, undo }, act, onDone }) {
  return html`<div class="note ${tone}">
    <div class="note-words">${words}
      ${result && html`<${Subject}>${result.subject}<//>: <${Said}>${result.words}<//>`}
      ${error && html`<${Failure} error=${error} />`}</div>
    ${
      undo === undefined
        ? null
        : html`<button type="button" class="quiet" onClick=${() => {
            onDone();
            act(undo.path, undo.body).catch(() => undefined);
          }}>${t('note.undo')}</button>`
    }
    <button type="button" class="quiet" aria-label=${t('note.close')} onClick=${onDone}>×</button></div>`;
}

const THEME = 'roadbook-theme';
function showTheme(/** @type {string} */ theme) {
  document.documentElement.dataset.theme = theme;
  // Charts read their colours when they are drawn.
  dispatchEvent(new Event('theme'));
}

function Footer({ overview, language, onLanguage }) {
  const [theme, setTheme] = useState(localStorage.getItem(THEME) ?? 'auto');
  useEffect(() => showTheme(theme), [theme]);
  const choose = (/** @type {(value: string) => void} */ set) => (/** @type {any} */ event) => set(event.target.value);
  return html`<footer>
    ${overview === undefined ? null : html`<p>${t('page.footer', { version: overview.version, zone: overview.timezone })}</p>`}
    <label><span>${t('page.language')}</span>
      <select value=${language} onChange=${choose((value) => {
        chooseLanguage(/** @type {any} */ (value)).then(() => onLanguage(value));
      })}>${Object.entries(LANGUAGES).map(([code, name]) => html`<option key=${code} value=${code} selected=${code === language} lang=${code}>${name}</option>`)}</select></label>
    <label><span>${t('page.theme')}</span>
      <select value=${theme} onChange=${choose((value) => {
        localStorage.setItem(THEME, value);
        setTheme(value);
      })}>${['auto', 'light', 'dark'].map((name) => html`<option key=${name} value=${name} selected=${name === theme}>${word('theme', name)}</option>`)}</select></label>
  </footer>`;
}

const place = /** @type {HTMLElement} */ (document.getElementById('page'));
chooseLanguage().then(() => render(html`<${App} />`, place));
