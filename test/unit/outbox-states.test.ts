// The moves of an outbox entry, held against the promise: what may have reached the service is never sent again
// but by way of a search that did not find it.
import { describe, expect, it } from 'vitest';
import { outboxHealth } from '../../src/status/health.ts';
import {
  MOVES,
  type MoveName,
  mayMove,
  OUTBOX_STATES,
  type OutboxState,
} from '../../src/warehouse/outbox-states.ts';

const moves = Object.keys(MOVES) as MoveName[];
const leading = (from: OutboxState, to: OutboxState): MoveName[] =>
  moves.filter((move) => mayMove(move, from) && MOVES[move].to === to);

describe('the moves of an outbox entry', () => {
  it('reach every state', () => {
    expect(new Set(moves.map((move) => MOVES[move].to))).toEqual(new Set(OUTBOX_STATES));
  });

  it('lead to sending from ready alone', () => {
    expect(OUTBOX_STATES.filter((state) => leading(state, 'sending').length > 0)).toEqual(['ready']);
  });

  it('lead from unknown back to ready only where the service was searched, or a person vouches', () => {
    expect(leading('unknown', 'ready')).toEqual(['confirmOlder', 'absent', 'vouch']);
  });

  it('lead from sending to ready only where nothing arrived, or where it did and is to be changed', () => {
    expect(leading('sending', 'ready')).toEqual(['release', 'confirmOlder']);
  });

  it('let no confirmed entry be sent again but as a change', () => {
    expect(moves.filter((move) => mayMove(move, 'confirmed'))).toEqual(['change']);
  });

  it('never cancel what is being sent', () => {
    expect(leading('sending', 'cancelled')).toEqual([]);
  });
});

describe('the health of the outbox', () => {
  const now = Date.parse('2026-01-01T12:00:00Z');

  it('is late once something has been unknown for more than ten minutes', () => {
    expect(outboxHealth(null, now)).toBe('ok');
    expect(outboxHealth('2026-01-01T11:50:00.000Z', now)).toBe('ok');
    expect(outboxHealth('2026-01-01T11:49:59.000Z', now)).toBe('late');
  });
});
