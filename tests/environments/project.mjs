// A project in a scratch folder, like that of a user: its dependencies come from npm, and the
// package comes from its packed tarball. Installs are kept between runs.
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, dirname, extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
export const versions = JSON.parse(readFileSync(new URL('versions.json', import.meta.url), 'utf8'));

const limit = 180_000; // milliseconds per command
const modelFiles = ['config.json', 'manifest.json', 'model.safetensors', 'tokenizer.model'];

// Processes that may still run; all of them end with the tests.
const children = new Set();
function kill(child) {
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It and its children have ended.
  }
  children.delete(child);
}
process.on('exit', () => children.forEach(kill));
process.on('SIGINT', () => process.exit(130));
process.on('SIGTERM', () => process.exit(143));

function hashOf(value) {
  return createHash('sha256').update(value).digest('hex').slice(0, 12);
}

// Each checkout has its own scratch folder.
const scratch = join(tmpdir(), `glassformer-environments-${hashOf(root)}`);

// No tool sends telemetry or writes outside the scratch folder.
const environment = {
  ...process.env,
  ASTRO_TELEMETRY_DISABLED: '1',
  CI: '1',
  DO_NOT_TRACK: '1',
  NEXT_TELEMETRY_DISABLED: '1',
  NO_COLOR: '1',
  WRANGLER_SEND_METRICS: 'false',
  XDG_CONFIG_HOME: join(scratch, 'config'),
};

