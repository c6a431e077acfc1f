// The engines by name; each validates its own settings.
import type { EngineKind } from './engine.ts';
import { sqlite } from './engines/sqlite.ts';

export const engines = { sqlite } as const satisfies Record<string, EngineKind>;
