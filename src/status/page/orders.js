// Orders: a button says what it orders, the token is asked for when there is none, and the answer is told.
import { forgetToken, keepToken, order, token } from './api.js';
import { el } from './dom.js';
import { note } from './notes.js';
import { plural } from './words.js';

const part = (id) => document.getElementById(id);
let afterToken = () => undefined;

/** The dialog for the token; `changed` is called when it was given or forgotten. */
export function setUpToken(changed) {
  const [dialog, input, button] = [part('token-dialog'), part('token-input'), part('sign-in')];
  const tell = () => {
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
    // A header cannot carry anything else, so no such token can be the right one; the dialog stays.
    if (!/^[\x20-\x7e]+$/.test(given)) {
      event.preventDefault();
      part('token-wrong').textContent = 'The token has plain letters, digits and signs only';
      return;
    }
    keepToken(given);
    try {
      await order('token');
    } catch (error) {
      forgetToken();
      tell();
      return setUpToken.ask(then, error.message);
    }
    tell();
    changed();
    then();
  });
  part('token-cancel').addEventListener('click', () => dialog.close());
  button.addEventListener('click', () => {
    if (token() === null) return setUpToken.ask(() => undefined);
    forgetToken();
    // Nothing that was read with the token stays: not on the page, nor the line that brings what is new.
    location.reload();
  });
  tell();
}

/**
 * A button that orders something; `sure` is asked first where it cannot be undone. Of an order about many entries the
 * server is asked first how many they are; `many` says what would be done to them.
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

/** Buttons whose order is under way. They stay enabled, because a disabled one would lose the focus. */
const underWay = new WeakSet();

async function give(button, done) {
  if (underWay.has(button)) return;
  const { order: path, body, sure, many } = button.dataset;
  if (token() === null) return setUpToken.ask(() => give(button, done));
  const content = body === undefined ? undefined : JSON.parse(body);
  // A second press is the confirmation: no dialog that is clicked away by habit.
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

function ask(button, words) {
  button.dataset.asked = '';
  button.textContent = words;
}
