import { describe, expect, it } from 'vitest';
import type { RoadbookError } from '../../../src/core/errors.ts';
import {
  DEFAULT_PAUSE_MS,
  LONGEST_PAUSE_MS,
  retryAfterMs,
  SHORTEST_PAUSE_MS,
} from '../../../src/core/retry/retry-after.ts';
import { createRedactor } from '../../../src/core/text/redaction.ts';
import { faultFailure, messageInBody, serviceMessage, statusFailure } from '../../../src/fleet/transport/failures.ts';
import { FAULT_TABLE, STATUS_TABLE } from '../../../src/fleet/transport/status-table.ts';
import { faultOf, TransportFault } from '../../../src/fleet/transport/transport-fault.ts';

const NOW = Date.parse('2025-03-12T10:00:00Z');
const call = (kind: 'read' | 'write') => ({ kind, method: 'GET', path: '/vehicle/' });
const failWith = (kind: 'read' | 'write', status: number, retryAfter?: string, body = '') =>
  statusFailure(
    call(kind),
    {
      status,
      headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
      body: Buffer.from(body),
    },
    { nowMs: NOW, redact: (text) => text.replaceAll('52998224725', '[redacted]') },
  );
const short = (error: RoadbookError) => `${error.name} ${error.code}`;

describe('the status table', () => {
  it.each([
    [301, 'Fatal redirected', 'Ambiguous answer_unclear'],
    [400, 'Skippable request_rejected', 'Skippable request_rejected'],
    [401, 'Fatal unauthorised', 'Fatal unauthorised'],
    [403, 'Fatal forbidden', 'Fatal forbidden'],
    [404, 'Skippable not_found', 'Skippable not_found'],
    [408, 'Retriable timed_out', 'Ambiguous answer_unclear'],
    [409, 'Skippable conflict', 'Skippable conflict'],
    [413, 'Skippable too_large', 'Skippable too_large'],
    [414, 'Skippable too_large', 'Skippable too_large'],
    [418, 'Skippable request_rejected', 'Skippable request_rejected'],
    [422, 'Skippable request_rejected', 'Skippable request_rejected'],
    [429, 'Retriable throttled', 'Retriable throttled'],
    [500, 'Retriable service_failed', 'Ambiguous answer_unclear'],
    [502, 'Retriable service_failed', 'Ambiguous answer_unclear'],
    [503, 'Retriable service_failed', 'Ambiguous answer_unclear'],
    [504, 'Retriable service_failed', 'Ambiguous answer_unclear'],
    [599, 'Retriable service_failed', 'Ambiguous answer_unclear'],
    [799, 'Retriable bad_answer', 'Ambiguous answer_unclear'],
  ])('%i is %s to a read and %s to a write', (status, read, write) => {
    expect(short(failWith('read', status).error)).toBe(read);
    expect(short(failWith('write', status).error)).toBe(write);
    expect(failWith('read', status).error.message).toBe(`GET /vehicle/ answered ${status}`);
  });

  it('has a hint in every row, and a limit on the pause that an answer can ask for', () => {
    for (const { hint } of [...Object.values(STATUS_TABLE), ...Object.values(FAULT_TABLE)]) {
      expect(hint.length).toBeGreaterThan(10);
    }
    expect(failWith('read', 429).pauseMs).toBe(DEFAULT_PAUSE_MS);
    expect(failWith('read', 429, 'soon').pauseMs).toBe(DEFAULT_PAUSE_MS);
    expect(failWith('read', 429, '99999999').pauseMs).toBe(LONGEST_PAUSE_MS);
    expect(failWith('write', 429, '7').error).toMatchObject({ pauseMs: 7_000 });
    expect(failWith('read', 503).pauseMs).toBeUndefined();
    expect(failWith('read', 503, '7').error).toMatchObject({ code: 'throttled', pauseMs: 7_000 });
    expect(failWith('write', 503, '7')).toMatchObject({ pauseMs: 7_000, error: { code: 'answer_unclear' } });
  });

  it('reads Retry-After as seconds or as a date', () => {
    expect(retryAfterMs('2', NOW)).toBe(2_000);
    expect(retryAfterMs('Wed, 12 Mar 2025 10:01:00 GMT', NOW)).toBe(60_000);
    expect(retryAfterMs('Wed, 12 Mar 2025 09:00:00 GMT', NOW)).toBe(SHORTEST_PAUSE_MS);
    expect(retryAfterMs('0', NOW)).toBe(SHORTEST_PAUSE_MS);
    expect(retryAfterMs('', NOW)).toBeUndefined();
    expect(retryAfterMs(undefined, NOW)).toBeUndefined();
  });

  it('keeps the words of the service beside the message, short and redacted', () => {
    const body = JSON.stringify({
      errors: [{ message: 'cpf 52998224725 is taken' }],
      record: { name: 'Someone' },
    });
    const { error } = failWith('write', 422, undefined, body);
    expect(serviceMessage(error)).toBe('cpf [redacted] is taken');
    expect(error.message).not.toContain('taken');
    expect(JSON.stringify(error.cause)).not.toContain('taken');
    expect(serviceMessage(failWith('write', 422, undefined, '<html>').error)).toBeUndefined();
    expect(
      serviceMessage(failWith('write', 422, undefined, JSON.stringify({ message: 'x'.repeat(999) })).error),
    ).toHaveLength(300);
  });
});

