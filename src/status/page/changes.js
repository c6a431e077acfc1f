// @ts-check
// Applies the changes of the live stream to the document that it sent first. Every object on the way to a change is copied,
// so that an unchanged part stays the same object.

/** `[path, value]` sets a value, `[path]` removes it; a step is a key, or the `name` or `run_id` of an item in a list. */
export const applyChanges = (document, changes) => changes.reduce(applied, document);

function applied(target, [path, ...values]) {
  if (path.length === 0) return values[0];
  const [step, ...rest] = path;
  const isLast = rest.length === 0;
  const next = (inner) => (isLast ? values[0] : applied(inner, [rest, ...values]));
  if (!Array.isArray(target)) {
    const { [step]: inner, ...others } = target;
    if (isLast && values.length === 0) return others;
    return { ...target, [step]: next(inner) };
  }
  const at = target.findIndex((item) => (item.name ?? item.run_id) === step);
  if (at === -1) return [...target, next(undefined)];
  return isLast && values.length === 0 ? target.toSpliced(at, 1) : target.with(at, next(target[at]));
}
