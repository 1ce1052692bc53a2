// `npm start`: installs what is missing, builds, and serves the page in the foreground. Only this
// machine can reach it, unless HOST is set. PORT sets the port; if it is taken, the next free one
// is used.
import { join } from 'node:path';
import { buildPackage, buildWeb, root, setUp } from './build.mjs';

try {
  console.log(
    'Preparing the page. The first start downloads and builds what it needs, which takes',
  );
  console.log('two to five minutes; later ones take seconds.');
  await setUp('build');
  console.log('building the package');
  await buildPackage();
  console.log('building the page');
  await buildWeb();
  const { preview } = await import('vite');
  const server = await preview({
    configFile: join(root, 'web/vite.config.ts'),
    logLevel: 'error',
    preview: {
      port: Number(process.env.PORT ?? 8000),
      strictPort: false,
      host: process.env.HOST ?? '127.0.0.1',
    },
  });
  console.log(`http://localhost:${server.httpServer.address().port}/`);
} catch (error) {
  console.error(`${error.output ?? ''}\n${error.message}`);
  process.exitCode = 1;
}