/** Packs the built package and its model. Returns the tarballs, named after their contents. */
export function pack() {
  mkdirSync(scratch, { recursive: true });
  const folders = [root, join(root, 'build/packages/sentiment')];
  const options = ['--json', '--ignore-scripts', '--pack-destination', scratch];
  const packed = JSON.parse(
    execFileSync('npm', ['pack', ...folders, ...options], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  );
  const old = readdirSync(scratch).filter((name) => /-[0-9a-f]{12}\.tgz$/.test(name));
  for (const name of old) rmSync(join(scratch, name));
  return packed.map(({ filename, integrity }) => {
    const tarball = join(scratch, filename.replace(/[\d.]+\.tgz$/, `${hashOf(integrity)}.tgz`));
    renameSync(join(scratch, filename), tarball);
    return tarball;
  });
}

/** An environment's requirement is not available here. */
export class Untried extends Error {}

export class Project {
  #servers = [];
  #started = [];
  #path = process.env.PATH;

  constructor(name) {
    this.dependencies = versions.projects[name];
    const key = hashOf(JSON.stringify([versions.until, this.dependencies]));
    this.folder = join(scratch, `${name}-${key}`);
  }

  /** Installs what is missing, and the tarballs. */
  async install(tarballs = []) {
    const stamp = join(this.folder, 'node_modules/.glassformer');
    mkdirSync(this.folder, { recursive: true });
    if (!existsSync(stamp)) {
      this.write({ 'package.json': { private: true, type: 'module' } });
      const wanted = Object.entries(this.dependencies).map(([name, at]) => `${name}@${at}`);
      try {
        if (wanted.length > 0) await this.#npm(`--before=${versions.until}`, ...wanted);
      } catch (error) {
        throw new Untried(error.message.match(/npm (?:error|ERR!) .+/)?.[0] ?? error.message);
      }
      this.write({ 'node_modules/.glassformer': '' });
    }
    const packed = tarballs.join('\n');
    if (packed && readFileSync(stamp, 'utf8') !== packed) {
      await this.#npm('--prefer-offline', ...tarballs);
      this.write({ 'node_modules/.glassformer': packed });
    }
  }

  #npm(...args) {
    const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    return this.run('npm', ['install', '--save-exact', ...quiet, ...args]);
  }

  /** Puts the programs of another project, such as its Node, first on PATH. */
  use(other) {
    const [name] = Object.keys(other.dependencies);
    const folder = join(other.folder, 'node_modules', name, 'bin');
    this.#path = folder + delimiter + this.#path;
  }

  /** Writes files by name: text, bytes, or an object as JSON. */
  write(files) {
    for (const [name, value] of Object.entries(files)) {
      const path = join(this.folder, name);
      mkdirSync(dirname(path), { recursive: true });
      const plain = typeof value === 'string' || ArrayBuffer.isView(value);
      writeFileSync(path, plain ? value : JSON.stringify(value, null, 2));
    }
  }

  /** Copies the sentiment model to a folder of the project. */
  addModel(folder) {
    mkdirSync(join(this.folder, folder), { recursive: true });
    for (const file of modelFiles) {
      const from = join(root, 'weights/sentiment', file);
      if (existsSync(from)) cpSync(from, join(this.folder, folder, file));
    }
  }

  copy(from, to) {
    cpSync(join(this.folder, from), join(this.folder, to), { recursive: true });
  }

  /** Runs a program to its end. Resolves to its output. */
  run(command, args, env) {
    const child = this.#spawn(command, args, env);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        kill(child);
        reject(new Error(`${command} took over ${limit / 1000} s\n${child.said}`));
      }, limit);
      child.on('error', reject);
      child.on('close', (status) => {
        clearTimeout(timer);
        if (status === 0) resolve(child.said);
        else reject(new Error(`${command} ${args.join(' ')}: exit ${status}\n${child.said}`));
      });
    });
  }

  /** Starts a server; `PORT` in the arguments is replaced by its port. Resolves to its URL. */
  async start(command, args, env) {
    const port = await freePort();
    const child = this.#spawn(
      command,
      args.map((arg) => arg.replace('PORT', port)),
      env,
    );
    const url = `http://127.0.0.1:${port}/`;
    for (const deadline = Date.now() + limit; ;) {
      if (await fetch(url).catch(() => undefined)) return url;
      if (child.exitCode !== null) throw new Error(`${command} ended\n${child.said}`);
      if (Date.now() > deadline) throw new Error(`${command} does not answer\n${child.said}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  #spawn(command, args, env) {
    const path = join(this.folder, 'node_modules/.bin') + delimiter + this.#path;
    // Starts a process group, so that all processes can be ended.
    const child = spawn(command, args, {
      cwd: this.folder,
      env: { ...environment, PATH: path, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    children.add(child);
    this.#started.push(child);
    child.said = '';
    child.stdout.on('data', (data) => (child.said += data));
    child.stderr.on('data', (data) => (child.said += data));
    return child;
  }

  /** Serves a folder of the project like a static host. Resolves to its URL. */
  async serve(folder = '.', headers = {}) {
    const top = join(this.folder, folder);
    const server = createServer((request, response) => {
      const { pathname } = new URL(request.url, 'http://localhost');
      const path = join(
        top,
        normalize(pathname.endsWith('/') ? `${pathname}index.html` : pathname),
      );
      const found = existsSync(path);
      response.writeHead(found ? 200 : 404, {
        ...headers,
        'content-type': found ? (types[extname(path)] ?? 'application/octet-stream') : 'text/plain',
      });
      response.end(found ? readFileSync(path) : 'not here');
    });
    this.#servers.push(server);
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${server.address().port}/`;
  }

  /** Ends all processes, and removes everything except the installed packages. */
  close({ keep }) {
    this.#started.forEach(kill);
    for (const server of this.#servers) {
      server.closeAllConnections();
      server.close();
    }
    if (keep || !existsSync(this.folder)) return;
    const caches = ['.cache', '.vite'].map((name) => join('node_modules', name));
    const written = readdirSync(this.folder).filter(
      (name) => !/^(node_modules|package(-lock)?\.json)$/.test(name),
    );
    for (const name of [...caches, ...written]) {
      rmSync(join(this.folder, name), { recursive: true, force: true });
    }
  }
}

const types = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
};

/** Returns a free port. */
export async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return String(port);
}
