// @ts-check
// Buttons for actions, and the dialogs of the page. The dialogs are outside of the views, so an update of a view cannot
// close or change them.
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { checkToken, forgetToken, keepToken } from '../api.js';
import { html } from '../html.js';
import { t } from '../texts.js';
import { usePage } from './page.js';
import { Failure } from './words.js';

/**
 * A button that carries out an action. `question` makes it ask first. It is not disabled while the action is under way,
 * because a disabled button loses the focus.
 * @param {{path: string, body?: unknown, label?: string, question?: {title: string, text: any, confirm?: string, back?: string},
 *   undo?: import('./page.js').Undo, children?: any}} props
 */
export function ActionButton({ path, body, label, question, undo, children }) {
  const { act, ask } = usePage();
  const [isBusy, setBusy] = useState(false);
  async function carryOut() {
    setBusy(true);
    await act(path, body, undo).finally(() => setBusy(false));
  }
  function press() {
    if (isBusy) return;
    if (question === undefined) void carryOut().catch(() => undefined);
    else ask({ confirm: String(children), ...question, action: carryOut });
  }
  return html`<button type="button" class="quiet" aria-label=${label} aria-disabled=${isBusy ? 'true' : undefined}
    aria-haspopup=${question === undefined ? undefined : 'dialog'} onClick=${press}>${children}</button>`;
}

/** A modal dialog that is open while it is rendered; then the focus returns to where it was. */
function Modal({ title, onClose, children, ...rest }) {
  // The dialog for the token may be over another one.
  const id = useId();
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useEffect(() => {
    const node = dialog.current;
    const before = /** @type {HTMLElement | null} */ (document.activeElement);
    node?.showModal();
    return () => {
      node?.close();
      before?.focus();
    };
  }, []);
  return html`<dialog ref=${dialog} aria-labelledby=${id} onCancel=${onClose} ...${rest}>
    <h2 id=${id}>${title}</h2>${children}
  </dialog>`;
}

/** @param {{question: import('./page.js').Question, onClose: () => void}} props */
export function ConfirmDialog({ question: { title, text, confirm, back = t('dialog.back'), action }, onClose }) {
  const [error, setError] = useState(/** @type {any} */ (undefined));
  const [isBusy, setBusy] = useState(false);
  async function carryOut() {
    if (isBusy) return;
    setBusy(true);
    try {
      await action();
      onClose();
    } catch (thrown) {
      setError(thrown);
      setBusy(false);
    }
  }
  return html`<${Modal} title=${title} onClose=${onClose} role="alertdialog" aria-describedby="dialog-text">
    <div id="dialog-text">${text}</div>
    ${error === undefined ? null : html`<${Failure} error=${error} />`}
    <div class="buttons">
      <button type="button" class="primary danger" aria-disabled=${isBusy ? 'true' : undefined} onClick=${carryOut}>${confirm}</button>
      <button type="button" class="quiet" autofocus onClick=${onClose}>${back}</button>
    </div>
  <//>`;
}

/**
 * Asks for the token and keeps it if the server accepts it.
 * @param {{wrong?: any, onDone: () => void, onClose: () => void}} props
 */
export function TokenDialog({ wrong, onDone, onClose }) {
  const [error, setError] = useState(wrong);
  async function submit(/** @type {any} */ event) {
    event.preventDefault();
    const given = event.target.elements.token.value;
    // A header can carry only these characters, so any other token is wrong.
    if (!/^[\x20-\x7e]+$/.test(given)) return setError({ code: 'token_characters' });
    keepToken(given);
    try {
      await checkToken();
      onDone();
    } catch (thrown) {
      forgetToken();
      setError(thrown);
    }
  }
  return html`<${Modal} title=${t('token.title')} onClose=${onClose}>
    <form onSubmit=${submit}>
      <p>${t('token.why')}</p>
      <label for="token">${t('token.label')}</label>
      <input id="token" name="token" type="password" autocomplete="off" spellcheck=${false} required autofocus />
      ${error === undefined ? null : html`<${Failure} error=${error} />`}
      <div class="buttons">
        <button type="submit" class="primary">${t('token.unlock')}</button>
        <button type="button" class="quiet" onClick=${onClose}>${t('token.later')}</button>
      </div>
    </form>
  <//>`;
}
