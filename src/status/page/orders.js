// Action buttons. A click sends the action of the button, asks for the token if there is none, and shows the result.
import { forgetToken, keepToken, order, token } from './api.js';
import { el } from './dom.js';
import { note } from './notes.js';
import { plural } from './words.js';

const part = (id) => document.getElementById(id);
let afterToken = () => undefined;

/** Sets up the token dialog. `changed` is called after the server has accepted a token. */
export function setUpToken(changed) {
  const [dialog, input, button] = [part('token-dialog'), part('token-input'), part('sign-in')];
  const showLock = () => {
    button.textContent = token() === null ? 'Unlock page' : 'Lock page';
  };
  setUpToken.ask = (then, wrong = '') => {
    afterToken = then;
    part('token-wrong').textContent = wrong;
    input.value = '';
    if (!dialog.open) dialog.showModal();
  };
  part('token-form').addEventListener('submit', async (event) => {
    const given = input.value;
    const then = afterToken;
    // A header can carry only these characters, so any other token is wrong. The dialog stays open.
    if (!/^[\x20-\x7e]+$/.test(given)) {
      event.preventDefault();
      part('token-wrong').textContent = 'A token has only ASCII letters, digits and punctuation';
      return;
    }
    keepToken(given);
    try {
      await order('token');
    } catch (error) {
      forgetToken();
      showLock();
      return setUpToken.ask(then, error.message);
    }
    showLock();
    changed();
    then();
  });
  part('token-cancel').addEventListener('click', () => dialog.close());
  button.addEventListener('click', () => {
    if (token() === null) return setUpToken.ask(() => undefined);
    forgetToken();
    // The reload drops everything that was read with the token, and the live stream.
    location.reload();
  });
  showLock();
}

/**
 * A button for an action. `sure` is the confirmation text of an action that cannot be undone. `many` is the verb of an
 * action on many entries: the first press asks the server how many entries there are, the second carries it out.
 */
export const orderButton = (words, path, { body, sure, many, label, quiet = true } = {}) =>
  el(
    'button',
    {
      type: 'button',
      class: quiet ? 'quiet' : 'primary',
      'data-order': path,
      'data-body': body === undefined ? undefined : JSON.stringify(body),
      'data-sure': sure,
      'data-many': many,
      'aria-label': label,
    },
    words,
  );

export function obeyClicks(root, done) {
  root.addEventListener('click', (event) => {
    const button = event.target.closest('button[data-order]');
    if (button !== null) void give(button, done);
  });
}

/** Buttons whose action is under way. They are not disabled, because a disabled button loses the focus. */
const underWay = new WeakSet();

async function give(button, done) {
  if (underWay.has(button)) return;
  const { order: path, body, sure, many } = button.dataset;
  if (token() === null) return setUpToken.ask(() => give(button, done));
  const content = body === undefined ? undefined : JSON.parse(body);
  // A second press confirms. A dialog would be dismissed by habit.
  const isAsked = button.dataset.asked !== undefined;
  if (sure !== undefined && !isAsked) return ask(button, sure);
  delete button.dataset.asked;
  underWay.add(button);
  button.setAttribute('aria-disabled', 'true');
  let isPreview = false;
  try {
    if (many !== undefined && !isAsked) {
      const { entries } = await order(path, content);
      ask(button, `Press again to ${many} ${plural(entries, 'entry', 'entries')}`);
      isPreview = true;
    } else {
      const { subject, words } = await order(path, many === undefined ? content : { ...content, sure: true });
      note(`${subject}: ${words}`);
    }
  } catch (error) {
    if (error.status === 401) {
      forgetToken();
      setUpToken.ask(() => give(button, done), error.message);
    } else note(error.message, 'bad', error.hint);
  } finally {
    underWay.delete(button);
    button.removeAttribute('aria-disabled');
    if (!isPreview) done();
  }
}

/** A question that nobody answers is taken back after a while. */
const ASKED_MS = 20_000;

function ask(button, words) {
  const before = button.textContent;
  button.dataset.asked = '';
  button.textContent = words;
  setTimeout(() => {
    if (button.dataset.asked === undefined) return;
    delete button.dataset.asked;
    button.textContent = before;
  }, ASKED_MS);
}
