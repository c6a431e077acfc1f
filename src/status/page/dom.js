// Elements from data. Texts become text nodes and nothing else, so whatever a name holds is shown as it is. A view
// is built anew at each change and laid over the old one, so that focus, open details and scrolling stay.

const SVG = 'http://www.w3.org/2000/svg';

const fill = (node, attributes, children) => {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    node.setAttribute(name, value === true ? '' : String(value));
  }
  for (const child of children.flat(5)) {
    if (child === undefined || child === null || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
};

export const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
export const svg = (tag, attributes, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

/** Lays `wanted` over `shown`: the same kind of node stays, everything in it becomes as wanted. */
export function lay(shown, wanted) {
  if (
    shown.nodeType !== wanted.nodeType ||
    shown.nodeName !== wanted.nodeName ||
    keyOf(shown) !== keyOf(wanted)
  ) {
    shown.replaceWith(wanted);
    return wanted;
  }
  if (shown.nodeType === Node.TEXT_NODE) {
    if (shown.data !== wanted.data) shown.data = wanted.data;
    return shown;
  }
  layAttributes(shown, wanted);
  // What a chart has drawn is its own.
  if (!shown.hasAttribute('data-drawn')) layChildren(shown, wanted);
  return shown;
}

const keyOf = (node) => (node.nodeType === Node.ELEMENT_NODE ? node.getAttribute('data-key') : null);

/** What the user changed is left to the user. */
const isUsers = (node, name) =>
  (name === 'open' && node.nodeName === 'DETAILS') ||
  (name === 'tabindex' && node.nodeName === 'H1') ||
  (name === 'value' && node === document.activeElement);

function layAttributes(shown, wanted) {
  for (const { name } of [...shown.attributes]) {
    if (!wanted.hasAttribute(name) && !isUsers(shown, name)) shown.removeAttribute(name);
  }
  for (const { name, value } of wanted.attributes) {
    if (shown.getAttribute(name) === value || isUsers(shown, name)) continue;
    // The policy allows a style that a script sets, not one that is written as an attribute.
    if (name === 'style') shown.style.cssText = value;
    else shown.setAttribute(name, value);
  }
}

/** What has a key is found by it wherever it was; the rest is laid in order. */
function layChildren(shown, wanted) {
  const children = [...wanted.childNodes];
  const keyed = new Map([...shown.childNodes].map((node) => [keyOf(node), node]));
  children.forEach((child, index) => {
    const key = keyOf(child);
    const own = key === null ? undefined : keyed.get(key);
    if (own !== undefined && own !== shown.childNodes[index]) move(own, shown, shown.childNodes[index]);
    const old = shown.childNodes[index];
    if (old === undefined || keyOf(old) !== key) shown.insertBefore(child, old ?? null);
    else lay(old, child);
  });
  while (shown.childNodes.length > children.length) shown.lastChild.remove();
}

/** A node that is moved loses the focus in it, so that is given back. */
function move(node, parent, before) {
  const focused = document.activeElement;
  parent.insertBefore(node, before ?? null);
  if (node.contains(focused)) focused.focus({ preventScroll: true });
}
