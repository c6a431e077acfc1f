// An endpoint declares one call of the service: it validates and encodes the request and reads the answer. The client
// handles sending, tokens, retries and errors.
import type { z } from 'zod';
import { Fatal } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import { issueTexts, parseWithMessages } from '../core/text/zod-words.ts';
import { documentOf, type Identity, idOf, recordsIn } from './answer.ts';
import { type CollectionForm, flagAsSent } from './interpretations.ts';
import { LONG_ID } from './request-fields.ts';
import type { CallRequest } from './transport/exchange.ts';
import type { WireAnswer } from './transport/transport.ts';

export interface Endpoint<Q, A> {
  /** The name in docs/reference/service.md and in the ledger of the sandbox. */
  readonly name: string;
  readonly kind: CallRequest['kind'];
  readonly method: CallRequest['method'];
  /** As the service documents it; `<id>` stands for an identifier. */
  readonly path: string;
  /** Throws a Fatal `request_invalid` if the request breaks a rule. */
  prepare(request: Q, collections: CollectionForm): CallRequest;
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

/** The form of parameters for which service.collections does not apply. */
type FixedForms = Readonly<Record<string, CollectionForm>>;

interface Declaration<Request extends z.ZodType<object>, A>
  extends Pick<Endpoint<unknown, A>, 'name' | 'kind' | 'method' | 'path' | 'read'> {
  request: Request;
  /** Builds the body, undefined for none; default: the checked request. */
  body?: (request: z.output<Request>) => object | undefined;
  /** Parameters of the query whose form does not depend on service.collections. */
  forms?: FixedForms;
}

/** A GET sends the checked request as its query, any other method as its body. */
export function defineEndpoint<Request extends z.ZodType<object>, A>(
  declaration: Declaration<Request, A>,
): Endpoint<z.input<Request>, A> {
  const { name, kind, method, path, read, request: schema, body, forms } = declaration;
  return {
    name,
    kind,
    method,
    path,
    read,
    prepare(request, collections) {
      const checked = checkRequest(name, schema, request);
      const { filled, rest } = fillPath(path, checked);
      if (method === 'GET') return { kind, method, path: filled, query: encodeQuery(rest, collections, forms) };
      const content = body === undefined ? rest : body(checked);
      return { kind, method, path: filled, query: '', body: JSON.stringify(content) };
    },
  };
}

interface ListDeclaration<Query extends z.ZodType<object>>
  extends RecordFields,
    Pick<Declaration<Query, unknown[]>, 'name' | 'path' | 'forms'> {
  query: Query;
}

export const listEndpoint = <Query extends z.ZodType<object>>({
  query,
  identity,
  fields,
  ...declaration
}: ListDeclaration<Query>): ListEndpoint<z.input<Query>> => ({
  ...defineEndpoint({
    ...declaration,
    kind: 'read',
    method: 'GET',
    request: query,
    read: (answer) => recordsIn(answer, identity),
  }),
  identity,
  fields,
});

/** The answer to a create or change. Its shape is not documented, so the id may be missing. */
export interface Written {
  /** Undefined if the answer has none; a read-back finds it. */
  id: number | undefined;
  raw: Json;
}

export const writeEndpoint = <Body extends z.ZodType<object>, A>(
  declaration: Omit<Declaration<Body, A>, 'kind'>,
): Endpoint<z.input<Body>, A> => defineEndpoint({ ...declaration, kind: 'write' });

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

/** The error lists all issues by path, without values. */
function checkRequest<Schema extends z.ZodType>(name: string, schema: Schema, request: unknown): z.output<Schema> {
  const result = parseWithMessages(schema, request);
  if (result.success) return result.data;
  const texts = issueTexts(result.error.issues, schema, request, 'request');
  throw new Fatal(`The call ${name} was not sent: ${texts.join('; ')}`, {
    code: 'request_invalid',
    hint: 'Correct the fields named above; docs/reference/service.md lists the calls.',
  });
}

/**
 * Collections have the configured form, or the fixed form of their parameter. Undefined and null parameters are not sent.
 */
function encodeQuery(
  parameters: Readonly<Record<string, unknown>>,
  setting: CollectionForm,
  fixed: FixedForms = {},
): string {
  return Object.entries(parameters)
    .flatMap(([name, value]) =>
      textsOf(value, fixed[name] ?? setting).map((text) => `${name}=${encodeURIComponent(text)}`),
    )
    .join('&');
}

function textsOf(value: unknown, form: CollectionForm): string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return [plain(value)];
  if (form === 'json') return [`[${value.map(jsonItem).join(',')}]`];
  const items = value.map(plain);
  return form === 'comma' ? [items.join(',')] : items;
}

const plain = (value: unknown): string => (typeof value === 'boolean' ? flagAsSent(value) : String(value));

/** JSON needs a long id as a number. */
const jsonItem = (item: unknown): string =>
  typeof item === 'string' && LONG_ID.test(item) ? item : JSON.stringify(item);
