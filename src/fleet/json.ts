// What the service sends as JSON. A parser's own error quotes the text, so broken text is one plain error.
import { parseLossless } from '../core/lossless-json.ts';

export class UnreadableJson extends Error {
  constructor() {
    super('no JSON that can be read');
    this.name = 'UnreadableJson';
  }
}

export function parseJson(text: string): unknown {
  try {
    return parseLossless(text);
  } catch {
    throw new UnreadableJson();
  }
}
