// Parses JSON from the service. The parser's own error quotes the text, so it is replaced by an error without content.
import { parseLossless } from '../core/text/lossless-json.ts';

export class UnreadableJson extends Error {
  constructor() {
    super('invalid JSON');
    this.name = 'UnreadableJson';
  }
}

/** Valid JSON that is nested deeper than `levels`. */
export class NestedTooDeep extends UnreadableJson {}

export function parseJson(text: string, levels?: number): unknown {
  try {
    return parseLossless(text, levels);
  } catch (error) {
    throw error instanceof RangeError ? new NestedTooDeep() : new UnreadableJson();
  }
}
