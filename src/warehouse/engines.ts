// The engines by name; each validates its own settings.
import type { EngineKind } from './engine.ts';
import { postgres } from './engines/postgres/engine.ts';
import { sqlite } from './engines/sqlite/engine.ts';

export const engines = { postgres, sqlite } as const satisfies Record<string, EngineKind>;
