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
 * The answer of `/api/<path>`, read again when something changes. `data` is of this address, or undefined until it was
 * read. `last` was read last, perhaps with another query: only for what is the same in each of its answers. Without `path`
 * nothing is read. `ignoresRuns`: a run that wrote nothing changes nothing in the answer.
 * @param {string | undefined} path
 * @param {Record<string, unknown>} [query]
 * @param {{everyMs?: number, isFixed?: boolean, ignoresRuns?: boolean}} [options]
 */
export function useData(path, query = {}, { everyMs = REFRESH_MS, isFixed = false, ignoresRuns = false } = {}) {
  const { failed, version, actions } = usePage();
  const slow = useSlowVersion(ignoresRuns ? version.data : version.any, everyMs);
  const key = JSON.stringify([path, query]);
  const [known, setKnown] = useState(/** @type {{key: string, data?: any, last?: any, error?: any}} */ ({ key: '' }));
  useEffect(() => {
    if (path === undefined) return;
    const gone = new AbortController();
    read(path, query, gone.signal).then(
      (data) => {
        if (!gone.signal.aborted) setKnown({ key, data, last: data });
      },
      (error) => {
        if (gone.signal.aborted) return;
        failed(error);
        // Data that is already shown stays while the server cannot be reached.
        setKnown((before) => (before.key === key && error.status === 0 ? before : { key, last: before.last, error }));
      },
    );
    return () => gone.abort();
  }, [key, ...(isFixed ? [] : [slow, actions])]);
  // What was read for another address would stand under the name of this one.
  return { last: known.last, ...(known.key === key && { data: known.data, error: known.error }) };
}