describe('a rejection of any length', () => {
  const secret = 's3cret'.repeat(400);
  const { add, redact } = createRedactor();
  add(secret);
  const said = (message: string) => messageInBody(Buffer.from(JSON.stringify({ message })), redact);

  it('shows no part of a secret, wherever it stands', () => {
    // The last one begins where the text is no longer read completely.
    for (const before of [0, 290, 299, 5_000, 63_990])
      expect(said(`${' '.repeat(before)}${secret}`)).not.toContain('s3');
    expect(said(secret.repeat(40))).not.toContain('s3');
  });

  it('is read only as far as it may matter', () => {
    const looked: number[] = [];
    const body = Buffer.from(JSON.stringify({ message: 'x'.repeat(5_000_000) }));
    messageInBody(body, (text) => {
      looked.push(text.length);
      return text;
    });
    expect(looked).toEqual([64_000]);
  });
});

describe('faults below HTTP', () => {
  it.each([
    [{ code: 'ECONNREFUSED' }, 'unreachable'],
    [{ code: 'ENOTFOUND' }, 'unreachable'],
    [{ code: 'ETIMEDOUT', phase: 'connect' }, 'unreachable'],
    [{ code: 'ETIMEDOUT', phase: 'secureConnect' }, 'unreachable'],
    [{ code: 'ETIMEDOUT', syscall: 'connect' }, 'unreachable'],
    [{ code: 'ETIMEDOUT', phase: 'request' }, 'timed_out'],
    [{ code: 'ECONNRESET' }, 'connection_lost'],
    [{ code: 'CERT_HAS_EXPIRED' }, 'tls'],
    [{ code: 'ERR_TLS_CERT_ALTNAME_INVALID' }, 'tls'],
    [{ code: 'EPROTO', connected: false }, 'tls'],
    [{ code: 'ERR_SSL_WRONG_VERSION_NUMBER', connected: false }, 'tls'],
    [{ code: 'ERR_TLS_INVALID_PROTOCOL_VERSION', connected: false }, 'tls'],
    [{ code: 'DEPTH_ZERO_SELF_SIGNED_CERT', connected: false }, 'tls'],
    [{ code: 'ECONNRESET', connected: false }, 'unreachable'],
    [{ code: 'ETIMEDOUT', phase: 'request', connected: false }, 'unreachable'],
    [{ code: 'ERR_ABORTED', connected: false }, 'aborted'],
    [{ code: 'EPROTO', connected: true }, 'connection_lost'],
    [{ code: 'ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC', connected: true }, 'connection_lost'],
    [{ code: 'CERT_HAS_EXPIRED', connected: true }, 'connection_lost'],
    [{ code: 'EHOSTUNREACH', connected: true }, 'connection_lost'],
    [{ code: 'ETIMEDOUT', phase: 'request', connected: true }, 'timed_out'],
    [{ code: 'EPROTO' }, 'connection_lost'],
    [{ code: 'ERR_SSL_WRONG_VERSION_NUMBER' }, 'connection_lost'],
    [{ code: 'ERR_TLS_INVALID_PROTOCOL_VERSION' }, 'connection_lost'],
    [{ code: 'Z_DATA_ERROR' }, 'bad_answer'],
    [{ code: 'HPE_INVALID_CONSTANT' }, 'bad_answer'],
    [{ code: 'ENEVERSEEN' }, 'connection_lost'],
    [{}, 'connection_lost'],
  ] as const)('%j is %s', (signs, fault) => {
    expect(faultOf(signs)).toBe(fault);
  });

  it.each([
    ['unreachable', 'Retriable service_unreachable', 'Retriable service_unreachable'],
    ['tls', 'Fatal tls', 'Fatal tls'],
    ['timed_out', 'Retriable timed_out', 'Ambiguous answer_unclear'],
    ['connection_lost', 'Retriable connection_lost', 'Ambiguous answer_unclear'],
    ['bad_answer', 'Retriable bad_answer', 'Ambiguous answer_unclear'],
    ['body_too_large', 'Skippable body_too_large', 'Ambiguous answer_unclear'],
    ['aborted', 'Retriable aborted', 'Ambiguous answer_unclear'],
  ] as const)('%s is %s to a read and %s to a write', (fault, read, write) => {
    expect(short(faultFailure(call('read'), new TransportFault(fault)))).toBe(read);
    expect(short(faultFailure(call('write'), new TransportFault(fault)))).toBe(write);
  });
});
