import { describe, expect, it } from 'vitest';
import { documentOf, idOf, recordsOf } from '../../../src/fleet/answer.ts';
import { readPicture } from '../../../src/fleet/endpoints/checklist-picture.ts';
import { dailySummary } from '../../../src/fleet/endpoints/daily-summary.ts';
import { TransportFault } from '../../../src/fleet/transport/transport-fault.ts';

const answer = (body: string | Buffer, status = 200) => ({ status, headers: {}, body: Buffer.from(body) });
const PNG = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(40, 7)]);

/** How a gateway may report an error, with a status of 200 on the answer itself. */
const UNAVAILABLE = { type: 'about:blank', title: 'Service unavailable', status: 503 };

describe('the records of an answer', () => {
  it.each([
    [{ data: [{ id: 1 }] }, [{ id: 1 }]],
    [{ data: { id: 1 } }, [{ id: 1 }]],
    [[{ id: 1 }], [{ id: 1 }]],
    [{ id: 1, title: 'x' }, [{ id: 1, title: 'x' }]],
    [{ data: null }, []],
    [{ data: {} }, []],
    [{}, []],
    [null, []],
    [undefined, []],
  ])('of %j are %j', (document, records) => {
    expect(recordsOf(document)).toEqual(records);
  });

  it.each([
    [{ message: 'wait' }],
    [UNAVAILABLE],
    [{ data: UNAVAILABLE }],
    [{ data: { items: 'none', page: null } }],
    [{ data: 'text' }],
    ['text'],
    [5],
  ])('%j has no readable records', (document) => {
    expect(() => recordsOf(document)).toThrow(TransportFault);
  });

  it('a daily figure, which has no id, is recognised by its title, and only inside data', () => {
    const figure = { title: 'ABC1D23', count: 2 };
    const read = (document: unknown) => dailySummary.read(answer(JSON.stringify(document)));
    expect(read({ data: figure })).toEqual([figure]);
    expect(() => read(UNAVAILABLE)).toThrow(TransportFault);
    expect(() => read({ ...UNAVAILABLE, id: 1 })).toThrow(TransportFault);
    expect(() => read({ data: { message: 'wait' } })).toThrow(TransportFault);
  });

  it('no content is no document; an empty body, HTML or a cut text is a bad answer', () => {
    expect(documentOf(answer('', 204))).toBeUndefined();
    for (const body of ['', '  ', '<html></html>', '{"data":[']) {
      expect(() => documentOf(answer(body))).toThrow(/bad_answer/);
    }
  });

  it.each([
    [{ id: 5 }, 5],
    [{ id: '5' }, 5],
    [{ data: { id: 5 } }, 5],
    [{ data: [{ id: 5 }] }, 5],
    [[{ id: 5 }], 5],
    [{ message: 'done' }, undefined],
    [{ id: 'abc' }, undefined],
    [null, undefined],
    ['ok', undefined],
  ])('the id in %j is %j', (document, id) => {
    expect(idOf(document)).toBe(id);
  });
});

describe('a picture', () => {
  const base64 = PNG.toString('base64');
  it.each([
    ['bare Base64', base64],
    ['Base64 in lines', `${base64.slice(0, 20)}\r\n${base64.slice(20)}\n`],
    ['URL-safe Base64', PNG.toString('base64url')],
    ['a data URI', `data:image/png;base64,${base64}`],
    ['a JSON text', JSON.stringify(base64)],
    ['JSON with a field', JSON.stringify({ name: 'a.png', data: { type: 'image/png', content: base64 } })],
    ['JSON with a data URI', JSON.stringify({ data: [{ picture: `data:image/png;base64,${base64}` }] })],
    ['the image itself', PNG],
  ])('is decoded from %s', (_what, body) => {
    expect(readPicture(answer(body))).toEqual({ bytes: PNG, contentType: 'image/png' });
  });

  it.each([
    ['image/jpeg', Buffer.from('\xff\xd8\xff\xe0', 'latin1')],
    ['image/gif', Buffer.from('GIF89a')],
    ['image/webp', Buffer.from('RIFF\x10\x00\x00\x00WEBP', 'latin1')],
    [undefined, Buffer.alloc(40, 65)],
  ])('is %s by its first bytes', (contentType, head) => {
    const bytes = Buffer.concat([head, Buffer.alloc(30)]);
    expect(readPicture(answer(bytes.toString('base64'))).contentType).toBe(contentType);
  });

  it.each(['', 'not found', 'none', '<html></html>', '{"data":null}', '{"data":', '{"message":"no such picture"}'])(
    'is not found in %j',
    (body) => {
      expect(() => readPicture(answer(body))).toThrow(/bad_answer/);
    },
  );
});
