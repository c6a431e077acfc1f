// Loaded into the real process by `node --import`: writes the packages it has loaded to LOADED_FILE when it ends, and
// `fetch` where node has loaded its own.
import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const loaded = new Set<string>();

registerHooks({
  load(url, context, next) {
    const name = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
    if (name !== undefined) loaded.add(name);
    return next(url, context);
  },
});

process.on('exit', () => {
  const { moduleLoadList } = process as unknown as { moduleLoadList: string[] };
  if (moduleLoadList.some((name) => name.endsWith('undici/undici'))) loaded.add('fetch');
  writeFileSync(process.env.LOADED_FILE ?? '', [...loaded].join('\n'));
});
