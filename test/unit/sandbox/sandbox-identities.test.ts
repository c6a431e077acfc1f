import { inflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { isCpf } from '../../../src/core/text/redaction.ts';
import { cpfOf } from '../../../src/sandbox/made-up/cpf.ts';
import { dayIds, partId, vehicleIds, writtenId } from '../../../src/sandbox/made-up/identifiers.ts';
import { personName } from '../../../src/sandbox/made-up/names.ts';
import { CITY, placeFor } from '../../../src/sandbox/made-up/places.ts';
import { plateOf } from '../../../src/sandbox/made-up/plates.ts';
import { seededRandom } from '../../../src/sandbox/made-up/seeded-random.ts';
import { drawImage, imageHash } from '../../../src/sandbox/world/images.ts';

const first = (count: number): number[] => [...Array(count).keys()];

describe('CPF', () => {
  it('knows the check digits of a published example', () => {
    expect(isCpf('529.982.247-25')).toBe(true);
    expect(isCpf('529.982.247-26')).toBe(false);
    expect(isCpf('11111111111')).toBe(false);
  });

  it('gives each index its own valid number', () => {
    const all = first(20_000).map((index) => cpfOf(7, index));
    expect(all.every(isCpf)).toBe(true);
    expect(new Set(all).size).toBe(all.length);
  });
});

describe('names', () => {
  it('differ between the drivers of any ordinary fleet', () => {
    const all = first(5_000).map((index) => personName(7, 'driver', index));
    expect(new Set(all).size).toBe(all.length);
  });
});

describe('plates', () => {
  it('are unique and come in both formats', () => {
    const all = first(20_000).map((index) => plateOf(7, index));
    expect(new Set(all).size).toBe(all.length);
    const older = all.filter((plate) => /^[A-Z]{3}\d{4}$/.test(plate)).length;
    const newer = all.filter((plate) => /^[A-Z]{3}\d[A-Z]\d{2}$/.test(plate)).length;
    expect([older, newer]).toEqual([10_000, 10_000]);
  });
});

describe('identifiers', () => {
  it('can be read back and never collide with those given to writes', () => {
    expect(vehicleIds.indexOf(vehicleIds.of(41))).toBe(41);
    expect(dayIds.keyOf(dayIds.of(41, 20_500))).toEqual({ index: 41, day: 20_500 });
    expect(dayIds.of(41, 20_500) % 2).toBe(0);
    expect(writtenId(12) % 2).toBe(1);
  });

  it('stay exact and distinct for a hundred thousand vehicles', () => {
    expect(partId(100_000, 36_000, 127)).toBeLessThan(Number.MAX_SAFE_INTEGER);
    expect(partId(100_000, 36_001, 0)).toBeGreaterThan(partId(100_000, 36_000, 127));
  });
});

describe('images', () => {
  it('are PNG files with as many pixels as they announce', () => {
    const png = drawImage(1, `${imageHash(1, 'test', 5)}.png`) as Buffer;
    expect(png.subarray(1, 4).toString()).toBe('PNG');
    const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
    const length = png.readUInt32BE(33);
    const pixels = inflateSync(png.subarray(41, 41 + length));
    expect(pixels.length).toBe(height * (1 + width * 3));
  });

  it('are not drawn for a hash the sandbox never gave', () => {
    expect(drawImage(1, 'f'.repeat(32))).toBeUndefined();
    expect(drawImage(2, imageHash(1, 'test', 5))).toBeUndefined();
  });
});

describe('chance', () => {
  it('repeats itself for the same key and differs for a neighbour', () => {
    const draw = (...key: (number | string)[]) => first(5).map(seededRandom(...key).bits);
    expect(draw(1, 'a', 2)).toEqual(draw(1, 'a', 2));
    expect(draw(1, 'a', 2)).not.toEqual(draw(1, 'a', 3));
    expect(draw(1, 'a', 2)).not.toEqual(draw(2, 'a', 2));
  });

  it('is spread evenly over the city', () => {
    const places = first(2_000).map((index) => placeFor(1, index));
    const north = places.filter((place) => place.latitude > (CITY.north + CITY.south) / 2).length;
    expect(north).toBeGreaterThan(900);
    expect(north).toBeLessThan(1_100);
    expect(places.every(({ longitude }) => longitude >= CITY.west && longitude <= CITY.east)).toBe(true);
  });
});
