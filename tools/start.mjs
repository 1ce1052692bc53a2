// `npm start`: installs what is missing, builds, and serves the page in the foreground.
//
// `npm run dev`: the same from the sources of the page. What is saved shows at once: Svelte and
// TypeScript without a build, C++ after a build of the binaries.
//
// Only this machine can reach the page, unless HOST is set. PORT sets the port; if it is taken, the
// next free one is used.
import { watch } from 'node:fs';
import { join } from 'node:path';
import { buildPackage, buildWeb, root, setUp } from './build.mjs';
import { announced } from './durations.mjs';

const develops = process.argv[2] === '--dev';

const where = {
  port: Number(process.env.PORT ?? 8000),
  strictPort: false,
  host: process.env.HOST ?? '127.0.0.1',
};
const configFile = join(root, 'web/vite.config.ts');

async function servePage() {
  console.log('building the page');
  await buildWeb();
  const { preview } = await import('vite');
  return preview({ configFile, logLevel: 'error', preview: where });
}

async function serveSources() {
  const { createServer } = await import('vite');
  const server = await createServer({ configFile, server: where });
  await server.listen();
  rebuildOnChange(() => server.ws.send({ type: 'full-reload' }));
  return server;
}

/** Builds the package again after each change of C++, and then calls `done`. */
function rebuildOnChange(done) {
  let building;
  let again = false;
  const build = async () => {
    console.log('building the binaries');
    const start = performance.now();
    try {
      await buildPackage();
      console.log(`built in ${((performance.now() - start) / 1000).toFixed(1)} s`);
      done();
    } catch (error) {
      console.error(`${error.output ?? ''}\n${error.message}`);
    }
    building = again ? build() : undefined;
    again = false;
  };
  for (const folder of ['src', 'wasm'])
    watch(join(root, folder), { recursive: true }, (_, file) => {
      if (!/\.[ch]pp$/.test(file ?? '')) return;
      if (building) again = true;
      else building = build();
    });
}

try {
  console.log(`Preparing the page: ${announced('start')}; seconds later on.`);
  await setUp('build');
  console.log('building the package');
  await buildPackage();
  const server = await (develops ? serveSources() : servePage());
  console.log(`http://localhost:${server.httpServer.address().port}/`);
} catch (error) {
  console.error(`${error.output ?? ''}\n${error.message}`);
  process.exitCode = 1;
}
