// Builds elements from data. A text becomes a text node only, so markup in a name is shown as plain text. At each change
// a view is built again and patched into the old one, so that focus, open details and scroll position stay.

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
export const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

/** Patches `shown` until it equals `wanted`. A node of the same kind and key stays and is patched in place. */
export function lay(shown, wanted) {
  if (shown.nodeType !== wanted.nodeType || shown.nodeName !== wanted.nodeName || keyOf(shown) !== keyOf(wanted)) {
    shown.replaceWith(wanted);
    return wanted;
  }
  if (shown.nodeType === Node.TEXT_NODE) {
    if (shown.data !== wanted.data) shown.data = wanted.data;
    return shown;
  }
  if (isAsking(shown, wanted)) return shown;
  layAttributes(shown, wanted);
  // The children of a drawn element belong to its chart.
  if (!shown.hasAttribute('data-drawn')) layChildren(shown, wanted);
  return shown;
}

const keyOf = (node) => (node.nodeType === Node.ELEMENT_NODE ? node.getAttribute('data-key') : null);

/** A button that waits for its second press stays as it is, as long as its action is the same. */
const isAsking = (shown, wanted) =>
  shown.hasAttribute('data-asked') &&
  ['data-order', 'data-body'].every((name) => shown.getAttribute(name) === wanted.getAttribute(name));

/** Attributes that the user controls are not patched. */
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
    // The content security policy forbids the style attribute but allows a script to set styles.
    if (name === 'style') shown.style.cssText = value;
    else shown.setAttribute(name, value);
  }
}

/** Children with a key are matched by key, wherever they were; the others are matched by position. */
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

/** Moving a node loses the focus inside it, so the focus is restored. */
function move(node, parent, before) {
  const focused = document.activeElement;
  parent.insertBefore(node, before ?? null);
  if (node.contains(focused)) focused.focus({ preventScroll: true });
}
