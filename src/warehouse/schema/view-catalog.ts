// All views: every declaration in views/, found by listing that folder.
import { declaredIn } from './catalog.ts';
import type { View } from './view.ts';

const isView = (value: object): value is View => 'kind' in value && value.kind === 'view';

export const views: readonly View[] = await declaredIn('../views/', isView);
