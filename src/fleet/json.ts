// What the service sends as JSON. A parser's own error quotes the text, so broken text is one plain error.
import { parseLossless } from '../core/text/lossless-json.ts';

export class UnreadableJson extends Error {
  constructor() {
    super('no JSON that can be read');
    this.name = 'UnreadableJson';
  }
}

/** It is JSON, and nested deeper than was asked for. */
export class NestedTooDeep extends UnreadableJson {}

export function parseJson(text: string, levels?: number): unknown {
  try {
    return parseLossless(text, levels);
  } catch (error) {
    throw error instanceof RangeError ? new NestedTooDeep() : new UnreadableJson();
  }
}
