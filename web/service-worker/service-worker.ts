/**
 * Caches the build, except binaries that this browser does not run, and the models that the page has
 * loaded, for use without a network. With a network, the page and the models are fetched from the
 * server first, so that a new version shows at once. Files with a hash in their name never change and
 * come from the cache.
 */
interface Build {
  version: string;
  files: string[];
}
// The build writes this above the code: see web/build/precache.ts.
declare const build: Build;
const worker = self as unknown as ServiceWorkerGlobalScope;

// The page says in this script's address whether its browser runs the binaries with relaxed SIMD.
const relaxed = worker.location.search === '?relaxed';
const files = build.files.filter((file) => {
  const [, kinds] = /\/glassformer([.\w]*)-[-\w]+\.wasm$/.exec(file) ?? [];
  if (kinds === undefined) return true;
  const is = (kind: string) => kinds.split('.').includes(kind);
  return is('relaxed') === relaxed && (worker.crossOriginIsolated || !is('threads'));
});

// All pages of an origin share its caches, so the name contains this page's scope.
const family = `glassformer ${worker.registration.scope} `;
const cacheName = family + build.version;

worker.addEventListener('install', (event) => {
  event.waitUntil(
    caches
      .open(cacheName)
      .then(async (cache) => {
        await cache.addAll(['./', ...files]);
        // Models that an older version cached are fetched again, if they still exist.
        await keepAll(cache, await keptModels()).catch(() => undefined);
      })
      .then(() => worker.skipWaiting()),
  );
});

worker.addEventListener('activate', (event) => {
  event.waitUntil(
    caches
      .keys()
      .then((names) =>
        Promise.all(
          names
            .filter((name) => name.startsWith(family) && name !== cacheName)
            .map((name) => caches.delete(name)),
        ),
      )
      .then(() => worker.clients.claim()),
  );
});

/** A page sends the addresses to keep. */
worker.addEventListener('message', (event: ExtendableMessageEvent) => {
  const { keep } = event.data as { keep: string[] };
  event.waitUntil(caches.open(cacheName).then((cache) => keepAll(cache, keep)));
});

async function keptModels(): Promise<string[]> {
  const names = (await caches.keys()).filter((name) => name.startsWith(family));
  const requests = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()));
  return requests.flat().flatMap(({ url }) => (url.includes('/models/') ? [url] : []));
}

async function keepAll(cache: Cache, addresses: readonly string[]): Promise<void> {
  for (const address of addresses) if (!(await cache.match(address))) await cache.add(address);
}

worker.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== 'GET' || url.origin !== worker.location.origin) return;
  event.respondWith(url.pathname.includes('/assets/') ? cacheFirst(event) : networkFirst(request));
});

/** Returns a cached response. The page is cached under its folder's address for all its names. */
async function kept(request: Request): Promise<Response | undefined> {
  const cache = await caches.open(cacheName);
  return cache.match(request.mode === 'navigate' ? './' : request, {
    ignoreSearch: true,
    ignoreVary: true,
  });
}

/** Also caches what is not there yet, such as the other binaries, which the view Speed compares. */
async function cacheFirst(event: FetchEvent): Promise<Response> {
  const known = await kept(event.request);
  if (known) return known;
  const response = await fetch(event.request);
  if (response.status === 200) {
    const copy = response.clone();
    // Without enough space it stays uncached.
    const caching = caches.open(cacheName).then((cache) => cache.put(event.request, copy));
    event.waitUntil(caching.catch(() => undefined));
  }
  return response;
}

async function networkFirst(request: Request): Promise<Response> {
  try {
    return await fetch(request);
  } catch (error) {
    const response = await kept(request);
    if (response) return response;
    // If a model's weights are cached, all its files are: the server has no others.
    const weights = new Request(new URL('model.safetensors', request.url));
    if (await kept(weights)) return new Response(undefined, { status: 404 });
    throw error;
  }
}
