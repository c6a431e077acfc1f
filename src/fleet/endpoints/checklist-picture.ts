// GET /checklist/picture/: the bytes of one picture of a checklist, identified by its hash.
import { z } from 'zod';
import { documentOf } from '../answer.ts';
import { defineEndpoint } from '../endpoint.ts';
import { nonEmptyText } from '../request-fields.ts';
import type { WireAnswer } from '../transport/transport.ts';
import { TransportFault } from '../transport/transport-fault.ts';

interface Picture {
  bytes: Buffer;
  /** Detected from the first bytes; undefined if the image type is unknown. */
  contentType: string | undefined;
}

const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;
const DATA_URI = /^data:[^,]*;base64,/i;
/** Every image has at least this many bytes. A word like "none" is valid Base64 too. */
const FEWEST_BYTES = 16;

/**
 * Extracts the bytes from every body the service may use: plain Base64, a data URI, JSON with either in a field, or the
 * image itself. Any other body is a bad answer, not an empty picture.
 */
export function readPicture(answer: WireAnswer): Picture {
  const direct = imageType(answer.body);
  if (direct !== undefined) return { bytes: answer.body, contentType: direct };
  const base64 = longestText(answer)
    .replace(DATA_URI, '')
    .replace(/[\r\n]+/g, '');
  if (!BASE64.test(base64)) throw new TransportFault('bad_answer', 'not Base64');
  const bytes = Buffer.from(base64, 'base64');
  const contentType = imageType(bytes);
  if (contentType === undefined && bytes.length < FEWEST_BYTES) throw new TransportFault('bad_answer', 'not a picture');
  return { bytes, contentType };
}

/** The body itself, or its longest text if it is JSON: the image is longer than any name or type. */
function longestText(answer: WireAnswer): string {
  const body = answer.body.toString('utf8').trim();
  if (!/^["{[]/.test(body)) return body;
  return textsIn(documentOf(answer), 0).reduce((longest, text) => (text.length > longest.length ? text : longest), '');
}

function textsIn(value: unknown, depth: number): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null || depth > 3) return [];
  return Object.values(value).flatMap((inner) => textsIn(inner, depth + 1));
}

function imageType(bytes: Buffer): string | undefined {
  const head = bytes.subarray(0, 12).toString('latin1');
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (head.startsWith('GIF87a') || head.startsWith('GIF89a')) return 'image/gif';
  if (head.startsWith('RIFF') && head.endsWith('WEBP')) return 'image/webp';
  return undefined;
}

export const checklistPicture = defineEndpoint({
  name: 'checklist-picture',
  kind: 'read',
  method: 'GET',
  path: '/checklist/picture/',
  request: z.strictObject({ picture: nonEmptyText }),
  read: readPicture,
});
