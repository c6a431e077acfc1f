// As an attacker who writes into fields: SQL, formulas and paths are stored as texts and returned unchanged.
import { dirname, sep } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NASTY_TEXTS } from '../../support/fuzz/fuzzed-records.ts';
import { PICTURE_NAMES, sendNastyTexts, sendPictureNames } from '../../support/fuzz/nasty-fields.ts';
import { openFuzzPlace } from '../../support/fuzz/record-fuzz.ts';

it('dangerous texts in every field come back unchanged from SQL and exports, and none as a formula', async () => {
  const place = await openFuzzPlace('sqlite');
  try {
    const { fields, csvCells, parquetCells, ...found } = await sendNastyTexts(place);
    expect(found).toMatchObject({ wrong: [], csvWrong: [], parquetWrong: [], formulas: [], quarantined: 0 });
    expect(fields).toBeGreaterThan(70 * NASTY_TEXTS.length);
    expect(csvCells).toBeGreaterThan(fields);
    expect(parquetCells).toBe(csvCells);
  } finally {
    await place.close();
  }
});

describe('names of pictures', () => {
  it('are sent only to the service and are not part of any path', async () => {
    const place = await openFuzzPlace('sqlite');
    try {
      const above = dirname(place.rig.dependencies.images);
      const files = await sendPictureNames(place, above);
      const stored = new RegExp(`^images\\${sep}[0-9a-f]{2}\\${sep}[0-9a-f]{64}\\.gif$`);
      expect(files.filter((file) => !stored.test(file))).toEqual([]);
      const asked = place.service.asked().filter(({ path }) => path.startsWith('/checklist/picture/'));
      const names = asked.map(({ path }) => new URL(path, 'http://x').searchParams.getAll('picture'));
      const askable = PICTURE_NAMES.filter((name) => name.length <= 255 && !/[\0\ud800]/.test(name));
      expect(names.map(([name]) => name).sort()).toEqual([...askable].sort());
      expect(names.every((each) => each.length === 1)).toBe(true);
      expect(files).toHaveLength(askable.length);
    } finally {
      await place.close();
    }
  });
});
