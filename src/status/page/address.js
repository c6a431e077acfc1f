// @ts-check
// The address of a view, as in `#/plans/route_plans/R-7?day=2026-03-10`: name, arguments, filters. What a view shows is
// all in its address, so Back works and a link can be sent.

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** @returns {{view: string, args: string[], query: Record<string, string>}} */
export function readAddress(hash = location.hash) {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const [view = '', ...args] = path.split('/').map(decoded);
  return { view, args, query: Object.fromEntries(new URLSearchParams(query)) };
}

/**
 * @param {string} view
 * @param {readonly unknown[]} [args]
 * @param {Record<string, unknown>} [query] empty values are left out
 */
export function href(view, args = [], query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `#/${[view, ...args].map((arg) => encodeURIComponent(String(arg))).join('/')}${text === '' ? '' : `?${text}`}`;
}

/** Goes to an address. With `replace`, Back does not return to the present one; for texts that are being typed. */
export function goTo(/** @type {string} */ address, { replace = false } = {}) {
  if (address === location.hash) return;
  history[replace ? 'replaceState' : 'pushState'](null, '', address);
  dispatchEvent(new HashChangeEvent('hashchange'));
}

/** Changes filters of the present view; a new filter starts at the first page. */
export function setFilter(/** @type {Record<string, unknown>} */ changes, options = {}) {
  const { view, args, query } = readAddress();
  goTo(href(view, args, { ...query, page: undefined, ...changes }), options);
}

/** @param {{kind: string, external_code: string, code_use: number}} entry */
export const entryHref = ({ kind, external_code, code_use }) =>
  href('plans', [kind, external_code, ...(code_use === 1 ? [] : [code_use])]);
