// @ts-check
// `html` makes preact elements from templates. A value in a template becomes a text node or an attribute, never markup.
import htm from 'htm';
import { h } from 'preact';

export const html = htm.bind(h);
