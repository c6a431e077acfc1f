// A fault as a command-line flag: `<call>:<fault>[:name=value,…]`, for example
// `events:429:rate=0.1,retry_after=date`. Throws what is wrong with it, in words.
import { issueTexts, parseInWords } from '../core/zod-words.ts';
import { type Fault, faultSchema } from './faults.ts';

const FORM = '<call>:<fault>[:name=value,...]';

export function parseFaultFlag(text: string): Fault {
  const [call, fault, ...rest] = text.split(':');
  const settings = rest.join(':');
  const pairs = settings === '' ? [] : settings.split(',').map((pair) => pair.split('='));
  const fields = Object.fromEntries(pairs.map(([name, ...value]) => [name, readValue(value.join('='))]));
  const given = { call, fault, ...fields };
  const result = parseInWords(faultSchema, given);
  if (result.success) return result.data;
  const texts = issueTexts(result.error.issues, faultSchema, given, 'fault');
  throw new Error(`Fault "${text}" is not ${FORM}: ${texts.join('; ')}`);
}

function readValue(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  return text !== '' && !Number.isNaN(Number(text)) ? Number(text) : text;
}
