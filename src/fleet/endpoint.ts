// An endpoint declares one call of the service: it validates and encodes the request and reads the answer. The client
// handles sending, tokens, retries and errors.
import type { z } from 'zod';
import type { Json } from '../core/glossary.ts';
import { documentOf, type Identity, idOf, recordsIn } from './answer.ts';
import { encodeQuery, type FixedForms } from './query.ts';
import type { CollectionForm } from './readings.ts';
import { checkRequest } from './request-check.ts';
import type { WireAnswer, WireRequest } from './transport/transport.ts';

export interface Endpoint<Q, A> {
  /** The name in docs/reference/service.md and in the ledger of the sandbox. */
  readonly name: string;
  /** A write changes something at the service. It is sent again only if it certainly had no effect. */
  readonly kind: 'read' | 'write';
  readonly method: WireRequest['method'];
  /** As the service documents it; `<id>` stands for an identifier. */
  readonly path: string;
  /** Throws a Fatal `request_invalid` if the request breaks a rule. */
  prepare(request: Q, collections: CollectionForm): WireRequest;
  /** Throws a TransportFault `bad_answer` if the answer has an unexpected form. */
  read(answer: WireAnswer): A;
}

/** What is known about the records of a call, apart from the columns that they fill. */
export interface RecordFields {
  /** The field that identifies a record, and distinguishes a single record from an error document; default: `id`. */
  readonly identity?: Identity;
  /** Schemas of fields without a column, by dotted path; default: none. */
  readonly fields?: Readonly<Record<string, z.ZodType>>;
}

/** A read that answers with raw records. The caller checks each record (`checkRecord`). */
export interface ListEndpoint<Q> extends Endpoint<Q, unknown[]>, RecordFields {}

interface ListDeclaration<Query extends z.ZodType<object>> extends RecordFields {
  name: string;
  path: string;
  query: Query;
  /** Parameters whose form does not depend on service.collections. */
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

/** The answer to a create or change. Its shape is not documented, so the id may be missing. */
export interface Written {
  /** Undefined if the answer has none; a read-back finds it. */
  id: number | undefined;
  raw: Json;
}

interface WriteDeclaration<Body extends z.ZodType<object>, A> {
  name: string;
  method: 'POST' | 'PUT';
  path: string;
  request: Body;
  /** Builds the body; default: the checked request. */
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

/** Reads the answer to a create or change. An empty body is accepted, since no body is documented. */
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
