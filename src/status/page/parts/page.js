// @ts-check
// What every view may use of the page around it: the live overview, actions, questions, and data that stays fresh.
import { createContext } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { read } from '../api.js';

/**
 * @typedef {object} Page
 * @property {any} overview the live document; undefined until it was read
 * @property {boolean} isOutdated the daemon does not answer or cannot read the warehouse
 * @property {{any: number, data: number}} version grows with each change that the server reports; `data` not with mere runs
 * @property {number} actions grows with each action of this page
 * @property {(path: string, body?: unknown, undo?: Undo) => Promise<any>} act carries out an action and reports its result
 * @property {(words: string) => void} note shows a message
 * @property {(question: Question) => void} ask opens the dialog of an action that needs a confirmation
 * @property {(error: import('../api.js').ServerError) => void} failed
 */
/** @typedef {{path: string, body?: unknown}} Undo */
/**
 * @typedef {object} Question
 * @property {string} title
 * @property {any} text
 * @property {string} confirm label of the button that carries it out
 * @property {string} [back] label of the button that does not; default: Back
 * @property {() => Promise<any>} action
 */

export const PageContext = createContext(/** @type {Page} */ (/** @type {unknown} */ (undefined)));
export const usePage = () => useContext(PageContext);

/** While changes keep coming, data is read again this often at most. */
const REFRESH_MS = 3000;

/** A version that is changed at most once in `everyMs`. @param {number} version @param {number} everyMs */
function useSlowVersion(version, everyMs) {
  const [slow, setSlow] = useState(version);
  const changedAt = useRef(Date.now());
  useEffect(() => {
    if (version === slow) return;
    const update = () => {
      changedAt.current = Date.now();
      setSlow(version);
    };
    const timer = setTimeout(update, Math.max(0, changedAt.current + everyMs - Date.now()));
    return () => clearTimeout(timer);
  }, [version, slow]);
  return slow;
}

/**
 * Reads once, and after each call of `again`. A reading that is under way is completed first: with a slow server and many
 * changes none would ever end otherwise. Without an answer it is repeated.
 * @param {(signal: AbortSignal) => Promise<any>} readOnce
 * @param {(read: {data?: any, error?: any, readAt: string}) => void} take
 */
export function keepReading(readOnce, take, everyMs = REFRESH_MS) {
  const gone = new AbortController();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let retry;
  let isReading = false;
  let isDue = false;
  async function again() {
    isDue = true;
    if (isReading) return;
    isReading = true;
    clearTimeout(retry);
    while (isDue && !gone.signal.aborted) {
      isDue = false;
      const readAt = new Date().toISOString();
      const found = await readOnce(gone.signal).then(
        (data) => ({ data, readAt }),
        (error) => ({ error, readAt }),
      );
      if (gone.signal.aborted) return;
      take(found);
      if ('error' in found && found.error.status === 0) retry = setTimeout(again, everyMs);
    }
    isReading = false;
  }
  void again();
  return { again, close: () => gone.abort() };
}

/**
 * The answer of `/api/<path>`, read again when something changes. `data` is of this address, or undefined until it was
 * read. `last` was read last, perhaps with another query: only for what is the same in each of its answers. Without `path`
 * nothing is read. `ignoresRuns`: a run that wrote nothing changes nothing in the answer. With both `data` and `error` the
 * data is that of `readAt`, and newer data could not be read.
 * @param {string | undefined} path
 * @param {Record<string, unknown>} [query]
 * @param {{everyMs?: number, isFixed?: boolean, ignoresRuns?: boolean}} [options]
 */
export function useData(path, query = {}, { everyMs = REFRESH_MS, isFixed = false, ignoresRuns = false } = {}) {
  const { failed, version, actions } = usePage();
  const slow = useSlowVersion(ignoresRuns ? version.data : version.any, everyMs);
  const key = JSON.stringify([path, query]);
  const [known, setKnown] = useState(
    /** @type {{key: string, data?: any, last?: any, readAt?: string, error?: any}} */ ({ key: '' }),
  );
  const reading = useRef(/** @type {ReturnType<typeof keepReading> | undefined} */ (undefined));
  useEffect(() => {
    if (path === undefined) return;
    const own = keepReading(
      (signal) => read(path, query, signal),
      ({ data, error, readAt }) => {
        if (error === undefined) return setKnown({ key, data, last: data, readAt });
        failed(error);
        // Data that is already shown stays while the server cannot be reached.
        setKnown((before) =>
          before.key === key && error.status === 0 ? { ...before, error } : { key, last: before.last, error },
        );
      },
    );
    reading.current = own;
    return own.close;
  }, [key]);
  // The effect above reads at first, this one after a change.
  const isFirst = useRef(true);
  useEffect(
    () => {
      if (!isFirst.current) void reading.current?.again();
      isFirst.current = false;
    },
    // What is fixed is read again only if it could not be read, for instance before the token was given.
    isFixed ? [known.error === undefined ? 0 : actions] : [slow, actions],
  );
  // What was read for another address would stand under the name of this one.
  return known.key === key ? known : { key, last: known.last };
}
