// @ts-check
// Everything that the page says in Portuguese: a script of its own, loaded only for its readers.
import { ptErrors, ptNeedPerson } from './errors.js';
import { ptMeanings } from './meanings.js';
import { pt } from './pt.js';
import { inPortuguese } from './said.js';

export const portuguese = { pt, ptMeanings, ptErrors, ptNeedPerson, inPortuguese };
