// What an agent must keep to before it is sent: by its tax number it is found again, so that must be right.
import type { JsonObject } from '../core/glossary.ts';
import { fieldReasons } from './field-rules.ts';
import { AGENT_FIELDS } from './fields.ts';

export const agentReasons = (data: JsonObject): string[] =>
  fieldReasons(data, { fields: AGENT_FIELDS, required: ['name', 'cpf'] });
