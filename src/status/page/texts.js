// @ts-check
// The texts of the page in the language of the reader: one catalogue for each language, with the same keys.
import { en } from './texts/en.js';

const LOCALES = { en: 'en-GB', pt: 'pt-BR' };
export const LANGUAGES = { en: 'English', pt: 'Português' };

/** @typedef {keyof typeof en} TextKey */
/** @typedef {keyof typeof LANGUAGES} Language */

const KEY = 'roadbook-language';

/** @returns {Language} */
function preferred() {
  const wanted = [localStorage.getItem(KEY) ?? '', ...navigator.languages].map((name) => name.slice(0, 2));
  return /** @type {Language} */ (wanted.find((code) => code in LANGUAGES) ?? 'en');
}

/** @type {typeof import('./texts/portuguese.js').portuguese} Set before the language is. */
let portuguese;
const address = '/page/portuguese.js';
/** @type {Language} */
let language = 'en';
let plurals = new Intl.PluralRules('en');
let numbers = new Intl.NumberFormat('en');

export const currentLanguage = () => language;
export const locale = () => LOCALES[language];

/** Sets the language of the page; without an argument, the chosen one or the browser's. */
export async function chooseLanguage(/** @type {Language | undefined} */ chosen = undefined) {
  if (chosen !== undefined) localStorage.setItem(KEY, chosen);
  const next = chosen ?? preferred();
  if (next === 'pt') portuguese ??= (await import(address)).default.portuguese;
  language = next;
  plurals = new Intl.PluralRules(locale());
  numbers = new Intl.NumberFormat(locale());
  document.documentElement.lang = locale();
}

/**
 * The parts of a text: its words and, in place of each `{name}`, the value. `n` chooses the plural form.
 * @param {TextKey} key
 * @param {Record<string, any>} values
 */
function partsOf(key, values) {
  const text = /** @type {any} */ ((language === 'pt' ? portuguese.pt : en)[key]);
  // Portuguese readers expect the plural for 0, as English ones do.
  const chosen =
    typeof text === 'string' ? text : (text[values.n === 0 ? 'other' : plurals.select(values.n)] ?? text.other);
  return chosen.split(/\{(\w+)\}/).map((/** @type {string} */ part, /** @type {number} */ index) => {
    const value = index % 2 === 0 ? part : values[part];
    return typeof value === 'number' ? numbers.format(value) : value;
  });
}

/**
 * A text of the catalogue.
 * @param {TextKey} key
 * @param {Record<string, string | number>} [values]
 * @returns {string}
 */
export const t = (key, values = {}) => partsOf(key, values).join('');

/**
 * A text of the catalogue with elements in it.
 * @param {TextKey} key
 * @param {Record<string, any>} values
 */
export const rich = (key, values) => partsOf(key, values);

/**
 * The word for a code of the server, such as a state; a code that the catalogue does not have is shown as it is.
 * @param {string} group
 * @param {string | number} code
 */
export const word = (group, code) => {
  const key = /** @type {TextKey} */ (`${group}.${code}`);
  return key in en ? t(key) : String(code).replaceAll('_', ' ');
};

/** A sentence of the daemon, which speaks English, in the language of the page; undefined if there is no translation. */
export const translated = (/** @type {string} */ sentence) =>
  language === 'en' ? sentence : portuguese.inPortuguese(sentence);

/** What a job does or a table holds; the server says it in English. */
export const meaningOf = (/** @type {{name: string, meaning: string}} */ { name, meaning }) =>
  language === 'pt' ? portuguese.ptMeanings[name] : meaning;

/**
 * What the error code of a run means, and what to do. Only in Portuguese: the server says it in English.
 * @param {string | null} code
 * @returns {readonly [what: string, todo: string] | undefined}
 */
export function errorMeaning(code) {
  if (language === 'en' || code === null) return undefined;
  const { ptErrors, ptNeedPerson } = portuguese;
  return hasWord('todo', code) ? [`${ptNeedPerson} (${word('attention', code)}).`, word('todo', code)] : ptErrors[code];
}

/** Whether the catalogue has a word for a code. */
export const hasWord = (/** @type {string} */ group, /** @type {string} */ code) => `${group}.${code}` in en;
