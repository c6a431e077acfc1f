// What an endpoint is: a declaration of one call of the service. It validates and writes the request and reads
// the answer; sending, tokens, retries and errors are the client's.
import type { z } from 'zod';
import type { Json } from '../core/glossary.ts';
import { documentOf, type Identity, idOf, recordsIn } from './answer.ts';
import { encodeQuery, type FixedForms } from './query.ts';
import type { CollectionForm } from './readings.ts';
import { checkRequest } from './request-check.ts';
import type { WireAnswer, WireRequest } from './transport/transport.ts';

export interface Endpoint<Q, A> {
  /** As in docs/reference/service.md and in the ledger of the sandbox. */
  readonly name: string;
  /** A write changes something at the service: it is never sent again unless it is clear that it did nothing. */
  readonly kind: 'read' | 'write';
  readonly method: WireRequest['method'];
  /** As the service documents it, `<id>` standing for an identifier. */
  readonly path: string;
  /** Throws a Fatal `request_invalid` where the request breaks a rule. */
  prepare(request: Q, collections: CollectionForm): WireRequest;
  /** Throws a TransportFault `bad_answer` where the answer is not what it should be. */
  read(answer: WireAnswer): A;
}

/** What is known of the records of a call beside the columns that they fill. */
export interface RecordFields {
  /** What tells a record from others, and one that comes alone from an error document; `id` by default. */
  readonly identity?: Identity;
  /** Fields that have a known form and no column, by their dotted path; none by default. */
  readonly fields?: Readonly<Record<string, z.ZodType>>;
}

/** A read whose answer is records: raw, each to be checked by the caller (`checkRecord`). */
export interface ListEndpoint<Q> extends Endpoint<Q, unknown[]>, RecordFields {}

interface ListDeclaration<Query extends z.ZodType<object>> extends RecordFields {
  name: string;
  path: string;
  query: Query;
  /** Parameters whose form does not follow the setting. */
  forms?: FixedForms;
}

export function listEndpoint<Query extends z.ZodType<object>>(
  declaration: ListDeclaration<Query>,
): ListEndpoint<z.input<Query>> {
  const { name, path, query, forms, identity, fields } = declaration;
  return {
    name,
    kind: 'read',
    method: 'GET',
    path,
    identity,
    fields,
    prepare(request, collections) {
      const { filled, rest } = fillPath(path, checkRequest(name, query, request));
      return { method: 'GET', path: filled, query: encodeQuery(rest, collections, forms) };
    },
    read: (answer) => recordsIn(answer, identity),
  };
}

/** What a create or change gives back: the shape is not documented, so the id may be missing. */
export interface Written {
  /** Undefined where the answer names none: read back to learn it. */
  id: number | undefined;
  raw: Json;
}

interface WriteDeclaration<Body extends z.ZodType<object>, A> {
  name: string;
  method: 'POST' | 'PUT';
  path: string;
  request: Body;
  /** The body as it is sent; the checked request itself unless told. */
  body?: (request: z.output<Body>) => object;
  read: (answer: WireAnswer) => A;
}

export function writeEndpoint<Body extends z.ZodType<object>, A>(
  declaration: WriteDeclaration<Body, A>,
): Endpoint<z.input<Body>, A> {
  const { name, method, path, request: schema, body, read } = declaration;
  return {
    name,
    kind: 'write',
    method,
    path,
    prepare(request) {
      const checked = checkRequest(name, schema, request);
      const { filled, rest } = fillPath(path, checked);
      const content = body === undefined ? rest : body(checked);
      return { method, path: filled, query: '', body: JSON.stringify(content) };
    },
    read,
  };
}

/** The answer of a create or change; no body at all is as good as any, since none is documented. */
export function readWritten(answer: WireAnswer): Written {
  if (answer.body.length === 0) return { id: undefined, raw: null };
  const raw = documentOf(answer) ?? null;
  return { id: idOf(raw), raw: raw as Json };
}

function fillPath(path: string, request: object): { filled: string; rest: Record<string, unknown> } {
  const rest: Record<string, unknown> = { ...request };
  const filled = path.replace(/<(\w+)>/g, (_mark, name: string) => {
    const value = rest[name];
    delete rest[name];
    return encodeURIComponent(String(value));
  });
  return { filled, rest };
}
